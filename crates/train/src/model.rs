//! The model as a plan: tied embedding, L blocks of `x + mixer(norm x)` and `x + swiglu(norm x)`, final norm, cross-entropy on labelled rows.

use crate::{ModelShape, mixer};
use palimpsest_plan::{
    AdamW, BatchInput, CrossEntropy, Embed, Gather, Init, Learn, Linear, Op, Plan, PlanBuilder, PlanError, RmsNorm, Role, SwiGlu, TensorId,
};
use palimpsest_tasks::Batch;

/// Standard deviation of embeddings and projections at the start (zoology, fla).
pub(crate) const PROJECTION: f32 = 0.02;

/// One linear-attention layer's tensors, for probes.
#[derive(Clone, Copy, Debug)]
pub struct ScanLayer {
    /// Index among the model's layers.
    pub layer: usize,
    /// Packed rule inputs `[B, T, H, input stride]`.
    pub inputs: TensorId,
    /// Packed steps `[B, T, H, step stride]`.
    pub steps: TensorId,
}

/// A plan with the names the trainer needs.
#[derive(Clone, Debug)]
pub struct Model {
    /// Sizes.
    pub shape: ModelShape,
    /// Tensors and operations.
    pub plan: Plan,
    /// `[N]` token ids.
    pub tokens: TensorId,
    /// `[B labels]` rows that have a label.
    pub rows: TensorId,
    /// `[B labels]` right answers.
    pub targets: TensorId,
    /// `[1]` mean loss in nats.
    pub loss: TensorId,
    /// `[B labels]` the model's answers.
    pub answers: TensorId,
    /// Linear-attention layers in order; index = the scan's index in [`palimpsest_plan::Session::trace`].
    pub scans: Vec<ScanLayer>,
}

impl Model {
    /// Records a model that trains.
    pub fn record(shape: ModelShape, optimizer: AdamW) -> Result<Model, PlanError> {
        let mut builder = PlanBuilder::new();
        let names = record(&shape, &mut builder);
        Ok(names.with(shape, builder.finish(optimizer)?))
    }

    /// Records a model that only answers. It has the same parameters at the same offsets, at any batch and length.
    pub fn record_forward(shape: ModelShape) -> Result<Model, PlanError> {
        let mut builder = PlanBuilder::new();
        let names = record(&shape, &mut builder);
        Ok(names.with(shape, builder.finish_forward()?))
    }

    /// A batch as the plan takes it.
    pub fn input(&self, batch: Batch) -> BatchInput {
        vec![(self.tokens, batch.tokens), (self.rows, batch.rows), (self.targets, batch.targets)]
    }
}

struct Names {
    tokens: TensorId,
    rows: TensorId,
    targets: TensorId,
    loss: TensorId,
    answers: TensorId,
    scans: Vec<ScanLayer>,
}

impl Names {
    fn with(self, shape: ModelShape, plan: Plan) -> Model {
        let Names { tokens, rows, targets, loss, answers, scans } = self;
        Model { shape, plan, tokens, rows, targets, loss, answers, scans }
    }
}

fn record(shape: &ModelShape, b: &mut PlanBuilder) -> Names {
    let (n, d, labels) = (shape.rows(), shape.width, shape.batch * shape.labels);
    let tokens = b.tensor("tokens", &[n], Role::Batch);
    let rows = b.tensor("rows", &[labels], Role::Batch);
    let targets = b.tensor("targets", &[labels], Role::Batch);
    let table = b.parameter("embedding", &[shape.vocabulary, d], Init::Normal(PROJECTION));
    let mut x = b.activation("embedded", &[n, d]);
    b.push(Op::Embed(Embed { tokens, table, y: x }));
    let mut scans = Vec::new();
    for layer in 0..shape.layers {
        let h = norm(b, &format!("layer{layer}.mixer_norm"), x, &[n, d]);
        x = mixer::record(shape, b, layer, h, x, &mut scans);
        if shape.mlp > 0 {
            let h = norm(b, &format!("layer{layer}.mlp_norm"), x, &[n, d]);
            x = swiglu(shape, b, layer, h, x);
        }
    }
    // Only labelled rows reach the head: the rest have no loss.
    let picked = b.activation("labelled", &[labels, d]);
    b.push(Op::Gather(Gather { x, rows, y: picked }));
    let h = norm(b, "final_norm", picked, &[labels, d]);
    let logits = b.activation("logits", &[labels, shape.vocabulary]);
    b.push(Op::Linear(Linear { x: b.whole(h), weight: table, bias: None, residual: None, blocks: 1, y: logits }));
    let loss = b.activation("loss", &[1]);
    let answers = b.tensor("answers", &[labels], Role::Answer);
    b.push(Op::CrossEntropy(CrossEntropy { logits, targets, loss, answers }));
    Names { tokens, rows, targets, loss, answers, scans }
}

fn norm(b: &mut PlanBuilder, name: &str, x: TensorId, shape: &[usize]) -> TensorId {
    let width = shape.last().copied().unwrap_or(1);
    let weight = b.learned(format!("{name}.weight"), &[width], Learn { init: Init::Constant(1.0), rate: 1.0, weight_decay: false });
    let y = b.activation(format!("{name}.out"), shape);
    b.push(Op::RmsNorm(RmsNorm { x, weight, y }));
    y
}

/// Scale of the projections that write to the residual stream: `1 / sqrt(2 L)` keeps its variance at the start (GPT-2, zoology).
pub(crate) fn residual_init(layers: usize) -> Init {
    Init::Normal(PROJECTION / (2.0 * layers as f32).sqrt())
}

fn swiglu(shape: &ModelShape, b: &mut PlanBuilder, layer: usize, h: TensorId, residual: TensorId) -> TensorId {
    let (n, d, hidden) = (shape.rows(), shape.width, shape.mlp * shape.width);
    let name = |part: &str| format!("layer{layer}.mlp.{part}");
    let weight = b.parameter(name("in.weight"), &[2 * hidden, d], Init::Normal(PROJECTION));
    let wide = b.activation(name("in"), &[n, 2 * hidden]);
    b.push(Op::Linear(Linear { x: b.whole(h), weight, bias: None, residual: None, blocks: 1, y: wide }));
    let gated = b.activation(name("gated"), &[n, hidden]);
    b.push(Op::SwiGlu(SwiGlu { x: wide, y: gated }));
    let weight = b.parameter(name("out.weight"), &[d, hidden], residual_init(shape.layers));
    let y = b.activation(name("out"), &[n, d]);
    b.push(Op::Linear(Linear { x: b.whole(gated), weight, bias: None, residual: Some(residual), blocks: 1, y }));
    y
}
