//! The recurrent form for one sequence and head, keeping every state on its way.

use super::state::{add_read, decay, edit};
use super::step::{Step, decay_factors, query, row_of};
use super::{Scratch, start};
use crate::Real;
use palimpsest_plan::{ScanShape, Trace};
use palimpsest_rules::StepLayout;
use std::ops::Range;

/// States after decay, erase and write of every step, and reads, of the tokens in `window` (cut at T).
///
/// `sequence` is `b * H + h`. Erase: `S' - k (S'^T a)^T`; write: `S' + k (u - S'^T a)^T`.
pub(crate) fn trace<F: Real>(
    layout: &StepLayout,
    shape: ScanShape,
    steps: &[F],
    initial: Option<&[F]>,
    sequence: usize,
    window: Range<usize>,
    scratch: &mut Scratch<F>,
) -> Trace {
    let ScanShape { time, key, value, .. } = shape;
    let window = window.start.min(time)..window.end.min(time);
    let tokens = window.len();
    let mut states: Vec<f32> = Vec::with_capacity(tokens * layout.steps.len() * 3 * key * value);
    let mut reads: Vec<f32> = Vec::with_capacity(tokens * value);
    let [state, r, factors] = scratch.parts([key * value, value, key]);
    start(initial, sequence, state);
    for t in 0..window.end {
        let mut keep = |state: &[F]| {
            if window.contains(&t) {
                states.extend(state.iter().map(|s| s.single()));
            }
        };
        let row = row_of(steps, shape, layout.stride, sequence, t);
        for slots in &layout.steps {
            let step = Step::read(slots, row, shape);
            if decay_factors(slots, row, factors) {
                decay(state, value, factors);
            }
            keep(state);
            r.fill(F::zero());
            if let Some(erase) = step.erase {
                add_read(state, value, erase, -F::one(), r);
            }
            edit(state, value, step.key, F::one(), r);
            keep(state);
            if let Some(write) = step.write {
                edit(state, value, step.key, F::one(), write);
            }
            keep(state);
        }
        if window.contains(&t) {
            r.fill(F::zero());
            add_read(state, value, query(layout, row, shape), F::one(), r);
            reads.extend(r.iter().map(|x| x.single()));
        }
    }
    Trace { first: window.start, tokens, steps: layout.steps.len(), key, value, states, reads }
}
