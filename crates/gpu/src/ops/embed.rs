//! Token embedding.

use super::gather::pick;
use super::text;
use crate::kernel::{Access::Read, Access::ReadWrite, Dispatch, Header, Recorder, Region, WORKGROUP, fold};
use palimpsest_plan::Embed;

pub(crate) fn forward(op: &Embed, r: &mut impl Recorder) {
    pick("embed.forward", op.tokens, op.table, op.y, r);
}

pub(crate) fn backward(op: &Embed, adds: &[bool], r: &mut impl Recorder) {
    let count = r.plan().tensor(op.tokens).len();
    let width = r.plan().tensor(op.y).len() / count.max(1);
    let vocab = r.plan().tensor(op.table).len() / width.max(1);
    let columns = width.next_power_of_two().min(64);
    let column_groups = width.div_ceil(columns);
    let header = Header::new()
        .size("WORKGROUP", WORKGROUP)
        .size("COUNT", count)
        .size("WIDTH", width)
        .size("VOCAB", vocab)
        .size("COLUMNS", columns)
        .size("PARTS", WORKGROUP as usize / columns)
        .size("COLUMN_GROUPS", column_groups)
        .flag("ADD", adds[0]);
    r.dispatch(Dispatch {
        label: "embed.backward",
        source: header.source(&[text::INDEX, include_str!("../../../../shaders/kernels/embed_backward.wgsl")]),
        bindings: vec![(Region::Tensor(op.tokens), Read), (Region::Gradient(op.y), Read), (Region::Gradient(op.table), ReadWrite)],
        groups: fold(vocab * column_groups, r.limits()),
    });
}
