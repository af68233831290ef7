//! Train these rules in turn: the same task, sizes and seeds over several rules.

use super::ticks::Ticks;
use crate::desk::desk;
use crate::session::SessionStoreFields;
use leptos::prelude::*;
use palimpsest_spec::{MOST_SEEDS, Settings};

/// Rules to tick, a number of seeds, a button. Both are settings, so that a link can carry a comparison.
#[component]
pub(crate) fn InTurn() -> impl IntoView {
    let desk = desk();
    let queue = desk.session.queue();
    let chosen = Memo::new(move |_| desk.draft.with(|draft| draft.rules_in_turn().len()));
    let seeds = Memo::new(move |_| desk.draft.with(Settings::seeds));
    let total = move || chosen.get() * seeds.get();
    let busy = Memo::new(move |_| queue.with(|queue| queue.place().is_some_and(|(_, total)| total > 1)));
    let start = move |_| desk.train_in_turn(desk.draft.with_untracked(|draft| draft.in_turn().iter().map(Settings::run_link).collect()));
    view! {
        <section class="in-turn" aria-label="Train rules in turn">
            <h2>"Train these rules in turn"</h2>
            <Ticks key_name="rules" legend="Rules" />
            <div class="buttons">
                <label class="pick">
                    "seeds each"
                    <input
                        type="number"
                        min="1"
                        max=MOST_SEEDS.to_string()
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
