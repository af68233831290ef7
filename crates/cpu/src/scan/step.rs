//! Reading packed steps, and writing their gradients, one (token, head) row at a time.

use crate::Real;
use palimpsest_plan::ScanShape;
use palimpsest_rules::{Kind, StepLayout, StepSlots};

/// Row of a (sequence, token, head) in a `[B, T, H, stride]` buffer.
pub(super) fn row_of<F>(data: &[F], shape: ScanShape, stride: usize, sequence: usize, token: usize) -> &[F] {
    &data[row_start(shape, sequence, token) * stride..][..stride]
}

/// Same, to write.
pub(super) fn row_of_mut<F>(data: &mut [F], shape: ScanShape, stride: usize, sequence: usize, token: usize) -> &mut [F] {
    &mut data[row_start(shape, sequence, token) * stride..][..stride]
}

/// `sequence` counts (batch, head) pairs.
fn row_start(shape: ScanShape, sequence: usize, token: usize) -> usize {
    let (batch, head) = (sequence / shape.heads, sequence % shape.heads);
    (batch * shape.time + token) * shape.heads + head
}

/// The parts of one step.
#[derive(Clone, Copy)]
pub(super) struct Step<'a, F> {
    /// `[K]`.
    pub(super) key: &'a [F],
    /// `[K]`.
    pub(super) erase: Option<&'a [F]>,
    /// `[V]`.
    pub(super) write: Option<&'a [F]>,
}

impl<'a, F: Real> Step<'a, F> {
    pub(super) fn read(slots: &StepSlots, row: &'a [F], shape: ScanShape) -> Self {
        Step {
            key: &row[slots.key..][..shape.key],
            erase: slots.erase.map(|at| &row[at..][..shape.key]),
            write: slots.write.map(|at| &row[at..][..shape.value]),
        }
    }

    /// The written value, or zeros.
    pub(super) fn value(&self, r: &mut [F]) {
        match self.write {
            Some(write) => r.copy_from_slice(write),
            None => r.fill(F::zero()),
        }
    }
}

/// The token's query `[K]`.
pub(super) fn query<'a, F>(layout: &StepLayout, row: &'a [F], shape: ScanShape) -> &'a [F] {
    &row[layout.query..][..shape.key]
}

/// `exp g` per key channel; false, and untouched, when the step has no decay.
pub(super) fn decay_factors<F: Real>(slots: &StepSlots, row: &[F], factors: &mut [F]) -> bool {
    match slots.decay {
        None => return false,
        Some((at, Kind::Scalar)) => factors.fill(row[at].exponential()),
        Some((at, _)) => factors.iter_mut().zip(&row[at..]).for_each(|(factor, &g)| *factor = g.exponential()),
    }
    true
}

/// Sets the gradient of the log-decay from its per-channel gradient `[K]`.
pub(super) fn set_decay_gradient<F: Real>(slots: &StepSlots, d_row: &mut [F], d_g: &[F]) {
    match slots.decay {
        None => {}
        // A scalar has a slot of four; the padding stays zero.
        Some((at, Kind::Scalar)) => {
            d_row[at..][..4].fill(F::zero());
            d_row[at] = d_g.iter().copied().sum();
        }
        Some((at, _)) => d_row[at..][..d_g.len()].copy_from_slice(d_g),
    }
}

/// Sets a vector's gradient where the step has that part.
pub(super) fn set_gradient<F: Real>(at: Option<usize>, d_row: &mut [F], gradient: &[F]) {
    if let Some(at) = at {
        d_row[at..][..gradient.len()].copy_from_slice(gradient);
    }
}
