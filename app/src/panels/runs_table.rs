//! All runs side by side.

use super::run_row::RunRow;
use crate::desk::desk;
use crate::session::{SessionStoreFields, by_rule};
use leptos::prelude::*;

/// The table of runs, and a summary by rule when a rule has several seeds.
#[component]
pub(crate) fn RunsTable() -> impl IntoView {
    let runs = desk().session.runs();
    let ids = Memo::new(move |_| runs.with(|runs| runs.started().map(|run| run.id).collect::<Vec<_>>()));
    let rules = Memo::new(move |_| runs.with(|runs| by_rule(runs.started())));
    let summary = move || {
        rules
            .get()
            .into_iter()
            .map(|line| view! { <li><strong>{line.rule}</strong> {format!(": {}", line.sentence)}</li> })
            .collect::<Vec<_>>()
    };
    view! {
        <section class="runs" aria-label="Runs">
            <h2>"Runs"</h2>
            <Show
                when=move || ids.with(|ids| !ids.is_empty())
                fallback=|| view! { <p class="quiet">"Every run stays here, to compare, hide, rename, delete or load again."</p> }
            >
                <div class="table-scroll" tabindex="0" role="region" aria-label="Table of runs">
                    <table data-testid="runs">
                        <thead>
                            <tr>
                                <th scope="col">"Run and rule"</th>
                                <th scope="col">"Steps to 99 %"</th>
                                <th scope="col">"Time"</th>
                                <th scope="col">"Accuracy"</th>
                            </tr>
                        </thead>
                        <tbody>
                            <For each=move || ids.get() key=|id| *id let:id><RunRow id /></For>
                        </tbody>
                    </table>
                </div>
            </Show>
            <Show when=move || rules.with(|rules| !rules.is_empty())>
                <ul class="by-rule">{summary}</ul>
                <p class="quiet">"Seeds often differ more than rules do: compare several before ranking."</p>
            </Show>
        </section>
    }
}
