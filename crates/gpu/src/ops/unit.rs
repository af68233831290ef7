//! Unit vectors, from a projection into packed rule inputs.

use super::shape::{Rows, rows_source};
use crate::kernel::{Access::Read, Access::ReadWrite, Header, Recorder, Region};
use palimpsest_plan::{UNIT_EPSILON, Unit};

fn rows(op: &Unit, r: &impl Recorder) -> (Rows, Header) {
    let count = r.plan().tensor(op.x.tensor).len() / op.x.stride * op.heads;
    let rows = Rows::new(count, op.width);
    let header = rows.header().float("EPSILON", UNIT_EPSILON).size("HEADS", op.heads).size("SLOT", op.slot);
    let header = header.size("X_STRIDE", op.x.stride).size("X_FIRST", op.x.offset);
    (rows, header.size("STRIDE", r.plan().tensor(op.y).len() / count.max(1)))
}

pub(crate) fn forward(op: &Unit, r: &mut impl Recorder) {
    let (rows, header) = rows(op, r);
    let source = rows_source(header, &[include_str!("../../../../shaders/kernels/unit.wgsl")]);
    rows.dispatch(r, "unit.forward", source, vec![(Region::Tensor(op.x.tensor), Read), (Region::Tensor(op.y), ReadWrite)]);
}

pub(crate) fn backward(op: &Unit, adds: &[bool], r: &mut impl Recorder) {
    let (rows, header) = rows(op, r);
    let source = rows_source(header.flag("ADD", adds[0]), &[include_str!("../../../../shaders/kernels/unit_backward.wgsl")]);
    let bindings = vec![(Region::Tensor(op.x.tensor), Read), (Region::Gradient(op.y), Read), (Region::Gradient(op.x.tensor), ReadWrite)];
    rows.dispatch(r, "unit.backward", source, bindings);
}
