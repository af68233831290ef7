//! The values of all runs at the step under the pointer: legend and text equivalent of the chart.

use crate::desk::desk;
use crate::figure::{Mark, count, number, percent, value_at};
use crate::session::Run;
use leptos::prelude::*;

/// One line per run; at the last step when nothing is pointed at.
#[component]
pub(crate) fn Reading(runs: Memo<Vec<Run>>) -> impl IntoView {
    let pointed = desk().pointed;
    let head = move || match pointed.get() {
        Some(step) => format!("At step {}", count(step.into())),
        None => "At its last step".to_owned(),
    };
    let lines = move || runs.with(|runs| runs.iter().map(|run| line(run, pointed.get())).collect::<Vec<_>>());
    let key = move || (runs.with(Vec::len) > 1).then_some("Colour tells the rule; dashes tell seeds, and runs of one rule.");
    view! {
        <table class="reading num" id="chart-reading" data-testid="reading" hidden=move || runs.with(Vec::is_empty)>
            <thead>
                <tr><th scope="col">{head}</th><th scope="col">"accuracy"</th><th scope="col">"training loss"</th></tr>
            </thead>
            <tbody>{lines}</tbody>
        </table>
        <p class="quiet">{key}</p>
    }
}

fn line(run: &Run, step: Option<u32>) -> impl IntoView + use<> {
    let (accuracy, loss) = values(run, step.unwrap_or(u32::MAX));
    view! {
        <tr>
            <th scope="row"><RunMark mark=run.mark /> {run.name.clone()}</th>
            <td>{accuracy}</td>
            <td>{loss}</td>
        </tr>
    }
}

/// A run's colour and dash as a short stroke.
#[component]
pub(crate) fn RunMark(mark: Mark) -> impl IntoView {
    view! { <svg class=format!("mark {}", mark.class()) viewBox="0 0 30 10" aria-hidden="true"><path class="line" d="M1 5H29"></path></svg> }
}

/// Accuracy and loss last known at a step.
fn values(run: &Run, step: u32) -> (String, String) {
    let show =
        |points: &[(u32, f64)], text: fn(f64) -> String| value_at(points, step).map_or_else(|| "–".to_owned(), |point| text(point.1));
    (show(&run.accuracies(), percent), show(&run.losses, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests_support::{evaluation, run};

    #[test]
    fn a_reading_is_what_was_known_then() {
        let mut seen = run(40);
        seen.losses = vec![(1, 4.0), (40, 0.5)];
        seen.evaluations = vec![evaluation(20, 0.9)];
        assert_eq!(values(&seen, 10), ("–".to_owned(), "4.00".to_owned()));
        assert_eq!(values(&seen, u32::MAX), ("90.0 %".to_owned(), "0.500".to_owned()));
    }
}
