//! RMS norm of rows.

use super::shape::{Rows, rows_source};
use crate::kernel::{Access::Read, Access::ReadWrite, Output, Recorder, Region};
use palimpsest_plan::{NORM_EPSILON, RmsNorm};

fn rows(op: &RmsNorm, r: &impl Recorder) -> Rows {
    let width = r.plan().tensor(op.weight).len();
    Rows::new(r.plan().tensor(op.x).len() / width, width)
}

pub(crate) fn forward(op: &RmsNorm, r: &mut impl Recorder) {
    let rows = rows(op, r);
    let header = rows.header().float("EPSILON", NORM_EPSILON);
    let source = rows_source(header, &[include_str!("../../../../shaders/kernels/rms_norm.wgsl")]);
    let bindings = vec![(Region::Tensor(op.x), Read), (Region::Tensor(op.weight), Read), (Region::Tensor(op.y), ReadWrite)];
    rows.dispatch(r, "rms_norm.forward", source, bindings);
}

pub(crate) fn backward(op: &RmsNorm, adds: &[bool], r: &mut impl Recorder) {
    let rows = rows(op, r);
    let width = r.plan().tensor(op.weight).len();
    let partial = r.partial(rows.chunks() * width);
    let header = rows.chunk_header().float("EPSILON", NORM_EPSILON).flag("ADD", adds[0]);
    let source = rows_source(header, &[include_str!("../../../../shaders/kernels/rms_norm_backward.wgsl")]);
    let bindings = vec![
        (Region::Tensor(op.x), Read),
        (Region::Tensor(op.weight), Read),
        (Region::Gradient(op.y), Read),
        (Region::Gradient(op.x), ReadWrite),
        (partial, ReadWrite),
    ];
    let weight = Output::columns(Region::Gradient(op.weight), 0, width, adds[1]);
    rows.dispatch_chunks(r, "rms_norm.backward", source, bindings, partial, weight);
}
