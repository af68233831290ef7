//! Operations as dispatches: each file has one operation's `forward` and `backward`.

mod attention;
mod column_sum;
mod cross_entropy;
mod decay;
mod embed;
mod gated_norm;
mod gates;
mod gather;
mod linear;
mod rms_norm;
mod rule_map;
mod shape;
mod short_conv;
mod swiglu;
pub(crate) mod text;
mod unit;

use crate::kernel::Recorder;
use crate::scan;
use palimpsest_plan::Op;

/// Records an operation's forward dispatches.
pub(crate) fn forward(op: &Op, r: &mut impl Recorder) {
    match op {
        Op::Embed(op) => embed::forward(op, r),
        Op::RmsNorm(op) => rms_norm::forward(op, r),
        Op::Linear(op) => linear::forward(op, r),
        Op::ShortConv(op) => short_conv::forward(op, r),
        Op::Gates(op) => gates::forward(op, r),
        Op::Decay(op) => decay::forward(op, r),
        Op::Unit(op) => unit::forward(op, r),
        Op::RuleMap(op) => rule_map::forward(op, r),
        Op::Scan(op) => scan::forward(op, r),
        Op::Attention(op) => attention::forward(op, r),
        Op::GatedNorm(op) => gated_norm::forward(op, r),
        Op::SwiGlu(op) => swiglu::forward(op, r),
        Op::Gather(op) => gather::forward(op, r),
        Op::CrossEntropy(op) => cross_entropy::forward(op, r),
    }
}

/// Records an operation's backward dispatches; `adds` is by operand, as [`palimpsest_plan::BackwardOp::adds`].
pub(crate) fn backward(op: &Op, adds: &[bool], r: &mut impl Recorder) {
    match op {
        Op::Embed(op) => embed::backward(op, adds, r),
        Op::RmsNorm(op) => rms_norm::backward(op, adds, r),
        Op::Linear(op) => linear::backward(op, adds, r),
        Op::ShortConv(op) => short_conv::backward(op, adds, r),
        Op::Gates(op) => gates::backward(op, adds, r),
        Op::Decay(op) => decay::backward(op, adds, r),
        Op::Unit(op) => unit::backward(op, adds, r),
        Op::RuleMap(op) => rule_map::backward(op, adds, r),
        Op::Scan(op) => scan::backward(op, adds, r),
        Op::Attention(op) => attention::backward(op, adds, r),
        Op::GatedNorm(op) => gated_norm::backward(op, adds, r),
        Op::SwiGlu(op) => swiglu::backward(op, adds, r),
        Op::Gather(op) => gather::backward(op, adds, r),
        Op::CrossEntropy(op) => cross_entropy::backward(op, adds, r),
    }
}
