//! Gated linear unit with SiLU.

use super::shape::{elements, elements_header};
use super::text;
use crate::kernel::{Access::Read, Access::ReadWrite, Recorder, Region};
use palimpsest_plan::SwiGlu;

/// Elements and columns of the output.
fn sizes(op: &SwiGlu, r: &impl Recorder) -> (usize, usize) {
    let y = r.plan().tensor(op.y);
    (y.len(), y.shape.last().copied().unwrap_or(1))
}

pub(crate) fn forward(op: &SwiGlu, r: &mut impl Recorder) {
    let (count, width) = sizes(op, r);
    let parts = [text::INDEX, text::SIGMOID, include_str!("../../../../shaders/kernels/swiglu.wgsl")];
    let source = elements_header(count).size("M", width).source(&parts);
    elements(r, "swiglu.forward", count, source, vec![(Region::Tensor(op.x), Read), (Region::Tensor(op.y), ReadWrite)]);
}

pub(crate) fn backward(op: &SwiGlu, adds: &[bool], r: &mut impl Recorder) {
    let (count, width) = sizes(op, r);
    let parts = [text::INDEX, text::SIGMOID, include_str!("../../../../shaders/kernels/swiglu_backward.wgsl")];
    let source = elements_header(count).size("M", width).flag("ADD", adds[0]).source(&parts);
    let bindings = vec![(Region::Tensor(op.x), Read), (Region::Gradient(op.y), Read), (Region::Gradient(op.x), ReadWrite)];
    elements(r, "swiglu.backward", count, source, bindings);
}
