//! Accuracy and loss of all runs over one axis of steps.

use super::chart_reading::Reading;
use crate::desk::desk;
use crate::figure::{Axis, bounds, count, path, thin, tick};
use crate::session::{Run, SessionStoreFields};
use crate::widgets::width_of;
use leptos::{ev, html::Div, prelude::*};

/// Room for the numbers left of the plots and right of them, in pixels.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 26.0;
/// Top and bottom of the two plots.
const ACCURACY: (f64, f64) = (26.0, 150.0);
const LOSS: (f64, f64) = (186.0, 300.0);
const HEIGHT: f64 = 346.0;
/// Most points of a drawn curve.
const POINTS: usize = 400;

/// Axes of the whole chart.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axes {
    steps: Axis,
    accuracy: Axis,
    loss: Axis,
    last: u32,
}

impl Axes {
    fn of(runs: &[Run], width: f64) -> Axes {
        let last = runs.iter().map(|run| run.facts.as_ref().map_or(run.step, |f| f.steps)).max().unwrap_or(1000).max(1);
        let losses = runs.iter().flat_map(|run| run.losses.iter().map(|p| p.1).chain(run.evaluations.iter().map(|e| e.loss.into())));
        let (low, high) = bounds(losses).unwrap_or((0.01, 5.0));
        Axes {
            steps: Axis::linear(0.0, last.into(), (LEFT, (width - RIGHT).max(LEFT + 50.0))),
            accuracy: Axis::linear(0.0, 1.0, (ACCURACY.1, ACCURACY.0)),
            loss: Axis::logarithmic(low, high * 1.1, (LOSS.1, LOSS.0)),
            last,
        }
    }
}

/// The chart of all shown runs.
#[component]
pub(crate) fn Chart() -> impl IntoView {
    let desk = desk();
    let runs = desk.session.runs();
    let node = NodeRef::<Div>::new();
    let width = width_of(node, 340.0);
    let shown = Memo::new(move |_| runs.with(|runs| runs.started().filter(|run| run.shown).cloned().collect::<Vec<_>>()));
    let axes = Memo::new(move |_| shown.with(|runs| Axes::of(runs, width.get())));
    let point = move |event: ev::PointerEvent| {
        if let Some(node) = node.get() {
            let x = f64::from(event.client_x()) - node.get_bounding_client_rect().left();
            desk.pointed.set(Some(axes.get_untracked().steps.number_at(x).round() as u32));
        }
    };
    let press = move |event: ev::KeyboardEvent| {
        let last = axes.get_untracked().last;
        let now = desk.pointed.get_untracked().unwrap_or(last);
        let stride = (last / 50).max(1);
        let next = match event.key().as_str() {
            "ArrowLeft" => Some(now.saturating_sub(stride)),
            "ArrowRight" => Some((now + stride).min(last)),
            "Home" => Some(0),
            "End" => Some(last),
            "Escape" => None,
            _ => return,
        };
        event.prevent_default();
        desk.pointed.set(next);
    };
    let curves = move || shown.with(|runs| runs.iter().map(|run| curve(run, axes.get())).collect::<Vec<_>>());
    let pointer = move || {
        desk.pointed.get().map(|step| {
            let x = axes.get().steps.place(step.into());
            view! { <line class="pointer" x1=x x2=x y1=ACCURACY.0 y2=LOSS.1></line> }
        })
    };
    let empty = move || shown.with(|runs| runs.is_empty().then_some("Curves appear with the first training steps."));
    view! {
        <section class="chart" aria-label="Curves">
            <h2>"Accuracy and loss"</h2>
            <div
                class="plot"
                node_ref=node
                tabindex="0"
                role="application"
                aria-roledescription="chart"
                aria-label="Held-out accuracy and training loss of all shown runs over training steps; arrows move the reading"
                aria-describedby="chart-reading"
                on:pointermove=point
                on:pointerdown=point
                on:pointerleave=move |event| if event.pointer_type() == "mouse" { desk.pointed.set(None) }
                on:keydown=press
            >
                <svg width="100%" height=HEIGHT aria-hidden="true" data-testid="curves">
                    {move || frame(axes.get())}
                    {curves}
                    {pointer}
                </svg>
            </div>
            <p class="quiet">{empty}</p>
            <Reading runs=shown />
        </section>
    }
}

fn curve(run: &Run, axes: Axes) -> impl IntoView + use<> {
    let accuracy = path(&run.accuracies(), axes.steps, axes.accuracy);
    let loss = path(&thin(&run.losses, POINTS), axes.steps, axes.loss);
    let band = band(run, axes);
    view! {
        <g class=run.mark.class()>
            <path class="band" d=band></path>
            <path class="line" d=accuracy></path>
            <path class="line" d=loss></path>
        </g>
    }
}

/// The 95 % interval of the accuracy as a closed path.
fn band(run: &Run, axes: Axes) -> String {
    let upper: Vec<(u32, f64)> = run.evaluations.iter().map(|e| (e.step, e.interval.1)).collect();
    let lower: Vec<(u32, f64)> = run.evaluations.iter().rev().map(|e| (e.step, e.interval.0)).collect();
    if upper.len() < 2 {
        return String::new();
    }
    format!("{}{}Z", path(&upper, axes.steps, axes.accuracy), path(&lower, axes.steps, axes.accuracy).replacen('M', "L", 1))
}

/// Grid, ticks and titles.
fn frame(axes: Axes) -> impl IntoView {
    let (left, right) = (axes.steps.place(0.0), axes.steps.place(axes.last.into()));
    let level = move |y: f64, text: String| {
        view! {
            <line class="grid" x1=left x2=right y1=y y2=y></line>
            <text class="tick" x=left - 6.0 y=y + 5.0 text-anchor="end">{text}</text>
        }
    };
    let accuracy: Vec<_> =
        [0.0, 0.25, 0.5, 0.75, 1.0].map(|a| level(axes.accuracy.place(a), format!("{:.0} %", a * 100.0))).into_iter().collect();
    let loss: Vec<_> = axes.loss.ticks(4).into_iter().map(|l| level(axes.loss.place(l), tick(l))).collect();
    let about = ((right - left) / 64.0).max(2.0) as usize;
    let steps: Vec<_> = axes
        .steps
        .ticks(about)
        .into_iter()
        .map(|s| view! { <text class="tick" x=axes.steps.place(s) y=LOSS.1 + 20.0 text-anchor="middle">{count(s as u64)}</text> })
        .collect();
    view! {
        <text class="axis-title" x=left y=ACCURACY.0 - 11.0>"held-out accuracy, with 95 % interval"</text>
        {accuracy}
        <text class="axis-title" x=left y=LOSS.0 - 11.0>"training loss, nats (logarithmic)"</text>
        {loss}
        {steps}
        <text class="axis-title" x=(left + right) / 2.0 y=HEIGHT - 6.0 text-anchor="middle">"training steps"</text>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests_support::{evaluation, run};

    #[test]
    fn axes_cover_every_run() {
        let mut long = run(40);
        long.losses = vec![(1, 4.0), (40, 0.5)];
        let axes = Axes::of(&[run(10), long], 400.0);
        assert_eq!(axes.last, 40);
        assert!(axes.loss.place(0.5) <= LOSS.1 && axes.loss.place(4.0) >= LOSS.0);
    }

    #[test]
    fn a_band_needs_two_evaluations_and_is_closed() {
        let mut seen = run(10);
        seen.evaluations = vec![evaluation(1, 0.5)];
        let axes = Axes::of(&[run(10)], 400.0);
        assert_eq!(band(&seen, axes), "");
        seen.evaluations.push(evaluation(10, 0.6));
        let path = band(&seen, axes);
        assert!(path.ends_with('Z') && path.matches('M').count() == 1);
    }
}
