//! Train these rules in turn: the same task, sizes and seeds over several rules.

use crate::desk::desk;
use crate::session::SessionStoreFields;
use leptos::prelude::*;
use palimpsest_spec::Settings;

/// Rules to tick, a number of seeds, a button. Both are settings, so that a link can carry a comparison.
#[component]
pub(crate) fn InTurn() -> impl IntoView {
    let desk = desk();
    let queue = desk.session.queue();
    let chosen = Memo::new(move |_| desk.draft.with(|draft| draft.rules_in_turn().iter().map(|rule| rule.slug()).collect::<Vec<_>>()));
    let seeds = Memo::new(move |_| desk.draft.with(Settings::seeds));
    let total = move || chosen.with(Vec::len) * seeds.get();
    let busy = Memo::new(move |_| queue.with(|queue| queue.place().is_some_and(|(_, total)| total > 1)));
    let boxes: Vec<_> = palimpsest_rules::rules()
        .iter()
        .map(|rule| {
            let slug = rule.slug();
            let ticked = move || chosen.with(|chosen| chosen.contains(&slug));
            let toggle = move |event| {
                let on = event_target_checked(&event);
                let kept = |other: &str| if other == slug { on } else { chosen.with_untracked(|chosen| chosen.contains(&other)) };
                let all: Vec<&str> = palimpsest_rules::rules().iter().map(|rule| rule.slug()).filter(|slug| kept(slug)).collect();
                desk.set("rules", &all.join(","));
            };
            view! {
                <label class="check" title=rule.about()>
                    <input type="checkbox" value=slug prop:checked=ticked on:change=toggle />
                    {rule.name()}
                </label>
            }
        })
        .collect();
    let start = move |_| desk.train_in_turn(desk.draft.with_untracked(|draft| draft.in_turn().iter().map(Settings::run_link).collect()));
    view! {
        <section class="in-turn" aria-label="Train rules in turn">
            <h2>"Train these rules in turn"</h2>
            <fieldset class="choices"><legend class="unseen">"Rules"</legend>{boxes}</fieldset>
            <div class="buttons">
                <label class="pick">
                    "seeds each"
                    <input
                        type="number"
                        min="1"
                        max="16"
                        prop:value=move || seeds.get().to_string()
                        on:change=move |event| desk.set("seeds", &event_target_value(&event))
                    />
                </label>
                <button class="plain" disabled=move || total() == 0 on:click=start data-testid="in-turn">
                    {move || match total() {
                        0 => "Choose rules".to_owned(),
                        1 => "Train 1 run".to_owned(),
                        runs => format!("Train {runs} runs"),
                    }}
                </button>
                <Show when=move || busy.get()><button class="plain" on:click=move |_| desk.stop_queue()>"Stop the rest"</button></Show>
            </div>
            <p class="quiet">"Same task, sizes, data and first seed as in the controls."</p>
        </section>
    }
}
