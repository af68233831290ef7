//! Time over sequence length, both axes logarithmic: a curve per rule and form.

use super::rule_name;
use crate::figure::{Axis, COLOURS, Mark, bounds, count, number, path, tick};
use crate::widgets::width_of;
use leptos::{html::Div, prelude::*};
use palimpsest_protocol::BenchRow;
use palimpsest_rules::rules;

/// Room for numbers left and right of the plot, in pixels.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
/// Top and bottom of the plot.
const TOP: f64 = 26.0;
const BOTTOM: f64 = 300.0;
const HEIGHT: f64 = 346.0;

/// What is drawn upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Nanoseconds.
    PerToken,
    /// Milliseconds.
    PerPass,
}

impl Quantity {
    fn of(self, row: &BenchRow) -> f64 {
        match self {
            Quantity::PerToken => row.nanoseconds_per_token,
            Quantity::PerPass => row.best().median * 1e3,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Quantity::PerToken => "time per token, ns (logarithmic)",
            Quantity::PerPass => "time per pass, ms (logarithmic)",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Quantity::PerToken => "ns per token",
            Quantity::PerPass => "ms per pass",
        }
    }
}

/// Classes of a curve: colour by rule; dashes tell the form, and further rules that take a colour again.
pub(super) fn series_class(row: &BenchRow) -> String {
    let rule = rules().iter().position(|rule| rule.slug() == row.case.rule).unwrap_or(0);
    let dash = usize::from(row.case.chunk.is_some()) + 2 * (rule / COLOURS % 2);
    Mark { colour: rule, dash }.class()
}

/// Which curve a row belongs to: its rule and form.
pub(super) fn series_name(row: &BenchRow) -> String {
    format!("{}, {}", rule_name(&row.case.rule), row.case.form)
}

/// One curve: rows of a rule and form, by length.
#[derive(Clone, Debug, PartialEq)]
struct Series {
    class: String,
    name: String,
    points: Vec<(u32, f64)>,
}

fn series(rows: &[BenchRow], quantity: Quantity) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in rows {
        let name = series_name(row);
        let point = (row.case.time, quantity.of(row));
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => all.push(Series { class: series_class(row), name, points: vec![point] }),
        }
    }
    all.iter_mut().for_each(|series| series.points.sort_by_key(|point| point.0));
    all
}

/// The plot; its numbers are in the table below it. The curve that is pointed at, here or in the table, stands out.
#[component]
pub(super) fn Plot(rows: Memo<Vec<BenchRow>>, quantity: RwSignal<Quantity>, pointed: RwSignal<Option<String>>) -> impl IntoView {
    let node = NodeRef::<Div>::new();
    let width = width_of(node, 600.0);
    let drawn = move || rows.with(|rows| draw(&series(rows, quantity.get()), quantity.get(), width.get(), pointed));
    let name = move || pointed.get().unwrap_or_else(|| "Point at a curve or a row to tell it from the others.".to_owned());
    view! {
        <div class="bench-plot" node_ref=node>
            <svg width="100%" height=HEIGHT role="img" aria-label="Time over sequence length; the table below has the numbers" data-testid="bench-plot">
                {drawn}
            </svg>
            <p class="quiet" aria-hidden="true">{name}</p>
        </div>
    }
}

fn draw(all: &[Series], quantity: Quantity, width: f64, pointed: RwSignal<Option<String>>) -> impl IntoView + use<> {
    let mut lengths: Vec<u32> = all.iter().flat_map(|series| series.points.iter().map(|point| point.0)).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let (first, last) = (lengths.first().copied().unwrap_or(1), lengths.last().copied().unwrap_or(1));
    let (low, high) = bounds(all.iter().flat_map(|series| series.points.iter().map(|point| point.1))).unwrap_or((1.0, 10.0));
    let right = (width - RIGHT).max(LEFT + 50.0);
    let x = Axis::logarithmic(first.into(), last.into(), (LEFT + 8.0, right));
    let y = Axis::logarithmic(low / 1.2, high * 1.2, (BOTTOM, TOP));
    let levels: Vec<_> = y
        .ticks(4)
        .into_iter()
        .map(|level| {
            let at = y.place(level);
            view! {
                <line class="grid" x1=LEFT x2=right y1=at y2=at></line>
                <text class="tick" x=LEFT - 6.0 y=at + 5.0 text-anchor="end">{tick(level)}</text>
            }
        })
        .collect();
    let marks: Vec<_> = apart(&lengths, x)
        .into_iter()
        .map(|length| {
            view! { <text class="tick" x=x.place(length.into()) y=BOTTOM + 20.0 text-anchor="middle">{count(length.into())}</text> }
        })
        .collect();
    let curves: Vec<_> = all.iter().map(|series| curve(series, quantity, x, y, pointed)).collect();
    view! {
        <text class="axis-title" x=LEFT y=TOP - 11.0>{quantity.title()}</text>
        {levels} {marks}
        <text class="axis-title" x=(LEFT + right) / 2.0 y=HEIGHT - 6.0 text-anchor="middle">"tokens per sequence, T (logarithmic)"</text>
        {curves}
    }
}

fn curve(series: &Series, quantity: Quantity, x: Axis, y: Axis, pointed: RwSignal<Option<String>>) -> impl IntoView + use<> {
    let points: Vec<_> = series
        .points
        .iter()
        .map(|&(length, value)| {
            let words = format!("{}, T {}: {} {}", series.name, count(length.into()), number(value), quantity.unit());
            view! { <circle class="point" cx=x.place(length.into()) cy=y.place(value) r="3.5"><title>{words}</title></circle> }
        })
        .collect();
    let (own, name) = (series.name.clone(), series.name.clone());
    let dim = move || pointed.with(|pointed| pointed.as_ref().is_some_and(|pointed| *pointed != own));
    let line = path(&series.points, x, y);
    view! {
        <g
            class=series.class.clone()
            class:curve-dim=dim
            on:pointerenter=move |_| pointed.set(Some(name.clone()))
            on:pointerleave=move |_| pointed.set(None)
        >
            <path class="line" d=line.clone()></path>
            <path class="near" d=line></path>
            {points}
        </g>
    }
}

/// Lengths whose numbers do not touch each other.
fn apart(lengths: &[u32], x: Axis) -> Vec<u32> {
    let mut kept: Vec<u32> = Vec::new();
    for &length in lengths {
        if kept.last().is_none_or(|&before| x.place(length.into()) - x.place(before.into()) > 60.0) {
            kept.push(length);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::bench_support::row;
    use palimpsest_protocol::Pass;
    use std::collections::HashSet;

    #[test]
    fn rows_become_curves_by_rule_and_form() {
        let rule = rules()[0].slug();
        let rows = [256, 64].map(|time| row(rule, "recurrent", time, Pass::Forward));
        let all = series(&rows, Quantity::PerPass);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].points, vec![(64, 2.0), (256, 2.0)]);
        assert!(series(&rows, Quantity::PerToken)[0].points[0].1 > series(&rows, Quantity::PerToken)[0].points[1].1);
    }

    #[test]
    fn no_two_curves_look_alike() {
        let mut classes = HashSet::new();
        for rule in rules() {
            for chunk in [None, Some(16)] {
                let mut row = row(rule.slug(), "any", 64, Pass::Forward);
                row.case.chunk = chunk;
                assert!(classes.insert(series_class(&row)), "{} {chunk:?}", rule.slug());
            }
        }
    }

    #[test]
    fn numbers_that_would_touch_are_left_out() {
        let x = Axis::logarithmic(64.0, 1024.0, (0.0, 200.0));
        assert_eq!(apart(&[64, 128, 256, 512, 1024], x), vec![64, 256, 1024]);
    }
}
