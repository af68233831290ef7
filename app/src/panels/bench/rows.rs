//! The rows of the benchmark as a table.

use super::plot::{series_class, series_name};
use super::rule_name;
use crate::figure::{count, number, percent};
use leptos::prelude::*;
use palimpsest_protocol::{BenchRow, Timing};

/// All rows of the chosen pass. Pointing at one makes its curve stand out.
#[component]
pub(super) fn Rows(rows: Memo<Vec<BenchRow>>, pointed: RwSignal<Option<String>>) -> impl IntoView {
    let lines = move || rows.with(|rows| rows.iter().map(|row| line(row, pointed)).collect::<Vec<_>>());
    view! {
        <div class="table-scroll" tabindex="0" role="region" aria-label="Table of the benchmark">
            <table class="bench-rows" data-testid="bench-rows">
                <thead>
                    <tr>
                        <th scope="col">"Rule"</th>
                        <th scope="col">"Form"</th>
                        <th scope="col">"T"</th>
                        <th scope="col">"ms per pass (min–max)"</th>
                        <th scope="col">"ns per token"</th>
                        <th scope="col">"GB/s"</th>
                        <th scope="col">"of copy"</th>
                        <th scope="col">"GFLOP/s"</th>
                        <th scope="col">"of multiply-add"</th>
                        <th scope="col">"State, floats"</th>
                    </tr>
                </thead>
                <tbody>{lines}</tbody>
            </table>
        </div>
    }
}

fn line(row: &BenchRow, pointed: RwSignal<Option<String>>) -> impl IntoView + use<> {
    let (own, name) = (series_name(row), series_name(row));
    let here = move || pointed.with(|pointed| pointed.as_ref() == Some(&own));
    let form = row.case.chunk.map_or_else(|| row.case.form.clone(), |chunk| format!("{}, {chunk}", row.case.form));
    view! {
        <tr
            class:row-pointed=here
            on:pointerenter=move |_| pointed.set(Some(name.clone()))
            on:pointerleave=move |_| pointed.set(None)
        >
            <th scope="row">
                <svg class=format!("mark {}", series_class(row)) viewBox="0 0 30 10" aria-hidden="true"><path class="line" d="M1 5H29"></path></svg>
                {rule_name(&row.case.rule)}
            </th>
            <td>{form}</td>
            <td class="num">{count(row.case.time.into())}</td>
            <td class="num">{span(row.best())}</td>
            <td class="num">{number(row.nanoseconds_per_token)}</td>
            <td class="num">{number(row.bytes_per_second / 1e9)}</td>
            <td class="num">{share(row.copy_share)}</td>
            <td class="num">{number(row.flops_per_second / 1e9)}</td>
            <td class="num">{share(row.fma_share)}</td>
            <td class="num">{count(row.state)}</td>
        </tr>
    }
}

/// `0.271 (0.268–0.280)`.
fn span(timing: Timing) -> String {
    let [median, min, max] = [timing.median, timing.min, timing.max].map(|seconds| number(seconds * 1e3));
    format!("{median} ({min}–{max})")
}

/// A share that may be far below a percent.
fn share(share: f64) -> String {
    if share < 0.001 { format!("{} %", number(share * 100.0)) } else { percent(share) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shares_stay_visible() {
        assert_eq!((share(0.25), share(0.00012), share(1.5)), ("25.0 %".into(), "0.0120 %".into(), "150.0 %".into()));
        assert_eq!(span(Timing { median: 2e-3, min: 1e-3, max: 4e-3 }), "2.00 (1.00–4.00)");
    }
}
