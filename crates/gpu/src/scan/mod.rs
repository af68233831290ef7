//! Scans: packed steps over the state, forward and backward, and the trace of one head.
//!
//! Kernels know no rule. They read rows `[B, T, H, stride]` of steps whose slots a header names, so that a part that a rule
//! lacks costs nothing. [`recurrent`] goes token by token; [`chunked`] goes from chunk to chunk and does the rest in parallel.

mod chunked;
mod declare;
mod recurrent;
mod trace;

pub(crate) use trace::trace;

use crate::kernel::Recorder;
use palimpsest_plan::{Scan, ScanForm};

/// Workgroup memory that every adapter has, in bytes.
const WORKGROUP_BYTES: usize = 16_384;
/// Bytes of a `vec4<f32>`.
const VEC4: usize = 16;

/// Records `o` and the last state of a scan, and what its backward pass needs when there is one.
pub(crate) fn forward(op: &Scan, r: &mut impl Recorder) {
    match op.form {
        ScanForm::Recurrent => recurrent::forward(op, r),
        ScanForm::Chunked(tokens) => chunked::forward(op, tokens, r),
    }
}

/// Records the gradients of the steps and of the initial state. `adds` as in [`palimpsest_plan::BackwardOp`].
pub(crate) fn backward(op: &Scan, adds: &[bool], r: &mut impl Recorder) {
    match op.form {
        ScanForm::Recurrent => recurrent::backward(op, adds, r),
        ScanForm::Chunked(tokens) => chunked::backward(op, tokens, adds, r),
    }
}
