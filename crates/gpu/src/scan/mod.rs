//! Scans: packed steps over the state, forward and backward, and the trace of one head.
//!
//! Kernels know no rule. They read rows `[B, T, H, stride]` of steps whose slots a header names, so that a part that a rule
//! lacks costs nothing. [`recurrent`] goes token by token; [`chunked`] goes from chunk to chunk and does the rest in parallel;
//! [`transfer`] does so with chunks that are too long to be solved as one system.

mod blocks;
mod chunked;
mod columns;
mod declare;
mod recurrent;
mod trace;
mod transfer;

pub(crate) use trace::trace;

use crate::kernel::Recorder;
use columns::Chunks;
use palimpsest_plan::{Scan, ScanForm};

/// Workgroup memory that every adapter has, in bytes.
const WORKGROUP_BYTES: usize = 16_384;
/// Longest chunk that is solved as one system; longer ones are gone through token by token, and [`transfer`] joins them.
const LONGEST_SOLVED: usize = 32;
/// Bytes of a `vec4<f32>`.
const VEC4: usize = 16;

/// Records `o` and the last state of a scan, and what its backward pass needs when there is one.
pub(crate) fn forward(op: &Scan, r: &mut impl Recorder) {
    match op.form {
        ScanForm::Recurrent => recurrent::forward(op, Chunks::whole(op), r),
        ScanForm::Chunked(tokens) if tokens > LONGEST_SOLVED => recurrent::forward(op, Chunks::of(op, tokens), r),
        ScanForm::Chunked(tokens) => chunked::forward(op, tokens, r),
    }
}

/// Records the gradients of the steps and of the initial state. `adds` as in [`palimpsest_plan::BackwardOp`].
pub(crate) fn backward(op: &Scan, adds: &[bool], r: &mut impl Recorder) {
    match op.form {
        ScanForm::Recurrent => recurrent::backward(op, Chunks::whole(op), adds, r),
        ScanForm::Chunked(tokens) if tokens > LONGEST_SOLVED => recurrent::backward(op, Chunks::of(op, tokens), adds, r),
        ScanForm::Chunked(tokens) => chunked::backward(op, tokens, adds, r),
    }
}
