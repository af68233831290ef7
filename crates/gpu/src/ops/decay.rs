//! Log-decay from a projection, per head or per key channel.

use super::column_sum::column_sum;
use super::shape::{Columns, place};
use super::text;
use crate::kernel::{Access::Read, Access::ReadWrite, Header, Output, Recorder, Region};
use palimpsest_plan::{Decay, DecayForm, SAFE_FLOOR};

/// The columns and what both passes know of them: constants and `place`.
fn columns(op: &Decay, r: &impl Recorder) -> (Columns, Header, String) {
    let count = r.plan().tensor(op.x.tensor).len() / op.x.stride;
    let stride = r.plan().tensor(op.y).len() / (count * op.heads).max(1);
    let columns = Columns::new(count, op.x.width);
    let header = columns.header().size("X_STRIDE", op.x.stride).size("X_FIRST", op.x.offset).size("Y_STRIDE", op.heads * stride);
    let header = header.size("WIDTH", op.width).float("FLOOR", SAFE_FLOOR).flag("SAFE", op.form == DecayForm::Safe);
    (columns, header, place([(op.width, op.slot)].into_iter(), op.heads, stride))
}

pub(crate) fn forward(op: &Decay, r: &mut impl Recorder) {
    let (columns, header, place) = columns(op, r);
    let source = header.source(&[text::INDEX, text::SIGMOID, &place, include_str!("../../../../shaders/kernels/decay.wgsl")]);
    let bindings = vec![
        (Region::Tensor(op.x.tensor), Read),
        (Region::Tensor(op.log_rate), Read),
        (Region::Tensor(op.bias), Read),
        (Region::Tensor(op.y), ReadWrite),
    ];
    columns.dispatch_elements(r, "decay.forward", source, bindings);
}

pub(crate) fn backward(op: &Decay, adds: &[bool], r: &mut impl Recorder) {
    let (columns, header, place) = columns(op, r);
    let width = op.x.width;
    let partial = r.partial(columns.chunks() * 2 * width);
    let header = header.flag("ADD", adds[0]);
    let source = header.source(&[text::INDEX, text::SIGMOID, &place, include_str!("../../../../shaders/kernels/decay_backward.wgsl")]);
    let bindings = vec![
        (Region::Tensor(op.x.tensor), Read),
        (Region::Tensor(op.log_rate), Read),
        (Region::Tensor(op.bias), Read),
        (Region::Gradient(op.y), Read),
        (Region::Gradient(op.x.tensor), ReadWrite),
        (partial, ReadWrite),
    ];
    columns.dispatch_chunks(r, "decay.backward", source, bindings);
    let log_rate = Output {
        region: Region::Gradient(op.log_rate),
        count: op.heads,
        group: 1,
        group_stride: op.width,
        first: width,
        width: op.width,
        add: adds[1],
    };
    let bias = Output::columns(Region::Gradient(op.bias), 0, width, adds[2]);
    column_sum(r, partial, columns.chunks(), 2 * width, &[log_rate, bias]);
}
