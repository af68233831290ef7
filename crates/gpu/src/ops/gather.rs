//! Picking rows.

use super::shape::{elements, elements_header};
use super::text;
use crate::kernel::{Access::Read, Access::ReadWrite, Recorder, Region};
use palimpsest_plan::{Gather, TensorId};

/// Records `y[i] = x[rows[i]]`.
pub(super) fn pick(label: &'static str, rows: TensorId, x: TensorId, y: TensorId, r: &mut impl Recorder) {
    let tensor = r.plan().tensor(y);
    let (count, width) = (tensor.len(), tensor.shape.last().copied().unwrap_or(1));
    let source = elements_header(count).size("WIDTH", width);
    let source = source.source(&[text::INDEX, include_str!("../../../../shaders/kernels/gather.wgsl")]);
    let bindings = vec![(Region::Tensor(rows), Read), (Region::Tensor(x), Read), (Region::Tensor(y), ReadWrite)];
    elements(r, label, count, source, bindings);
}

pub(crate) fn forward(op: &Gather, r: &mut impl Recorder) {
    pick("gather.forward", op.rows, op.x, op.y, r);
}

pub(crate) fn backward(op: &Gather, adds: &[bool], r: &mut impl Recorder) {
    if !adds[0] {
        let count = r.plan().tensor(op.x).len();
        let source = elements_header(count).source(&[text::INDEX, include_str!("../../../../shaders/kernels/clear.wgsl")]);
        elements(r, "gather.clear", count, source, vec![(Region::Gradient(op.x), ReadWrite)]);
    }
    let tensor = r.plan().tensor(op.y);
    let (count, width) = (tensor.len(), tensor.shape.last().copied().unwrap_or(1));
    let source = elements_header(count).size("WIDTH", width).flag("ADD", adds[0]);
    let source = source.source(&[text::INDEX, include_str!("../../../../shaders/kernels/scatter.wgsl")]);
    let bindings = vec![(Region::Tensor(op.rows), Read), (Region::Gradient(op.y), Read), (Region::Gradient(op.x), ReadWrite)];
    elements(r, "gather.backward", count, source, bindings);
}
