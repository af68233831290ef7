//! `?selfcheck`: does this device compute right? Every rule in every form against numbers worked out in 64 bits.

use crate::desk::desk;
use crate::session::SessionStoreFields;
use leptos::prelude::*;
use palimpsest_protocol::CheckRow;

/// The table of the self-check.
#[component]
pub(crate) fn SelfCheck() -> impl IntoView {
    let desk = desk();
    let check = desk.session.check();
    let rows = move || check.with(|check| check.rows.iter().flat_map(lines).collect::<Vec<_>>());
    let closing =
        move || check.with(|check| check.verdict().unwrap_or_else(|| format!("Checking: {} files and forms so far.", check.rows.len())));
    view! {
        <section class="self-check" aria-label="Self-check">
            <div class="panel-head">
                <h2>"Self-check"</h2>
                <span class="push"></span>
                <button class="plain" on:click=move |_| desk.check()>"Check again"</button>
            </div>
            <p>"Outputs and gradients of this device beside float64 references: error is ‖x − reference‖ / ‖reference‖."</p>
            <p class="verdict" role="status" data-testid="verdict">{closing}</p>
            <div class="table-scroll" tabindex="0" role="region" aria-label="Errors">
                <table data-testid="selfcheck">
                    <thead>
                        <tr>
                            <th scope="col">"Rule"</th><th scope="col">"Regime"</th><th scope="col">"Form"</th><th scope="col">"Array"</th>
                            <th scope="col">"Error"</th><th scope="col">"Tolerance"</th><th scope="col">"Result"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

fn lines(row: &CheckRow) -> Vec<impl IntoView + use<>> {
    let name = palimpsest_rules::find(&row.rule).map_or_else(|| row.rule.clone(), |rule| rule.name().to_owned());
    let line = |(array, error, tolerance): &(String, f64, f64)| {
        // Not `error > tolerance`: an error that is no number has failed.
        let passed = error <= tolerance;
        view! {
            <tr class:failed=!passed>
                <td>{name.clone()}</td><td>{row.regime.clone()}</td><td>{row.form.clone()}</td><td class="num">{array.clone()}</td>
                <td class="num">{format!("{error:.1e}")}</td><td class="num">{format!("{tolerance:.0e}")}</td>
                <td>{if passed { "passed" } else { "failed" }}</td>
            </tr>
        }
    };
    row.errors.iter().map(line).collect()
}
