//! Mean cross-entropy over the labelled positions, and the model's answers.

use super::shape::{Rows, elements, elements_header, rows_source};
use super::text;
use crate::kernel::{Access::Read, Access::ReadWrite, Dispatch, Recorder, Region, ScratchId, WORKGROUP};
use palimpsest_plan::CrossEntropy;

/// Labelled positions and vocabulary.
fn sizes(op: &CrossEntropy, r: &impl Recorder) -> (usize, usize) {
    let count = r.plan().tensor(op.targets).len();
    (count, r.plan().tensor(op.logits).len() / count.max(1))
}

/// Largest logit and log of the sum of the others' distances to it, by row.
fn log_sums(op: &CrossEntropy, r: &mut impl Recorder) -> ScratchId {
    let (count, _) = sizes(op, r);
    r.saved(op.loss, "log sums", 2 * count)
}

pub(crate) fn forward(op: &CrossEntropy, r: &mut impl Recorder) {
    let (count, vocab) = sizes(op, r);
    let log_sums = log_sums(op, r);
    let losses = Region::Scratch(r.scratch("losses", count));
    let rows = Rows::new(count, vocab);
    let source = rows_source(rows.header(), &[include_str!("../../../../shaders/kernels/cross_entropy.wgsl")]);
    let bindings = vec![
        (Region::Tensor(op.logits), Read),
        (Region::Tensor(op.targets), Read),
        (Region::Tensor(op.answers), ReadWrite),
        (Region::Scratch(log_sums), ReadWrite),
        (losses, ReadWrite),
    ];
    rows.dispatch(r, "cross_entropy.forward", source, bindings);
    let header = elements_header(count).size("LANES", WORKGROUP as usize).size("ROWS", 1);
    r.dispatch(Dispatch {
        label: "cross_entropy.mean",
        source: header.source(&[text::ROWS, include_str!("../../../../shaders/kernels/mean.wgsl")]),
        bindings: vec![(losses, Read), (Region::Tensor(op.loss), ReadWrite)],
        groups: [1, 1, 1],
    });
}

pub(crate) fn backward(op: &CrossEntropy, adds: &[bool], r: &mut impl Recorder) {
    let (count, vocab) = sizes(op, r);
    let log_sums = log_sums(op, r);
    let header = elements_header(count).size("WIDTH", vocab).flag("ADD", adds[0]);
    let source = header.source(&[text::INDEX, include_str!("../../../../shaders/kernels/cross_entropy_backward.wgsl")]);
    let bindings = vec![
        (Region::Tensor(op.logits), Read),
        (Region::Tensor(op.targets), Read),
        (Region::Scratch(log_sums), Read),
        (Region::Gradient(op.logits), ReadWrite),
    ];
    elements(r, "cross_entropy.backward", count * vocab, source, bindings);
}
