//! The recurrent form: token by token, and back again from checkpoints.

use super::state::{add_read, decay, decay_and_measure, decay_gradient, edit, edit_and_read, edit_to, rows_dot};
use super::step::{Step, decay_factors, query, row_of, row_of_mut, set_decay_gradient, set_gradient};
use super::{Backward, Forward, Scratch, start};
use crate::{Real, reduce::dot};
use palimpsest_plan::ScanShape;
use palimpsest_rules::StepLayout;

/// Tokens between checkpoints: the states within one span are recomputed and held by the backward pass.
pub(crate) const SPAN: usize = 16;

/// Runs all tokens of all sequences. Sizes are the caller's to check.
pub(crate) fn forward<F: Real>(layout: &StepLayout, shape: ScanShape, mut io: Forward<F>, scratch: &mut Scratch<F>) {
    let ScanShape { batch, time, heads, key, value } = shape;
    let size = key * value;
    let spans = time.div_ceil(SPAN);
    let [state, r, factors] = scratch.parts([size, value, key]);
    for sequence in 0..batch * heads {
        start(io.initial, sequence, state);
        for t in 0..time {
            if let Some(checkpoints) = &mut io.checkpoints
                && t % SPAN == 0
            {
                checkpoints[(sequence * spans + t / SPAN) * size..][..size].copy_from_slice(state);
            }
            let row = row_of(io.steps, shape, layout.stride, sequence, t);
            let o = row_of_mut(io.o, shape, value, sequence, t);
            o.fill(F::zero());
            for (s, slots) in layout.steps.iter().enumerate() {
                let step = Step::read(slots, row, shape);
                decay_then_measure(state, value, decay_factors(slots, row, factors).then_some(&*factors), step, r);
                if s + 1 == layout.steps.len() {
                    edit_and_read(state, value, step.key, r, query(layout, row, shape), o);
                } else {
                    edit(state, value, step.key, F::one(), r);
                }
            }
        }
        if let Some(last) = &mut io.last {
            last[sequence * size..][..size].copy_from_slice(state);
        }
    }
}

/// `S' = Diag(exp g) S` in place, then `r = u - S'^T a`; what the step lacks is left out.
#[inline(always)]
fn decay_then_measure<F: Real>(state: &mut [F], value: usize, factors: Option<&[F]>, step: Step<F>, r: &mut [F]) {
    step.value(r);
    match (factors, step.erase) {
        (Some(factors), Some(erase)) => decay_and_measure(state, value, factors, erase, r),
        (Some(factors), None) => decay(state, value, factors),
        (None, Some(erase)) => add_read(state, value, erase, -F::one(), r),
        (None, None) => {}
    }
}

/// Gradients, with `S'` the state of a step after its decay and `dS` the gradient of the state after the step:
/// `dk = dS r`, `du = dr = dS^T k`, `da = -S' dr`, `dS' = dS - a dr^T`, `dg = rowsum(dS' * S')`, and for the step before `dS = Diag(exp g) dS'`.
pub(crate) fn backward<F: Real>(layout: &StepLayout, shape: ScanShape, mut io: Backward<F>, scratch: &mut Scratch<F>) {
    let ScanShape { batch, time, heads, key, value } = shape;
    let (size, count) = (key * value, layout.steps.len());
    let spans = time.div_ceil(SPAN);
    let held = SPAN * count;
    let [d_state, decayed, measured, factors, d_r, x, kept] =
        scratch.parts([size, held * size, held * value, held * key, value, key, 4 * key]);
    for sequence in 0..batch * heads {
        start(io.d_last, sequence, d_state);
        for span in (0..spans).rev() {
            let tokens = span * SPAN..time.min((span + 1) * SPAN);
            let last = tokens.len() * count - 1;
            decayed[..size].copy_from_slice(&io.checkpoints[(sequence * spans + span) * size..][..size]);
            // Forward again, keeping S', r and exp g of every step.
            for (i, t) in tokens.clone().enumerate() {
                let row = row_of(io.steps, shape, layout.stride, sequence, t);
                for (s, slots) in layout.steps.iter().enumerate() {
                    let at = i * count + s;
                    let step = Step::read(slots, row, shape);
                    let (r, factors) = (&mut measured[at * value..][..value], &mut factors[at * key..][..key]);
                    let (state, after) = decayed[at * size..].split_at_mut(size);
                    decay_then_measure(state, value, decay_factors(slots, row, factors).then_some(&*factors), step, r);
                    if at < last {
                        edit_to(state, &mut after[..size], value, step.key, r);
                    }
                }
            }
            for (i, t) in tokens.enumerate().rev() {
                let row = row_of(io.steps, shape, layout.stride, sequence, t);
                let d_row = row_of_mut(io.d_steps, shape, layout.stride, sequence, t);
                let d_o = row_of(io.d_o, shape, value, sequence, t);
                for (s, slots) in layout.steps.iter().enumerate().rev() {
                    let at = i * count + s;
                    let step = Step::read(slots, row, shape);
                    let (before, r) = (&decayed[at * size..][..size], &measured[at * value..][..value]);
                    d_r.fill(F::zero());
                    if s + 1 == count {
                        // dq = S do with S = S' + k r^T; then dS += q do^T
                        rows_dot(before, value, d_o, x, kept);
                        let r_d_o = dot(r, d_o);
                        x.iter_mut().zip(step.key).for_each(|(x, &k)| *x += k * r_d_o);
                        set_gradient(Some(layout.query), d_row, x);
                        edit_and_read(d_state, value, query(layout, row, shape), d_o, step.key, d_r);
                    } else {
                        add_read(d_state, value, step.key, F::one(), d_r);
                    }
                    set_gradient(slots.write, d_row, d_r);
                    rows_dot(d_state, value, r, x, kept);
                    set_gradient(Some(slots.key), d_row, x);
                    if let Some(erase) = step.erase {
                        rows_dot(before, value, d_r, x, kept);
                        x.iter_mut().for_each(|x| *x = -*x);
                        set_gradient(slots.erase, d_row, x);
                        edit(d_state, value, erase, -F::one(), d_r);
                    }
                    if slots.decay.is_some() {
                        decay_gradient(d_state, before, value, &factors[at * key..][..key], x, kept);
                        set_decay_gradient(slots, d_row, x);
                    }
                }
            }
        }
        if let Some(initial) = &mut io.d_initial {
            initial.put(sequence, d_state);
        }
    }
}
