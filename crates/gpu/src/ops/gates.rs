//! Sigmoid gates, from a projection into packed rule inputs.

use super::column_sum::column_sum;
use super::shape::{Columns, place};
use super::text;
use crate::kernel::{Access::Read, Access::ReadWrite, Header, Output, Recorder, Region};
use palimpsest_plan::Gates;

/// The columns and what both passes know of them: constants and `place`.
fn columns(op: &Gates, r: &impl Recorder) -> (Columns, Header, String) {
    let count = r.plan().tensor(op.x.tensor).len() / op.x.stride;
    let stride = r.plan().tensor(op.y).len() / (count * op.heads).max(1);
    let columns = Columns::new(count, op.x.width);
    let header = columns.header().size("X_STRIDE", op.x.stride).size("X_FIRST", op.x.offset).size("Y_STRIDE", op.heads * stride);
    (columns, header, place(op.parts.iter().map(|part| (part.width, part.slot)), op.heads, stride))
}

pub(crate) fn forward(op: &Gates, r: &mut impl Recorder) {
    let (columns, header, place) = columns(op, r);
    let source = header.source(&[text::INDEX, text::SIGMOID, &place, include_str!("../../../../shaders/kernels/gates.wgsl")]);
    let bindings = vec![(Region::Tensor(op.x.tensor), Read), (Region::Tensor(op.bias), Read), (Region::Tensor(op.y), ReadWrite)];
    columns.dispatch_elements(r, "gates.forward", source, bindings);
}

pub(crate) fn backward(op: &Gates, adds: &[bool], r: &mut impl Recorder) {
    let (columns, header, place) = columns(op, r);
    let partial = r.partial(columns.chunks() * op.x.width);
    let header = header.flag("ADD", adds[0]);
    let source = header.source(&[text::INDEX, &place, include_str!("../../../../shaders/kernels/gates_backward.wgsl")]);
    let bindings = vec![
        (Region::Tensor(op.y), Read),
        (Region::Gradient(op.y), Read),
        (Region::Gradient(op.x.tensor), ReadWrite),
        (partial, ReadWrite),
    ];
    columns.dispatch_chunks(r, "gates.backward", source, bindings);
    let bias = Output::columns(Region::Gradient(op.bias), 0, op.x.width, adds[1]);
    column_sum(r, partial, columns.chunks(), op.x.width, &[bias]);
}
