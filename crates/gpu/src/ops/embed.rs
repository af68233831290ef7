//! Token embedding.

use super::column_sum::column_sum;
use super::gather::pick;
use super::text;
use crate::kernel::{Access::Read, Access::ReadWrite, Dispatch, Header, Output, Recorder, Region, WORKGROUP, fold};
use palimpsest_plan::Embed;

/// Fewest tokens of a workgroup: most may be the same one, as fillers are, and its row sums them one after another.
const SPAN: usize = 256;
/// Most partial sums of a table, in tables and in floats.
const MOST_PARTIALS: usize = 64;
const PARTIAL_FLOATS: usize = 1 << 22;

pub(crate) fn forward(op: &Embed, r: &mut impl Recorder) {
    pick("embed.forward", op.tokens, op.table, op.y, r);
}

pub(crate) fn backward(op: &Embed, adds: &[bool], r: &mut impl Recorder) {
    let count = r.plan().tensor(op.tokens).len();
    let width = r.plan().tensor(op.y).len() / count.max(1);
    let vocab = r.plan().tensor(op.table).len() / width.max(1);
    let columns = width.next_power_of_two().min(64);
    let column_groups = width.div_ceil(columns);
    let table = vocab * width;
    let most = (PARTIAL_FLOATS / table.max(1)).clamp(1, MOST_PARTIALS);
    let span = count.div_ceil(most).max(SPAN).next_multiple_of(32);
    let spans = count.div_ceil(span);
    let partial = r.partial(spans * table);
    let header = Header::new()
        .size("WORKGROUP", WORKGROUP)
        .size("COUNT", count)
        .size("WIDTH", width)
        .size("VOCAB", vocab)
        .size("COLUMNS", columns)
        .size("PARTS", WORKGROUP as usize / columns)
        .size("COLUMN_GROUPS", column_groups)
        .size("SPAN", span)
        .size("SPANS", spans);
    r.dispatch(Dispatch {
        label: "embed.backward",
        source: header.source(&[text::INDEX, include_str!("../../../../shaders/kernels/embed_backward.wgsl")]),
        bindings: vec![(Region::Tensor(op.tokens), Read), (Region::Gradient(op.y), Read), (partial, ReadWrite)],
        groups: fold(vocab * column_groups * spans, r.limits()),
    });
    column_sum(r, partial, spans, table, &[Output::columns(Region::Gradient(op.table), 0, table, adds[0])]);
}
