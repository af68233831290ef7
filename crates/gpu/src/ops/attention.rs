//! Causal softmax attention with an online softmax: no score ever leaves its workgroup.

use super::text;
use crate::kernel::{Access, Access::Read, Access::ReadWrite, Dispatch, Header, Recorder, Region, ScratchId, WORKGROUP, fold};
use palimpsest_plan::Attention;

/// Queries, and keys, of a tile: each invocation of a workgroup owns one score.
const TILE: usize = 16;

fn header(op: &Attention) -> Header {
    let shape = op.shape;
    Header::new()
        .size("WORKGROUP", WORKGROUP)
        .size("TILE", TILE)
        .size("TIME", shape.time)
        .size("HEADS", shape.heads)
        .size("SEQUENCES", shape.batch * shape.heads)
        .size("KEY", shape.key)
        .size("VALUE", shape.value)
        .size("STRIDE", 2 * shape.key + shape.value)
        .size("KEYS_EACH", shape.key.div_ceil(TILE))
        .size("VALUES_EACH", shape.value.div_ceil(TILE))
        .size("TILES", shape.time.div_ceil(TILE))
        .float("SCALE", 1.0 / (shape.key as f32).sqrt())
}

/// `logsumexp` of each query's scores, and (after the first backward kernel) `dot(do, o)`: `[B, T, H, 2]`.
fn row_numbers(op: &Attention, r: &mut impl Recorder) -> ScratchId {
    r.saved(op.o, "attention rows", 2 * op.shape.batch * op.shape.time * op.shape.heads)
}

fn dispatch(op: &Attention, label: &'static str, header: Header, kernel: &str, bindings: Vec<(Region, Access)>, r: &mut impl Recorder) {
    let groups = fold(op.shape.batch * op.shape.heads * op.shape.time.div_ceil(TILE), r.limits());
    let source = header.source(&[text::INDEX, include_str!("../../../../shaders/lib/attention.wgsl"), kernel]);
    r.dispatch(Dispatch { label, source, bindings, groups });
}

pub(crate) fn forward(op: &Attention, r: &mut impl Recorder) {
    let rows = Region::Scratch(row_numbers(op, r));
    let bindings = vec![(Region::Tensor(op.x), Read), (Region::Tensor(op.o), ReadWrite), (rows, ReadWrite)];
    dispatch(op, "attention.forward", header(op), include_str!("../../../../shaders/kernels/attention.wgsl"), bindings, r);
}

pub(crate) fn backward(op: &Attention, adds: &[bool], r: &mut impl Recorder) {
    let rows = Region::Scratch(row_numbers(op, r));
    let header = || header(op).flag("ADD", adds[0]);
    let bindings = vec![
        (Region::Tensor(op.x), Read),
        (Region::Tensor(op.o), Read),
        (Region::Gradient(op.o), Read),
        (Region::Gradient(op.x), ReadWrite),
        (rows, ReadWrite),
    ];
    dispatch(op, "attention.query", header(), include_str!("../../../../shaders/kernels/attention_query.wgsl"), bindings, r);
    let bindings = vec![(Region::Tensor(op.x), Read), (Region::Gradient(op.o), Read), (Region::Gradient(op.x), ReadWrite), (rows, Read)];
    dispatch(op, "attention.key", header(), include_str!("../../../../shaders/kernels/attention_key.wgsl"), bindings, r);
}
