//! What is remembered: the state matrix of one layer and head.

use super::moments::Moments;
use crate::desk::{desk, frames};
use crate::figure::{Sign, difference, glance, largest, number};
use crate::session::{Frame, SessionStoreFields, Traced};
use crate::widgets::{Cell, Grid, HeatMap, Legend, Pixels};
use leptos::prelude::*;
use palimpsest_protocol::Look;
use std::sync::Arc;

/// One colour scale for all moments and tokens of a trace.
#[derive(Clone, Debug, PartialEq)]
struct Scaled {
    traced: Arc<Traced>,
    limit: f32,
}

/// The state panel.
#[component]
pub(crate) fn Memory() -> impl IntoView {
    let desk = desk();
    let view_part = desk.session.view();
    let scaled = Memo::new(move |_| {
        let traced = view_part.with(|view| view.traced.clone())?;
        let limit = largest(&traced.trace.states).max(largest(&traced.trace.reads));
        Some(Scaled { traced, limit })
    });
    let only_change = RwSignal::new(false);
    let cell: RwSignal<Cell> = RwSignal::new(None);
    let frame = Memo::new(move |_| {
        let all = view_part.with(frames);
        all[desk.frame.get().min(all.len() - 1)]
    });
    let grid = Memo::new(move |_| {
        scaled.with(|scaled| scaled.as_ref().map(|s| state(s, desk.token.get(), frame.get(), only_change.get())).unwrap_or_default())
    });
    let reads = Memo::new(move |_| scaled.with(|scaled| scaled.as_ref().map(|s| read(s, desk.token.get())).unwrap_or_default()));
    let limit = Signal::derive(move || scaled.with(|s| s.as_ref().map_or(1.0, |s| s.limit)));
    let words = Memo::new(move |_| grid.with(describe));
    let label = Signal::derive(move || {
        let look = desk.look.get();
        format!(
            "State S, layer {}, head {}, after {} of token {}. {}",
            look.layer + 1,
            look.head + 1,
            frame.get().word(),
            desk.token.get() + 1,
            words.get()
        )
    });
    let value = move || match cell.get().and_then(|(row, column)| grid.with(|g| g.at(row, column)).map(|v| (row, column, v))) {
        Some((row, column, value)) => format!("S[{row}, {column}] = {}", number(value.into())),
        None => "Point at a cell, or focus the matrix and use the arrows.".to_owned(),
    };
    let steps = Memo::new(move |_| desk.rule_steps());
    let read_here = move || frame.get() == Frame::Read;
    let when = move || {
        scaled.with(|s| {
            let traced = &s.as_ref()?.traced;
            let name = desk.session.runs().with(|runs| runs.get(traced.run).map(|run| format!("{}, ", run.name))).unwrap_or_default();
            Some(if traced.step == 0 { format!("{name}untrained") } else { format!("{name}after step {}", traced.step) })
        })
    };
    view! {
        <section class="memory" aria-label="Memory">
            <div class="panel-head">
                <h2>"State S"</h2>
                <Pickers />
                <span class="quiet">{when}</span>
                <span class="push"></span>
                <Moments />
            </div>
            <div class="memory-body">
                <figure class="matrix">
                    <p class="axis-name">"value channel →"</p>
                    <HeatMap grid cell label />
                    <div class="read-row" class:read-here=read_here>
                        <p class="axis-name">"read o = Sᵀ q, before normalisation"</p>
                        <div class="read-pixels"><Pixels grid=reads /></div>
                    </div>
                    <Legend limit />
                </figure>
                <div class="memory-words">
                    <p class="equation">{move || frame.get().equation()}</p>
                    <p>{move || steps.with(|steps| frame.get().about(steps))}</p>
                    <p class="num value" id="cell-value" aria-live="polite" data-testid="cell-value">{value}</p>
                    <p class="quiet" data-testid="state-words">{move || words.get()}</p>
                    <label class="check">
                        <input type="checkbox" prop:checked=move || only_change.get() on:change=move |e| only_change.set(event_target_checked(&e)) />
                        "Only what this moment changed"
                    </label>
                    <p class="quiet">"Rows are key channels, columns value channels. One colour scale for all tokens, moments and reads."</p>
                </div>
            </div>
        </section>
    }
}

/// Layer and head.
#[component]
fn Pickers() -> impl IntoView {
    let desk = desk();
    let sizes = Memo::new(move |_| {
        desk.session
            .runs()
            .with(|runs| runs.current().and_then(|run| run.facts.as_ref().map(|f| (f.scan_layers.clone(), f.heads))))
            .unwrap_or((vec![0], 1))
    });
    // In the table layers and heads count from 1.
    let picker = move |key: &'static str, all: Vec<u32>, now: fn(&Look) -> u32| {
        let options: Vec<_> = all
            .into_iter()
            .map(|index| view! { <option value=(index + 1).to_string() prop:selected=move || now(&desk.look.get()) == index>{index + 1}</option> })
            .collect();
        view! { <label class="pick">{key}<select on:change=move |event| desk.set(key, &event_target_value(&event))>{options}</select></label> }
    };
    move || {
        let (layers, heads) = sizes.get();
        (picker("layer", layers, |look| look.layer), picker("head", (0..heads).collect(), |look| look.head))
    }
}

fn state(scaled: &Scaled, token: usize, frame: Frame, only_change: bool) -> Grid {
    let trace = &scaled.traced.trace;
    // A window may not start at the first token; outside it the nearest state is shown.
    let token = token.saturating_sub(trace.first).min(trace.tokens.saturating_sub(1));
    let Some(now) = frame.state(trace, token) else { return Grid::default() };
    let values = if only_change { difference(now, frame.before(trace, token)) } else { now.to_vec() };
    Grid { values: Arc::new(values), columns: trace.value, limit: scaled.limit, sign: Sign::Both }
}

fn read(scaled: &Scaled, token: usize) -> Grid {
    let trace = &scaled.traced.trace;
    let token = token.saturating_sub(trace.first).min(trace.tokens.saturating_sub(1));
    let values = trace.reads.get(token * trace.value..(token + 1) * trace.value).unwrap_or_default().to_vec();
    Grid { values: Arc::new(values), columns: trace.value, limit: scaled.limit, sign: Sign::Both }
}

/// The matrix in words, for those who do not see it.
fn describe(grid: &Grid) -> String {
    match glance(&grid.values, grid.columns) {
        Some(seen) if seen.norm == 0.0 => format!("{} × {}, all zero: nothing changes here.", grid.rows(), grid.columns),
        Some(seen) => format!(
            "{} × {}, norm {}; strongest {} at [{}, {}].",
            grid.rows(),
            grid.columns,
            number(seen.norm.into()),
            number(seen.peak.into()),
            seen.cell.0,
            seen.cell.1
        ),
        None => "No state yet.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palimpsest_protocol::{RunId, Trace};

    fn scaled() -> Scaled {
        let trace = Trace {
            first: 10,
            tokens: 2,
            steps: 1,
            key: 1,
            value: 2,
            states: (0..12).map(|i| i as f32).collect(),
            reads: vec![1.0, 2.0, 3.0, 4.0],
        };
        let traced = Traced { run: RunId(0), step: 0, layer: 0, head: 0, trace, strips: Vec::new() };
        Scaled { traced: Arc::new(traced), limit: 20.0 }
    }

    #[test]
    fn the_state_of_the_window_is_shown() {
        assert_eq!(*state(&scaled(), 11, Frame::Read, false).values, vec![10.0, 11.0]);
        assert_eq!(*state(&scaled(), 0, Frame::Read, false).values, vec![4.0, 5.0]);
        assert_eq!(*state(&scaled(), 11, Frame::all(1)[1], true).values, vec![2.0, 2.0]);
        assert_eq!(*read(&scaled(), 99).values, vec![3.0, 4.0]);
    }

    #[test]
    fn a_matrix_has_words() {
        assert!(describe(&state(&scaled(), 10, Frame::Read, false)).starts_with("1 × 2, norm 6.40; strongest 5.00 at [0, 1]"));
        assert!(describe(&state(&scaled(), 10, Frame::Read, true)).contains("all zero"));
        assert_eq!(describe(&Grid::default()), "No state yet.");
    }
}
