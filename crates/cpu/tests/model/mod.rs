//! A language model around any rule, as a plan: what the whole-model tests and the timing example run.

#![allow(dead_code, unreachable_pub, reason = "each test uses what it needs")]

use palimpsest_plan::{
    AdamW, Attention, ConvPart, CrossEntropy, Decay, DecayForm, Embed, GatePart, GatedNorm, Gates, Gather, Init, Learn, Linear, Op, Plan,
    PlanBuilder, RmsNorm, Role, RuleMap, Scan, ScanForm, ScanShape, ShortConv, SwiGlu, TensorId, Unit,
};
use palimpsest_rules::{Kind, Rule, Scope, Source, rules};

/// Sizes of a model.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub shape: ScanShape,
    pub width: usize,
    pub layers: usize,
    pub vocab: usize,
    /// Hidden size of the MLP.
    pub hidden: usize,
    /// Labelled positions.
    pub labels: usize,
    pub form: ScanForm,
    pub decay: DecayForm,
    /// Replace the last layer's mixer by softmax attention.
    pub hybrid: bool,
}

/// Two recurrent layers of sizes that no kernel likes.
pub const SMALL: Sizes = Sizes {
    shape: ScanShape { batch: 2, time: 21, heads: 2, key: 8, value: 4 },
    width: 12,
    layers: 2,
    vocab: 17,
    hidden: 10,
    labels: 9,
    form: ScanForm::Recurrent,
    decay: DecayForm::Exponential,
    hybrid: false,
};

/// Only the first of them.
pub const ONE_LAYER: Sizes = Sizes { layers: 1, ..SMALL };

/// The other form and decay, and full attention in the last layer.
pub const HYBRID: Sizes = Sizes { form: ScanForm::Chunked(8), decay: DecayForm::Safe, hybrid: true, ..SMALL };

/// A rule where any will do.
pub fn some_rule() -> &'static Rule {
    rules().last().expect("there is a rule")
}

/// A plan and its batch tensors.
pub struct Model {
    pub plan: Plan,
    pub tokens: TensorId,
    pub rows: TensorId,
    pub targets: TensorId,
    pub answers: TensorId,
    pub loss: TensorId,
}

struct Recorder {
    b: PlanBuilder,
    sizes: Sizes,
    n: usize,
    layer: usize,
}

impl Recorder {
    fn name(&self, name: &str) -> String {
        format!("layer{}.{name}", self.layer)
    }

    fn linear(&mut self, name: &str, x: TensorId, inputs: usize, outputs: usize, residual: Option<TensorId>) -> TensorId {
        let weight = self.b.parameter(self.name(&format!("{name}.weight")), &[outputs, inputs], Init::Normal((inputs as f32).powf(-0.5)));
        let y = self.b.activation(self.name(&format!("{name}.out")), &[self.n, outputs]);
        let x = self.b.whole(x);
        self.b.push(Op::Linear(Linear { x, weight, bias: None, residual, blocks: 1, y }));
        y
    }

    fn norm(&mut self, name: &str, x: TensorId) -> TensorId {
        let d = self.sizes.width;
        let weight = self.b.parameter(self.name(&format!("{name}.weight")), &[d], Init::Constant(1.0));
        let y = self.b.activation(self.name(name), &[self.n, d]);
        self.b.push(Op::RmsNorm(RmsNorm { x, weight, y }));
        y
    }

    fn conv(&mut self, x: TensorId, parts: Vec<ConvPart>, y: TensorId) {
        let ScanShape { heads, time, .. } = self.sizes.shape;
        let columns = heads * parts.iter().map(|part| part.width).sum::<usize>();
        let taps = self.b.parameter(self.name("conv"), &[columns, 4], Init::Uniform(0.5));
        let x = self.b.whole(x);
        self.b.push(Op::ShortConv(ShortConv { x, taps: Some(taps), parts, heads, time, y }));
    }

    /// Projections of everything the rule asks for, its map, and the scan.
    fn memory(&mut self, rule: &Rule, x: TensorId) -> TensorId {
        let shape = self.sizes.shape;
        let ScanShape { heads, key, value, .. } = shape;
        let layout = rule.input_layout(key, value);
        let inputs = self.b.activation(self.name("inputs"), &[self.n, heads, layout.stride]);
        let width = |kind: Kind| kind.width(key, value);
        let part = |index: usize, unit: bool| ConvPart { width: width(rule.inputs()[index].kind), slot: layout.slot(index), unit };
        let projected = self.linear("in", x, self.sizes.width, heads * (2 * key + value), None);
        self.conv(projected, vec![part(0, true), part(1, true), part(2, false)], inputs);
        let mut gates = Vec::new();
        let mut head_tensors = Vec::new();
        for (index, input) in rule.inputs().iter().enumerate().skip(3) {
            let (columns, slot) = (width(input.kind), if input.scope == Scope::Token { layout.slot(index) } else { 0 });
            let name = &input.name;
            match &input.source {
                Source::Gate { .. } => gates.push(GatePart { width: columns, slot }),
                Source::Decay => {
                    let projected = self.linear(name, x, self.sizes.width, heads * columns, None);
                    let learn = |init| Learn { init, rate: 1.0, weight_decay: false };
                    let log_rate = self.b.learned(self.name(&format!("{name}.log_rate")), &[heads], learn(Init::LogRate));
                    let bias = self.b.learned(self.name(&format!("{name}.bias")), &[heads * columns], learn(Init::StepBias));
                    let (x, form) = (self.b.whole(projected), self.sizes.decay);
                    self.b.push(Op::Decay(Decay { x, log_rate, bias, form, width: columns, slot, heads, y: inputs }));
                }
                Source::Direction { .. } => {
                    let projected = self.linear(name, x, self.sizes.width, heads * columns, None);
                    let x = self.b.whole(projected);
                    self.b.push(Op::Unit(Unit { x, width: columns, slot, heads, y: inputs }));
                }
                Source::Parameter { init, rate, weight_decay } => {
                    let learn = Learn { init: Init::Constant(*init), rate: *rate, weight_decay: *weight_decay };
                    head_tensors.push(self.b.learned(self.name(name), &[heads, columns], learn));
                }
                Source::Fixed => {
                    head_tensors.push(self.b.tensor(self.name(name), &[heads, columns], Role::Constant(Init::UnitRows(columns))));
                }
                other => panic!("input '{name}' comes from {other:?}, which a layer cannot build"),
            }
        }
        if !gates.is_empty() {
            let columns = heads * gates.iter().map(|gate| gate.width).sum::<usize>();
            let projected = self.linear("gates", x, self.sizes.width, columns, None);
            let bias = self.b.parameter(self.name("gates.bias"), &[columns], Init::Constant(0.0));
            let x = self.b.whole(projected);
            self.b.push(Op::Gates(Gates { x, bias, parts: gates, heads, y: inputs }));
        }
        let layout = rule.step_layout(key, value);
        let steps = self.b.activation(self.name("steps"), &[self.n, heads, layout.stride]);
        self.b.push(Op::RuleMap(RuleMap { rule: rule.clone(), shape, inputs, heads: head_tensors, steps }));
        let o = self.b.activation(self.name("o"), &[self.n, heads * value]);
        self.b.push(Op::Scan(Scan { layout, shape, form: self.sizes.form, steps, initial: None, o, last: None }));
        o
    }

    fn attention(&mut self, x: TensorId) -> TensorId {
        let shape = self.sizes.shape;
        let ScanShape { heads, key, value, .. } = shape;
        let packed = self.b.activation(self.name("qkv"), &[self.n, heads, 2 * key + value]);
        let projected = self.linear("in", x, self.sizes.width, heads * (2 * key + value), None);
        let part = |width, slot| ConvPart { width, slot, unit: false };
        self.conv(projected, vec![part(key, 0), part(key, key), part(value, 2 * key)], packed);
        let o = self.b.activation(self.name("o"), &[self.n, heads * value]);
        self.b.push(Op::Attention(Attention { shape, x: packed, o }));
        o
    }

    fn block(&mut self, rule: &Rule, stream: TensorId, attends: bool) -> TensorId {
        let Sizes { shape, width, hidden, .. } = self.sizes;
        let columns = shape.heads * shape.value;
        let x = self.norm("norm", stream);
        let o = if attends { self.attention(x) } else { self.memory(rule, x) };
        let gate = self.linear("gate", x, width, columns, None);
        let weight = self.b.parameter(self.name("onorm.weight"), &[shape.value], Init::Constant(1.0));
        let y = self.b.activation(self.name("gated"), &[self.n, columns]);
        let gate = Some(self.b.whole(gate));
        self.b.push(Op::GatedNorm(GatedNorm { o, weight, gate, heads: shape.heads, y }));
        let stream = self.linear("out", y, columns, width, Some(stream));
        let x = self.norm("mlp.norm", stream);
        let up = self.linear("mlp.up", x, width, 2 * hidden, None);
        let y = self.b.activation(self.name("mlp.hidden"), &[self.n, hidden]);
        self.b.push(Op::SwiGlu(SwiGlu { x: up, y }));
        self.linear("mlp.down", y, hidden, width, Some(stream))
    }
}

/// Records the model.
pub fn model(rule: &Rule, sizes: Sizes, optimizer: AdamW) -> Model {
    let n = sizes.shape.batch * sizes.shape.time;
    let d = sizes.width;
    let mut r = Recorder { b: PlanBuilder::new(), sizes, n, layer: 0 };
    let tokens = r.b.tensor("tokens", &[n], Role::Batch);
    let rows = r.b.tensor("rows", &[sizes.labels], Role::Batch);
    let targets = r.b.tensor("targets", &[sizes.labels], Role::Batch);
    let answers = r.b.tensor("answers", &[sizes.labels], Role::Answer);
    let table = r.b.parameter("embed", &[sizes.vocab, d], Init::Normal(0.02f32.max((d as f32).powf(-0.5))));
    let mut stream = r.b.activation("embedded", &[n, d]);
    r.b.push(Op::Embed(Embed { tokens, table, y: stream }));
    for layer in 0..sizes.layers {
        r.layer = layer;
        stream = r.block(rule, stream, sizes.hybrid && layer + 1 == sizes.layers);
    }
    let last = r.norm("final", stream);
    let labelled = r.b.activation("labelled", &[sizes.labels, d]);
    r.b.push(Op::Gather(Gather { x: last, rows, y: labelled }));
    let logits = r.b.activation("logits", &[sizes.labels, sizes.vocab]);
    let x = r.b.whole(labelled);
    r.b.push(Op::Linear(Linear { x, weight: table, bias: None, residual: None, blocks: 1, y: logits }));
    let loss = r.b.activation("loss", &[1]);
    r.b.push(Op::CrossEntropy(CrossEntropy { logits, targets, loss, answers }));
    let plan = r.b.finish(optimizer).expect("the recorded model is a plan");
    Model { plan, tokens, rows, targets, answers, loss }
}

impl Model {
    /// A batch drawn from a seed.
    pub fn batch(&self, seed: u64) -> Vec<(TensorId, Vec<u32>)> {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        let len = |id: TensorId| self.plan.tensor(id).len();
        let vocab = self.plan.tensors.iter().find(|tensor| tensor.name == "embed").map_or(1, |tensor| tensor.shape[0]) as u32;
        let (n, labels) = (len(self.tokens), len(self.rows));
        let tokens = (0..n).map(|_| rng.random_range(0..vocab)).collect();
        let rows = (0..labels).map(|i| (i * n / labels + n / labels / 2) as u32).collect();
        let targets = (0..labels).map(|_| rng.random_range(0..vocab)).collect();
        vec![(self.tokens, tokens), (self.rows, rows), (self.targets, targets)]
    }
}
