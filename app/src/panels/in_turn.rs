//! Train these rules in turn: the same task, sizes and seeds over several rules.

use crate::desk::desk;
use crate::session::SessionStoreFields;
use leptos::prelude::*;
use std::collections::BTreeSet;

/// Most seeds of one press.
const SEEDS: u32 = 8;

/// Rules to tick, a number of seeds, a button.
#[component]
pub(crate) fn InTurn() -> impl IntoView {
    let desk = desk();
    let queue = desk.session.queue();
    let chosen = RwSignal::new(BTreeSet::<&'static str>::new());
    let seeds = RwSignal::new(1u32);
    let total = move || chosen.with(BTreeSet::len) as u32 * seeds.get();
    let busy = Memo::new(move |_| queue.with(|queue| queue.place().is_some_and(|(_, total)| total > 1)));
    let boxes: Vec<_> = palimpsest_rules::rules()
        .iter()
        .map(|rule| {
            let slug = rule.slug();
            let toggle = move |event| {
                let on = event_target_checked(&event);
                chosen.update(|chosen| {
                    if on {
                        chosen.insert(slug)
                    } else {
                        chosen.remove(slug)
                    };
                });
            };
            view! { <label class="check" title=rule.about()><input type="checkbox" value=slug on:change=toggle />{rule.name()}</label> }
        })
        .collect();
    let start = move |_| {
        let order = palimpsest_rules::rules().iter().map(|rule| rule.slug()).filter(|slug| chosen.with_untracked(|c| c.contains(slug)));
        let links = desk.draft.with_untracked(|draft| {
            let mut links = Vec::new();
            for slug in order {
                let mut settings = draft.with_rule(slug);
                for _ in 0..seeds.get_untracked() {
                    links.push(settings.to_link());
                    settings.next_seed();
                }
            }
            links
        });
        desk.train_in_turn(links);
    };
    let set_seeds = move |event| {
        if let Ok(number) = event_target_value(&event).parse::<u32>() {
            seeds.set(number.clamp(1, SEEDS));
        }
    };
    view! {
        <section class="in-turn" aria-label="Train rules in turn">
            <h2>"Train these rules in turn"</h2>
            <fieldset class="choices"><legend class="unseen">"Rules"</legend>{boxes}</fieldset>
            <div class="buttons">
                <label class="pick">
                    "seeds each" <input type="number" min="1" max=SEEDS prop:value=move || seeds.get().to_string() on:change=set_seeds />
                </label>
                <button class="plain" disabled=move || total() == 0 on:click=start data-testid="in-turn">
                    {move || if total() == 1 { "Train 1 run".to_owned() } else { format!("Train {} runs", total()) }}
                </button>
                <Show when=move || busy.get()><button class="plain" on:click=move |_| desk.stop_queue()>"Stop after this step"</button></Show>
            </div>
            <p class="quiet">"Same task, sizes, data and first seed as in the controls."</p>
        </section>
    }
}
