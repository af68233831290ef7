//! The page: provides what all panels share and lays them out.

use crate::desk::Desk;
use crate::panels::{
    AccuracyPanel, BenchPanel, Chart, Controls, Header, InTurn, KeyList, Memory, Notices, RunsTable, SelfCheck, Strips, Timeline, Transport,
};
use crate::session::{Runs, Session, SessionStoreFields, recall};
use crate::theme::Theme;
use crate::{address, keyboard};
use gloo::timers::callback::Timeout;
use leptos::prelude::*;
use palimpsest_spec::Settings;
use reactive_stores::Store;

/// How long the controls must rest before an untrained model is built again.
const REST_MS: u32 = 250;

/// The whole page.
#[component]
pub(crate) fn App() -> impl IntoView {
    let opening = address::read();
    let self_check = opening.self_check;
    let session = Store::new(Session { runs: Runs::recalled(recall()), ..Session::default() });
    let desk = Desk::new(session, opening.settings, opening.corrections);
    desk.bench_open.set(opening.bench);
    provide_context(desk);
    Theme::provide(desk.draft);
    desk.start(self_check);
    keyboard::listen(desk);
    follow_draft(desk, self_check);
    view! {
        <a class="skip" href="#memory">"Skip to the memory"</a>
        <Header />
        <main>
            <div class="first">
                <Notices />
                {self_check.then(|| view! { <SelfCheck /> })}
                <Show when=move || desk.bench_open.get()><BenchPanel /></Show>
            </div>
            <div class="page">
                <div class="column">
                    <Transport />
                    <Controls />
                </div>
                <div class="column" id="memory" tabindex="-1">
                    <Timeline />
                    <Memory />
                    <Strips />
                </div>
                <div class="column">
                    <AccuracyPanel />
                    <Chart />
                    <RunsTable />
                    <InTurn />
                </div>
            </div>
        </main>
        <KeyList />
    }
}

/// The address follows the controls at once; an untrained model follows when they rest. A trained one stays in view.
fn follow_draft(desk: Desk, self_check: bool) {
    let resting = StoredValue::new_local(None::<Timeout>);
    Effect::new(move || {
        desk.draft.with(|settings| address::write(settings, self_check, desk.bench_open.get()));
        let rebuild = move || {
            let untouched = untrack(|| desk.session.runs().with(|runs| runs.current().is_none_or(|run| run.untouched())));
            let dead = desk.session.worker_link().with_untracked(|link| link.dead.is_some());
            if (untouched || dead) && untrack(|| desk.changed()) && !desk.session.queue().with_untracked(|queue| queue.busy()) {
                desk.draft.with_untracked(|settings: &Settings| desk.open(settings));
            }
        };
        // Replacing the timer cancels the one before.
        resting.set_value(Some(Timeout::new(REST_MS, rebuild)));
    });
}
