//! A golden file as a plan, run on any session.

use crate::golden::{Golden, INITIAL, OUTPUTS};
use crate::{ArrayKind, Report, Tolerance};
use palimpsest_plan::{AdamW, BackendError, Op, Plan, PlanBuilder, PlanError, RuleMap, Scan, ScanForm, Session, TensorId};
use palimpsest_rules::{InputLayout, Scope};

/// The plan that computes a golden file's outputs and gradients: the rule's map, then the scan.
pub struct Verification<'a> {
    golden: &'a Golden,
    plan: Plan,
    layout: InputLayout,
    /// `[B, T, H, input stride]`.
    packed: TensorId,
    /// By head-scope input, in the rule's order.
    heads: Vec<TensorId>,
    initial: TensorId,
    /// In the order of [`OUTPUTS`].
    outputs: [TensorId; 2],
}

/// What a session computed for one array.
#[derive(Clone, Debug)]
pub struct Computed {
    /// Name of the output, or of the input whose gradient it is.
    pub array: String,
    /// Output or gradient.
    pub kind: ArrayKind,
    /// The numbers, in the golden file's order.
    pub values: Vec<f32>,
}

impl<'a> Verification<'a> {
    /// Records the plan.
    pub fn new(golden: &'a Golden, form: ScanForm) -> Result<Verification<'a>, PlanError> {
        let (rule, shape) = (&golden.rule, golden.shape);
        let (layout, step_layout) = (rule.input_layout(shape.key, shape.value), rule.step_layout(shape.key, shape.value));
        let token = [shape.batch, shape.time, shape.heads];
        let state = [shape.batch, shape.heads, shape.key, shape.value];
        let mut plan = PlanBuilder::new();
        let packed = plan.activation("inputs", &[&token[..], &[layout.stride]].concat());
        let heads = rule.inputs().iter().filter(|input| input.scope == Scope::Head);
        let heads: Vec<TensorId> =
            heads.map(|input| plan.activation(input.name.clone(), &[shape.heads, input.kind.width(shape.key, shape.value)])).collect();
        let initial = plan.activation(INITIAL, &state);
        let steps = plan.activation("steps", &[&token[..], &[step_layout.stride]].concat());
        let o = plan.activation(OUTPUTS[0], &[&token[..], &[shape.value]].concat());
        let last = plan.activation(OUTPUTS[1], &state);
        plan.push(Op::RuleMap(RuleMap { rule: rule.clone(), shape, inputs: packed, heads: heads.clone(), steps }));
        plan.push(Op::Scan(Scan { layout: step_layout, shape, form, steps, initial: Some(initial), o, last: Some(last) }));
        let plan = plan.finish(AdamW::default())?;
        Ok(Verification { golden, plan, layout, packed, heads, initial, outputs: [o, last] })
    }

    /// The plan to make a session from.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs forward and backward on a session of [`Self::plan`], and reads every array of the golden file.
    pub async fn run(&self, session: &mut impl Session) -> Result<Vec<Computed>, BackendError> {
        let golden = self.golden;
        session.write(self.packed, &self.pack())?;
        for (input, &tensor) in self.head_names().zip(&self.heads) {
            session.write(tensor, &single(&golden.inputs[input]))?;
        }
        session.write(self.initial, &single(&golden.inputs[INITIAL]))?;
        session.forward(&[])?;
        for (name, tensor) in OUTPUTS.into_iter().zip(self.outputs) {
            session.write_gradient(tensor, &single(&golden.output_grads[name]))?;
        }
        session.backward()?;

        let mut computed = Vec::new();
        let mut keep = |array: &str, kind, values| computed.push(Computed { array: array.to_owned(), kind, values });
        for (name, tensor) in OUTPUTS.into_iter().zip(self.outputs) {
            keep(name, ArrayKind::Output, session.read(tensor).await?);
        }
        let packed = session.read_gradient(self.packed).await?;
        let mut heads = self.heads.iter();
        for (index, input) in golden.rule.inputs().iter().enumerate() {
            let values = match input.scope {
                Scope::Token => self.unpack(&packed, index),
                Scope::Head => match heads.next() {
                    // A fixed input has no gradient to compare.
                    Some(&tensor) if golden.input_grads.contains_key(&input.name) => session.read_gradient(tensor).await?,
                    _ => continue,
                },
            };
            keep(&input.name, ArrayKind::Gradient, values);
        }
        keep(INITIAL, ArrayKind::Gradient, session.read_gradient(self.initial).await?);
        Ok(computed)
    }

    /// Runs on a session of [`Self::plan`] and compares.
    pub async fn check(&self, session: &mut impl Session, tolerance: Tolerance) -> Result<Report, BackendError> {
        Ok(Report::new(self.golden, &self.run(session).await?, tolerance))
    }

    fn head_names(&self) -> impl Iterator<Item = &str> {
        self.golden.rule.inputs().iter().filter(|input| input.scope == Scope::Head).map(|input| input.name.as_str())
    }

    /// Elements of an input per token or head.
    fn width(&self, index: usize) -> usize {
        self.golden.rule.inputs()[index].kind.width(self.golden.shape.key, self.golden.shape.value)
    }

    /// Token-scope inputs as rows `[B, T, H, stride]`.
    fn pack(&self) -> Vec<f32> {
        let mut packed = vec![0.0; self.plan.tensor(self.packed).len()];
        for (index, input) in self.golden.rule.inputs().iter().enumerate().filter(|(_, input)| input.scope == Scope::Token) {
            let (width, values) = (self.width(index), &self.golden.inputs[&input.name]);
            for (row, values) in packed.chunks_exact_mut(self.layout.stride).zip(values.chunks_exact(width)) {
                row[self.layout.slot(index)..][..width].copy_from_slice(&single(values));
            }
        }
        packed
    }

    /// One input's columns of rows `[B, T, H, stride]`.
    fn unpack(&self, packed: &[f32], index: usize) -> Vec<f32> {
        let width = self.width(index);
        packed.chunks_exact(self.layout.stride).flat_map(|row| &row[self.layout.slot(index)..][..width]).copied().collect()
    }
}

fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&x| x as f32).collect()
}
