//! Token mixers: a linear-attention layer for any rule, and full softmax attention with the same shell.
//!
//! One projection makes everything a token needs; its columns are, in order: query, key, value, gates, decay, directions, output gate.

use crate::model::{PROJECTION, residual_init};
use crate::{ModelShape, ScanLayer};
use palimpsest_plan::{
    Attention, ConvPart, Decay, GatePart, GatedNorm, Gates, Init, Learn, Linear, Op, PlanBuilder, Role, RuleMap, Scan, ScanShape,
    ShortConv, TensorId, Unit, View,
};
use palimpsest_rules::{Kind, Scope, Source};

/// Records layer `layer`'s mixer on the normed stream `h`, added to `residual`.
pub(crate) fn record(
    shape: &ModelShape,
    b: &mut PlanBuilder,
    layer: usize,
    h: TensorId,
    residual: TensorId,
    scans: &mut Vec<ScanLayer>,
) -> TensorId {
    let mut shell = Shell::new(shape, layer);
    let read = if shape.is_attention(layer) { attention(&mut shell, b, h) } else { linear(&mut shell, b, h, scans) };
    shell.close(b, read, residual)
}

/// Names and sizes shared by the parts of one mixer.
struct Shell<'a> {
    shape: &'a ModelShape,
    layer: usize,
    /// Columns of the input projection so far.
    columns: usize,
    /// The output gate's columns, once the projection is recorded.
    gate: Option<View>,
}

impl<'a> Shell<'a> {
    fn new(shape: &'a ModelShape, layer: usize) -> Self {
        Shell { shape, layer, columns: 0, gate: None }
    }

    fn name(&self, part: &str) -> String {
        format!("layer{}.mixer.{part}", self.layer)
    }

    /// Reserves columns of the input projection.
    fn reserve(&mut self, width: usize) -> (usize, usize) {
        let offset = self.columns;
        self.columns += width;
        (offset, width)
    }

    /// Records the input projection once all columns are reserved, the output gate's last.
    fn project(&mut self, b: &mut PlanBuilder, h: TensorId) -> TensorId {
        let gate = self.shape.output_gate.then(|| self.reserve(self.shape.heads * self.shape.value));
        let weight = b.parameter(self.name("in.weight"), &[self.columns, self.shape.width], Init::Normal(PROJECTION));
        let y = b.activation(self.name("in"), &[self.shape.rows(), self.columns]);
        b.push(Op::Linear(Linear { x: b.whole(h), weight, bias: None, residual: None, blocks: 1, y }));
        self.gate = gate.map(|(offset, width)| b.columns(y, offset, width));
        y
    }

    fn scan_shape(&self) -> ScanShape {
        let ModelShape { batch, time, heads, key, value, .. } = *self.shape;
        ScanShape { batch, time, heads, key, value }
    }

    fn conv(&self, b: &mut PlanBuilder, x: View, parts: Vec<ConvPart>, y: TensorId) {
        let width = self.shape.conv;
        // torch's default for a depthwise convolution, which zoology keeps
        let init = Init::Uniform(1.0 / (width.max(1) as f32).sqrt());
        let taps = (width > 0).then(|| b.parameter(self.name("conv.taps"), &[x.width, width], init));
        b.push(Op::ShortConv(ShortConv { x, taps, parts, heads: self.shape.heads, time: self.shape.time, y }));
    }

    /// Per-head norm, output gate and output projection.
    fn close(&self, b: &mut PlanBuilder, o: TensorId, residual: TensorId) -> TensorId {
        let ModelShape { heads, value, width, .. } = *self.shape;
        let n = self.shape.rows();
        let learn = Learn { init: Init::Constant(1.0), rate: 1.0, weight_decay: false };
        let weight = b.learned(self.name("read_norm.weight"), &[value], learn);
        let normed = b.activation(self.name("read_norm"), &[n, heads * value]);
        b.push(Op::GatedNorm(GatedNorm { o, weight, gate: self.gate, heads, y: normed }));
        let weight = b.parameter(self.name("out.weight"), &[width, heads * value], residual_init(self.shape.layers));
        let y = b.activation(self.name("out"), &[n, width]);
        b.push(Op::Linear(Linear { x: b.whole(normed), weight, bias: None, residual: Some(residual), blocks: 1, y }));
        y
    }
}

fn attention(shell: &mut Shell, b: &mut PlanBuilder, h: TensorId) -> TensorId {
    let ModelShape { heads, key, value, .. } = *shell.shape;
    let scan = shell.scan_shape();
    let (offset, width) = shell.reserve(heads * (2 * key + value));
    let projected = shell.project(b, h);
    let x = b.activation(shell.name("packed"), &[scan.batch, scan.time, heads, 2 * key + value]);
    let part = |width, slot| ConvPart { width, slot, unit: false };
    shell.conv(b, b.columns(projected, offset, width), vec![part(key, 0), part(key, key), part(value, 2 * key)], x);
    let o = b.activation(shell.name("read"), &[scan.batch, scan.time, heads * value]);
    b.push(Op::Attention(Attention { shape: scan, x, o }));
    o
}

/// Where the columns of one declared input lie in the projection.
enum Columns {
    Gate { bias: f32, part: GatePart, at: (usize, usize) },
    Decay { width: usize, slot: usize, at: (usize, usize) },
    Direction { rank: usize, slot: usize, at: (usize, usize) },
}

fn linear(shell: &mut Shell, b: &mut PlanBuilder, h: TensorId, scans: &mut Vec<ScanLayer>) -> TensorId {
    let shape = shell.shape;
    let ModelShape { heads, key, value, .. } = *shape;
    let rule = &shape.rule;
    let (layout, step_layout) = (rule.input_layout(key, value), rule.step_layout(key, value));
    let width_of = |kind: Kind| match kind {
        Kind::Scalar => 1,
        Kind::Key => key,
        Kind::Value => value,
    };
    let (conv_at, mut conv_parts) = (shell.columns, Vec::new());
    let mut declared = Vec::new();
    let mut inputs: Vec<_> = rule.inputs().iter().enumerate().filter(|(_, input)| input.scope == Scope::Token).collect();
    // gates of equal bias become neighbours and share one operation
    inputs.sort_by(|(_, a), (_, b)| gate_bias(&a.source).total_cmp(&gate_bias(&b.source)));
    for (index, input) in &inputs {
        let (slot, width) = (layout.slot(*index), width_of(input.kind));
        match input.source {
            Source::Query | Source::Key | Source::Value => {
                shell.reserve(heads * width);
                conv_parts.push(ConvPart { width, slot, unit: input.source != Source::Value });
            }
            Source::Gate { bias } => {
                declared.push(Columns::Gate { bias, part: GatePart { width, slot }, at: shell.reserve(heads * width) });
            }
            // a decay per channel has low rank V (fla's KDA); one per head needs none
            Source::Decay => {
                let columns = if width == 1 { heads } else { value };
                declared.push(Columns::Decay { width, slot, at: shell.reserve(columns) });
            }
            Source::Direction { rank } => declared.push(Columns::Direction { rank, slot, at: shell.reserve(heads * rank) }),
            Source::Parameter { .. } | Source::Fixed | Source::Cut => {}
        }
    }
    let conv_width = conv_parts.iter().map(|part| heads * part.width).sum();
    let projected = shell.project(b, h);
    let scan = shell.scan_shape();
    let packed = b.activation(shell.name("inputs"), &[scan.batch, scan.time, heads, layout.stride]);
    shell.conv(b, b.columns(projected, conv_at, conv_width), conv_parts, packed);
    gates(shell, b, projected, &declared, packed);
    for columns in &declared {
        match *columns {
            Columns::Gate { .. } => {}
            Columns::Decay { width, slot, at } => decay(shell, b, b.columns(projected, at.0, at.1), width, slot, packed),
            Columns::Direction { rank, slot, at } => direction(shell, b, b.columns(projected, at.0, at.1), rank, slot, packed),
        }
    }
    let head_inputs = head_inputs(shell, b, width_of);
    let steps = b.activation(shell.name("steps"), &[scan.batch, scan.time, heads, step_layout.stride]);
    b.push(Op::RuleMap(RuleMap { rule: rule.clone(), shape: scan, inputs: packed, heads: head_inputs, steps }));
    let o = b.activation(shell.name("read"), &[scan.batch, scan.time, heads * value]);
    b.push(Op::Scan(Scan { layout: step_layout, shape: scan, form: shape.form, steps, initial: None, o, last: None }));
    scans.push(ScanLayer { layer: shell.layer, inputs: packed, steps });
    o
}

/// Sorting key: query, key and value first, then gates by bias, then the rest.
fn gate_bias(source: &Source) -> f32 {
    match source {
        Source::Query | Source::Key | Source::Value => f32::NEG_INFINITY,
        Source::Gate { bias } => *bias,
        _ => f32::INFINITY,
    }
}

/// Records one operation for each run of gates with the same bias.
fn gates(shell: &Shell, b: &mut PlanBuilder, projected: TensorId, declared: &[Columns], packed: TensorId) {
    let all = declared.iter().filter_map(|columns| match *columns {
        Columns::Gate { bias, part, at } => Some((bias, part, at)),
        _ => None,
    });
    let all: Vec<_> = all.collect();
    for (group, same) in all.chunk_by(|a, b| a.0 == b.0).enumerate() {
        let (bias, _, (offset, _)) = same[0];
        let width = same.iter().map(|(_, _, at)| at.1).sum();
        let learn = Learn { init: Init::Constant(bias), rate: 1.0, weight_decay: false };
        let bias = b.learned(shell.name(&format!("gates{group}.bias")), &[width], learn);
        let parts = same.iter().map(|(_, part, _)| *part).collect();
        b.push(Op::Gates(Gates { x: b.columns(projected, offset, width), bias, parts, heads: shell.shape.heads, y: packed }));
    }
}

fn decay(shell: &Shell, b: &mut PlanBuilder, x: View, width: usize, slot: usize, packed: TensorId) {
    let heads = shell.shape.heads;
    let x = if width == 1 {
        x
    } else {
        let weight = b.parameter(shell.name("decay.up"), &[heads * width, x.width], Init::Normal(PROJECTION));
        let up = b.activation(shell.name("decay"), &[shell.shape.rows(), heads * width]);
        b.push(Op::Linear(Linear { x, weight, bias: None, residual: None, blocks: 1, y: up }));
        b.whole(up)
    };
    let undecayed = |init| Learn { init, rate: 1.0, weight_decay: false };
    let log_rate = b.learned(shell.name("decay.log_rate"), &[heads], undecayed(Init::LogRate));
    let bias = b.learned(shell.name("decay.bias"), &[heads * width], undecayed(Init::StepBias));
    b.push(Op::Decay(Decay { x, log_rate, bias, form: shell.shape.decay, width, slot, heads, y: packed }));
}

fn direction(shell: &Shell, b: &mut PlanBuilder, x: View, rank: usize, slot: usize, packed: TensorId) {
    let (heads, width) = (shell.shape.heads, shell.shape.key);
    // each head has its own low rank (EDA 2606.26560, section 3)
    let weight = b.parameter(shell.name(&format!("direction{slot}.up")), &[heads * width, rank], Init::Normal(PROJECTION));
    let up = b.activation(shell.name(&format!("direction{slot}")), &[shell.shape.rows(), heads * width]);
    b.push(Op::Linear(Linear { x, weight, bias: None, residual: None, blocks: heads, y: up }));
    b.push(Op::Unit(Unit { x: b.whole(up), width, slot, heads, y: packed }));
}

/// One tensor per head-scope input: learned, or fixed at random.
fn head_inputs(shell: &Shell, b: &mut PlanBuilder, width_of: impl Fn(Kind) -> usize) -> Vec<TensorId> {
    let shape = shell.shape;
    let head_scope = shape.rule.inputs().iter().filter(|input| input.scope == Scope::Head);
    let tensor = head_scope.map(|input| {
        let width = width_of(input.kind);
        let role = match input.source {
            Source::Parameter { init, rate, weight_decay } => Role::Parameter(Learn { init: Init::Constant(init), rate, weight_decay }),
            _ => Role::Constant(Init::UnitRows(width)),
        };
        b.tensor(shell.name(&input.name), &[shape.heads, width], role)
    });
    tensor.collect()
}
