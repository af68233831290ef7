//! The operations of a plan. Each doc gives the forward equation; backends implement it and its gradient.
//!
//! Gradients are set or added to as [`crate::BackwardOp::adds`] says for activations and parameters.

use crate::{TensorId, View};
use palimpsest_rules::{Rule, StepLayout};

/// Added to the mean square in every RMS norm.
pub const NORM_EPSILON: f32 = 1e-5;
/// Added to the sum of squares before a vector is made unit.
pub const UNIT_EPSILON: f32 = 1e-6;
/// EDA's lower bound `l` of the log-decay under the safe gate.
pub const SAFE_FLOOR: f32 = -5.0;

/// `y[n] = table[tokens[n]]`.
#[derive(Clone, Debug)]
pub struct Embed {
    /// `[N]`, u32 below `vocab`.
    pub tokens: TensorId,
    /// `[vocab, d]`.
    pub table: TensorId,
    /// `[N, d]`.
    pub y: TensorId,
}

/// `y = weight * x / sqrt(mean(x^2) + NORM_EPSILON)` per row.
#[derive(Clone, Debug)]
pub struct RmsNorm {
    /// `[N, d]`.
    pub x: TensorId,
    /// `[d]`.
    pub weight: TensorId,
    /// `[N, d]`.
    pub y: TensorId,
}

/// `y = x W^T (+ bias) (+ residual)`. With `blocks > 1` the weight is block-diagonal: output block `h` sees input block `h` only.
#[derive(Clone, Debug)]
pub struct Linear {
    /// `[N, in]`.
    pub x: View,
    /// `[out, in / blocks]`.
    pub weight: TensorId,
    /// `[out]`.
    pub bias: Option<TensorId>,
    /// `[N, out]`; its gradient is the same buffer as `y`'s, so backward does nothing for it.
    pub residual: Option<TensorId>,
    /// Number of diagonal blocks; divides `in` and `out`.
    pub blocks: usize,
    /// `[N, out]`.
    pub y: TensorId,
}

/// Some columns of [`ShortConv`]: one of query, key, value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvPart {
    /// Columns per head.
    pub width: usize,
    /// Where the part starts in a (token, head) row of the output.
    pub slot: usize,
    /// Whether each head's vector is made unit after SiLU: `s / sqrt(sum s^2 + UNIT_EPSILON)`.
    pub unit: bool,
}

/// Causal depthwise convolution along T, then SiLU, then (by part) unit vectors, packed into rule inputs.
///
/// `c[t] = sum_i taps[column, i] x[t - (W - 1) + i]` with zeros before the sequence; `s = c * sigmoid(c)`. Without taps, `c = x`.
/// Columns of `x` are part-major, then head, then element. Written to `y[n, h, slot + j]`.
#[derive(Clone, Debug)]
pub struct ShortConv {
    /// `[N, C]`, C = heads * sum of widths.
    pub x: View,
    /// `[C, W]`; the last tap meets the present token.
    pub taps: Option<TensorId>,
    /// The parts in column order.
    pub parts: Vec<ConvPart>,
    /// Heads.
    pub heads: usize,
    /// Sequence length T.
    pub time: usize,
    /// Packed rule inputs `[N, H, stride]`; only the parts' slots are written.
    pub y: TensorId,
}

/// One gate of [`Gates`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatePart {
    /// Columns per head: 1, K or V.
    pub width: usize,
    /// Where it goes in a (token, head) row.
    pub slot: usize,
}

/// `y[n, h, slot + j] = sigmoid(x[n, column] + bias[column])`. Columns part-major, then head, then element.
#[derive(Clone, Debug)]
pub struct Gates {
    /// `[N, C]`.
    pub x: View,
    /// `[C]`.
    pub bias: TensorId,
    /// The gates in column order.
    pub parts: Vec<GatePart>,
    /// Heads.
    pub heads: usize,
    /// Packed rule inputs `[N, H, stride]`.
    pub y: TensorId,
}

/// How a log-decay is made from a projection. `D = softplus(x + bias)`, `A = exp(log_rate)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecayForm {
    /// `g = -A D` (GDN, KDA, GDN-2).
    Exponential,
    /// `g = l (1 - exp(-A D / |l|))`, `l = SAFE_FLOOR` (EDA, eq. 15).
    Safe,
}

/// Log-decay `g <= 0`, per head (width 1) or per key channel (width K): `y[n, h, slot + j] = g`.
#[derive(Clone, Debug)]
pub struct Decay {
    /// `[N, H * width]`.
    pub x: View,
    /// `log A`, `[H]`.
    pub log_rate: TensorId,
    /// `[H * width]`.
    pub bias: TensorId,
    /// Which formula.
    pub form: DecayForm,
    /// 1 or K.
    pub width: usize,
    /// Where it goes in a (token, head) row.
    pub slot: usize,
    /// Heads.
    pub heads: usize,
    /// Packed rule inputs `[N, H, stride]`.
    pub y: TensorId,
}

/// Unit vectors: `y[n, h, slot + j] = x / sqrt(sum_j x^2 + UNIT_EPSILON)` (EDA's erase direction).
#[derive(Clone, Debug)]
pub struct Unit {
    /// `[N, H * width]`.
    pub x: View,
    /// K.
    pub width: usize,
    /// Where it goes in a (token, head) row.
    pub slot: usize,
    /// Heads.
    pub heads: usize,
    /// Packed rule inputs `[N, H, stride]`.
    pub y: TensorId,
}

/// Sizes of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanShape {
    /// B.
    pub batch: usize,
    /// T.
    pub time: usize,
    /// H.
    pub heads: usize,
    /// K, a multiple of 4 from 4 to 128.
    pub key: usize,
    /// V, a multiple of 4 from 4 to 128.
    pub value: usize,
}

/// A rule's map: packed inputs of a (token, head) to its packed steps.
#[derive(Clone, Debug)]
pub struct RuleMap {
    /// The rule.
    pub rule: Rule,
    /// B, T, H, K, V.
    pub shape: ScanShape,
    /// `[B, T, H, input stride]`. Backward sets every used slot.
    pub inputs: TensorId,
    /// One tensor `[H, width]` per head-scope input of the rule, in their order.
    pub heads: Vec<TensorId>,
    /// `[B, T, H, step stride]`.
    pub steps: TensorId,
}

/// Which algorithm runs a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanForm {
    /// Token by token.
    Recurrent,
    /// In chunks of this many tokens, parallel within a chunk.
    Chunked(usize),
}

/// Runs packed steps over the state. Per token, per step: `S' = Diag(exp g) S`, `r = u - S'^T a`, `S = S' + k r^T`; then `o = S^T q`.
#[derive(Clone, Debug)]
pub struct Scan {
    /// Where things lie in a row of `steps`.
    pub layout: StepLayout,
    /// B, T, H, K, V.
    pub shape: ScanShape,
    /// Recurrent or chunked.
    pub form: ScanForm,
    /// `[B, T, H, step stride]`. Backward sets every used slot.
    pub steps: TensorId,
    /// `[B, H, K, V]`; zeros when absent.
    pub initial: Option<TensorId>,
    /// `[B, T, H, V]`.
    pub o: TensorId,
    /// `[B, H, K, V]`: the state after the last token; its gradient is read when present.
    pub last: Option<TensorId>,
}

/// Causal softmax attention per head: `o_t = sum_{s <= t} softmax_s(q_t . k_s / sqrt K) v_s`.
#[derive(Clone, Debug)]
pub struct Attention {
    /// B, T, H, K, V.
    pub shape: ScanShape,
    /// Packed `[B, T, H, 2 K + V]`: query, key, value.
    pub x: TensorId,
    /// `[B, T, H, V]`.
    pub o: TensorId,
}

/// `y[n, h, j] = weight[j] * o / sqrt(mean_j(o^2) + NORM_EPSILON) * sigmoid(gate)`.
#[derive(Clone, Debug)]
pub struct GatedNorm {
    /// `[N, H * V]`.
    pub o: TensorId,
    /// `[V]`, shared by the heads.
    pub weight: TensorId,
    /// `[N, H * V]`.
    pub gate: Option<View>,
    /// Heads.
    pub heads: usize,
    /// `[N, H * V]`.
    pub y: TensorId,
}

/// `y = silu(x[:, ..M]) * x[:, M..]`.
#[derive(Clone, Debug)]
pub struct SwiGlu {
    /// `[N, 2 M]`.
    pub x: TensorId,
    /// `[N, M]`.
    pub y: TensorId,
}

/// `y[i] = x[rows[i]]`; rows are distinct. Backward sets the other rows' gradient to zero.
#[derive(Clone, Debug)]
pub struct Gather {
    /// `[N, d]`.
    pub x: TensorId,
    /// `[L]`, u32 below N.
    pub rows: TensorId,
    /// `[L, d]`.
    pub y: TensorId,
}

/// `loss = mean_i (logsumexp(logits[i]) - logits[i, targets[i]])`; `answers[i]` = the first largest logit.
#[derive(Clone, Debug)]
pub struct CrossEntropy {
    /// `[L, vocab]`.
    pub logits: TensorId,
    /// `[L]`, u32 below vocab.
    pub targets: TensorId,
    /// `[1]`, nats.
    pub loss: TensorId,
    /// `[L]`, u32.
    pub answers: TensorId,
}

/// One operation of a plan.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each variant is its struct, documented there")]
#[allow(clippy::large_enum_variant, reason = "a plan has tens of operations, made once")]
pub enum Op {
    Embed(Embed),
    RmsNorm(RmsNorm),
    Linear(Linear),
    ShortConv(ShortConv),
    Gates(Gates),
    Decay(Decay),
    Unit(Unit),
    RuleMap(RuleMap),
    Scan(Scan),
    Attention(Attention),
    GatedNorm(GatedNorm),
    SwiGlu(SwiGlu),
    Gather(Gather),
    CrossEntropy(CrossEntropy),
}

/// A differentiable operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// All of a tensor.
    Whole(TensorId),
    /// Some of its columns.
    Columns(View),
}

impl Operand {
    /// The tensor it belongs to.
    pub fn tensor(self) -> TensorId {
        match self {
            Operand::Whole(tensor) => tensor,
            Operand::Columns(view) => view.tensor,
        }
    }
}

impl Op {
    /// Short name for messages and profiles.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Embed(_) => "embed",
            Op::RmsNorm(_) => "rms_norm",
            Op::Linear(_) => "linear",
            Op::ShortConv(_) => "short_conv",
            Op::Gates(_) => "gates",
            Op::Decay(_) => "decay",
            Op::Unit(_) => "unit",
            Op::RuleMap(_) => "rule_map",
            Op::Scan(_) => "scan",
            Op::Attention(_) => "attention",
            Op::GatedNorm(_) => "gated_norm",
            Op::SwiGlu(_) => "swiglu",
            Op::Gather(_) => "gather",
            Op::CrossEntropy(_) => "cross_entropy",
        }
    }

    /// Operands that may take a gradient, in the order of the struct's fields; a residual is not among them.
    pub fn operands(&self) -> Vec<Operand> {
        use Operand::{Columns, Whole};
        match self {
            Op::Embed(op) => vec![Whole(op.table)],
            Op::RmsNorm(op) => vec![Whole(op.x), Whole(op.weight)],
            Op::Linear(op) => [Columns(op.x), Whole(op.weight)].into_iter().chain(op.bias.map(Whole)).collect(),
            Op::ShortConv(op) => [Columns(op.x)].into_iter().chain(op.taps.map(Whole)).collect(),
            Op::Gates(op) => vec![Columns(op.x), Whole(op.bias)],
            Op::Decay(op) => vec![Columns(op.x), Whole(op.log_rate), Whole(op.bias)],
            Op::Unit(op) => vec![Columns(op.x)],
            Op::RuleMap(op) => [Whole(op.inputs)].into_iter().chain(op.heads.iter().copied().map(Whole)).collect(),
            Op::Scan(op) => [Whole(op.steps)].into_iter().chain(op.initial.map(Whole)).collect(),
            Op::Attention(op) => vec![Whole(op.x)],
            Op::GatedNorm(op) => [Whole(op.o), Whole(op.weight)].into_iter().chain(op.gate.map(Columns)).collect(),
            Op::SwiGlu(op) => vec![Whole(op.x)],
            Op::Gather(op) => vec![Whole(op.x)],
            Op::CrossEntropy(op) => vec![Whole(op.logits)],
        }
    }

    /// Tensors that the operation writes; packed rule inputs are written by several operations.
    pub fn outputs(&self) -> Vec<TensorId> {
        match self {
            Op::Embed(op) => vec![op.y],
            Op::RmsNorm(op) => vec![op.y],
            Op::Linear(op) => vec![op.y],
            Op::ShortConv(op) => vec![op.y],
            Op::Gates(op) => vec![op.y],
            Op::Decay(op) => vec![op.y],
            Op::Unit(op) => vec![op.y],
            Op::RuleMap(op) => vec![op.steps],
            Op::Scan(op) => [op.o].into_iter().chain(op.last).collect(),
            Op::Attention(op) => vec![op.o],
            Op::GatedNorm(op) => vec![op.y],
            Op::SwiGlu(op) => vec![op.y],
            Op::Gather(op) => vec![op.y],
            Op::CrossEntropy(op) => vec![op.loss, op.answers],
        }
    }
}
