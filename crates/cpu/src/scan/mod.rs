//! Scans: packed steps run over the state `S` `[K, V]` of every sequence and head.
//!
//! Per token, for each step `(g, k, a, u)`: `S' = Diag(exp g) S`, `r = u - S'^T a`, `S = S' + k r^T`; after the last step `o = S^T q`.
//! Absent parts cost nothing: without `g` the state keeps, without `a` nothing is measured, without `u` zero is written.
//! A scan knows no rule; it reads rows of packed steps at the places that [`StepLayout`] names.

mod chunk;
pub(crate) mod chunked;
mod product;
pub(crate) mod recurrent;
mod state;
mod step;
pub(crate) mod trace;

pub use chunked::LONGEST as LONGEST_CHUNK;

#[cfg(test)]
mod tests;

use crate::Real;
use palimpsest_plan::{Scan, ScanForm};

/// Working memory that scans share. It grows at the first call and is reused after that.
#[derive(Default)]
pub(crate) struct Scratch<F> {
    floats: Vec<F>,
}

impl<F: Real> Scratch<F> {
    /// Disjoint slices of these lengths; their contents are whatever was left there.
    fn parts<const N: usize>(&mut self, lens: [usize; N]) -> [&mut [F]; N] {
        let total = lens.iter().sum();
        if self.floats.len() < total {
            self.floats.resize(total, F::zero());
        }
        let mut rest = self.floats.as_mut_slice();
        lens.map(|len| {
            let (part, others) = std::mem::take(&mut rest).split_at_mut(len);
            rest = others;
            part
        })
    }
}

/// Where a scan reads its operands and leaves its results.
pub(crate) struct Forward<'a, F> {
    /// `[B, T, H, step stride]`.
    pub(crate) steps: &'a [F],
    /// `[B, H, K, V]`; zeros when absent.
    pub(crate) initial: Option<&'a [F]>,
    /// `[B, T, H, V]`, set.
    pub(crate) o: &'a mut [F],
    /// `[B, H, K, V]`, set to the state after the last token.
    pub(crate) last: Option<&'a mut [F]>,
    /// `[B, H, spans, K, V]`, set to the state before each span of tokens, for the backward pass; see [`checkpoint_len`].
    pub(crate) checkpoints: Option<&'a mut [F]>,
}

/// Where a scan's gradients come from and go to.
pub(crate) struct Backward<'a, F> {
    /// `[B, T, H, step stride]`, as in the forward pass.
    pub(crate) steps: &'a [F],
    /// As the forward pass left them.
    pub(crate) checkpoints: &'a [F],
    /// `[B, T, H, V]`.
    pub(crate) d_o: &'a [F],
    /// `[B, H, K, V]`; zeros when absent.
    pub(crate) d_last: Option<&'a [F]>,
    /// `[B, T, H, step stride]`; every used slot is set.
    pub(crate) d_steps: &'a mut [F],
    /// `[B, H, K, V]`, set.
    pub(crate) d_initial: Option<Initial<'a, F>>,
}

/// The gradient of the initial state.
pub(crate) struct Initial<'a, F> {
    /// `[B, H, K, V]`.
    pub(crate) data: &'a mut [F],
    /// Whether it is added to rather than set.
    pub(crate) adds: bool,
}

impl<F: Real> Initial<'_, F> {
    fn put(&mut self, sequence: usize, d_state: &[F]) {
        let target = &mut self.data[sequence * d_state.len()..][..d_state.len()];
        if self.adds {
            target.iter_mut().zip(d_state).for_each(|(target, &x)| *target += x);
        } else {
            target.copy_from_slice(d_state);
        }
    }
}

/// Floats that `checkpoints` needs: one state per sequence, head and span of [`span`] tokens.
pub(crate) fn checkpoint_len(op: &Scan) -> usize {
    let shape = op.shape;
    shape.batch * shape.heads * shape.time.div_ceil(span(op)) * shape.key * shape.value
}

/// Tokens between two checkpoints.
fn span(op: &Scan) -> usize {
    match op.form {
        ScanForm::Recurrent => recurrent::SPAN,
        ScanForm::Chunked(tokens) => tokens.clamp(1, LONGEST_CHUNK.min(op.shape.time.max(1))),
    }
}

/// Runs the scan in the form that the plan asks for.
pub(crate) fn forward<F: Real>(op: &Scan, io: Forward<F>, scratch: &mut Scratch<F>) {
    match op.form {
        ScanForm::Recurrent => recurrent::forward(&op.layout, op.shape, io, scratch),
        ScanForm::Chunked(_) => chunked::forward(&op.layout, op.shape, span(op), io, scratch),
    }
}

/// Gradients of [`forward`], from the checkpoints it left.
pub(crate) fn backward<F: Real>(op: &Scan, io: Backward<F>, scratch: &mut Scratch<F>) {
    match op.form {
        ScanForm::Recurrent => recurrent::backward(&op.layout, op.shape, io, scratch),
        ScanForm::Chunked(_) => chunked::backward(&op.layout, op.shape, span(op), io, scratch),
    }
}

/// State of a sequence and head before the first token.
fn start<F: Real>(initial: Option<&[F]>, sequence: usize, state: &mut [F]) {
    match initial {
        Some(initial) => state.copy_from_slice(&initial[sequence * state.len()..][..state.len()]),
        None => state.fill(F::zero()),
    }
}
