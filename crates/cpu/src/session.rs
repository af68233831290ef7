//! A plan on the CPU: its buffers, and running its lists.

use crate::buffers::Buffers;
use crate::check::{Bounds, check};
use crate::memory::Memory;
use crate::run::{Work, backward, forward};
use crate::scan::trace::trace;
use crate::{Real, adamw};
use palimpsest_plan::{Adapter, AdapterKind, BackendError, Op, Plan, Role, Session, StepInput, StepResult, TensorId, Trace, TraceWindow};

/// A plan with all its buffers, in `f32` or (for checks) `f64`. Numbers cross the [`Session`] trait as `f32`.
///
/// One thread, no allocation per step, the same bits for the same inputs. NaN is data: a step that meets it reports a loss of NaN.
pub struct CpuSession<F: Real = f32> {
    adapter: Adapter,
    plan: Plan,
    buffers: Buffers<F>,
    work: Work<F>,
    bounds: Bounds,
    moments: Vec<Moments<F>>,
    loss: Option<TensorId>,
    pending: Vec<StepResult>,
}

/// The optimiser's memory of one parameter.
struct Moments<F> {
    parameter: TensorId,
    first: Vec<F>,
    second: Vec<F>,
    scale: f32,
    decays: bool,
}

/// This processor, as sessions name it.
pub fn adapter() -> Adapter {
    Adapter { kind: AdapterKind::Cpu, name: "CPU".into(), interface: "one thread".into() }
}

fn input<T>(message: String) -> Result<T, BackendError> {
    Err(BackendError::Input(message))
}

impl<F: Real> CpuSession<F> {
    /// Allocates every buffer of a plan; all numbers are zero.
    ///
    /// # Errors
    /// [`BackendError::Input`] when a tensor does not have the size that an operation needs, [`BackendError::Memory`] when there
    /// is not enough memory.
    pub fn new(plan: Plan) -> Result<Self, BackendError> {
        let bounds = check(&plan)?;
        let memory = Memory::of::<F>(&plan)?;
        let buffers = Buffers::new(&plan, memory)?;
        let work = Work::new(&plan, &buffers, memory)?;
        let moments = plan.parameters().map(|(parameter, tensor, learn)| {
            let (first, second) = (memory.filled(tensor.len(), F::zero())?, memory.filled(tensor.len(), F::zero())?);
            Ok(Moments { parameter, first, second, scale: learn.rate, decays: learn.weight_decay })
        });
        let moments = moments.collect::<Result<_, BackendError>>()?;
        let loss = plan.forward.iter().find_map(|op| if let Op::CrossEntropy(op) = op { Some(op.loss) } else { None });
        Ok(CpuSession { adapter: adapter(), plan, buffers, work, bounds, moments, loss, pending: Vec::new() })
    }

    /// The plan that runs.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Numbers of a parameter, constant or activation, at full precision.
    pub fn values(&self, tensor: TensorId) -> Result<&[F], BackendError> {
        self.named(tensor, "numbers", |role| !matches!(role, Role::Batch | Role::Answer))?;
        Ok(self.buffers.value(tensor))
    }

    /// The same, to write.
    pub fn values_mut(&mut self, tensor: TensorId) -> Result<&mut [F], BackendError> {
        self.named(tensor, "numbers", |role| !matches!(role, Role::Batch | Role::Answer))?;
        Ok(self.buffers.value_mut(tensor))
    }

    /// Gradient of a parameter or activation, at full precision.
    pub fn gradients(&self, tensor: TensorId) -> Result<&[F], BackendError> {
        let name = self.named(tensor, "a gradient", |_| true)?;
        match self.buffers.gradient(tensor) {
            [] => input(format!("tensor '{name}' has no gradient in this plan")),
            gradient => Ok(gradient),
        }
    }

    /// The same, to write.
    pub fn gradients_mut(&mut self, tensor: TensorId) -> Result<&mut [F], BackendError> {
        self.gradients(tensor)?;
        Ok(self.buffers.gradient_mut(tensor))
    }

    /// The tensor's name, if it is one of this plan that can do this.
    fn named(&self, tensor: TensorId, what: &str, fits: impl Fn(&Role) -> bool) -> Result<&str, BackendError> {
        match self.plan.tensors.get(tensor.0) {
            Some(found) if fits(&found.role) => Ok(&found.name),
            Some(found) => input(format!("tensor '{}' does not take {what}", found.name)),
            None => input(format!("the plan has {} tensors, none with index {}", self.plan.tensors.len(), tensor.0)),
        }
    }

    fn check_batch(&self, batch: &[(TensorId, Vec<u32>)]) -> Result<(), BackendError> {
        for (id, values) in batch {
            let name = self.named(*id, "a batch", |role| *role == Role::Batch)?;
            let len = self.plan.tensor(*id).len();
            if values.len() != len {
                return input(format!("tensor '{name}' takes {len} values, not {}", values.len()));
            }
            let Some(bound) = self.bounds[id.0] else { continue };
            if let Some((at, value)) = values.iter().enumerate().find(|(_, value)| **value >= bound) {
                return input(format!("tensor '{name}' has {value} at {at}; its values must be below {bound}"));
            }
        }
        Ok(())
    }

    fn check_step(&self, step: &StepInput) -> Result<(), BackendError> {
        if step.step == 0 {
            return input("steps count from 1, not 0".into());
        }
        self.check_batch(&step.batch)?;
        let missing = |(index, tensor): &(usize, &palimpsest_plan::Tensor)| {
            tensor.role == Role::Batch && !step.batch.iter().any(|(id, _)| id.0 == *index)
        };
        match self.plan.tensors.iter().enumerate().find(missing) {
            Some((_, tensor)) => input(format!("step {} lacks batch tensor '{}'", step.step, tensor.name)),
            None => Ok(()),
        }
    }

    fn load(&mut self, batch: &[(TensorId, Vec<u32>)]) {
        for (id, values) in batch {
            self.buffers.integers_mut(*id).copy_from_slice(values);
        }
    }

    /// Runs the forward list on what the buffers hold.
    pub fn run_forward(&mut self) {
        for (index, op) in self.plan.forward.iter().enumerate() {
            forward(op, index, &mut self.buffers, &mut self.work);
        }
    }

    /// Runs the backward list from what the last forward pass left.
    pub fn run_backward(&mut self) {
        for step in &self.plan.backward {
            backward(&self.plan.forward[step.op], step.op, &mut self.buffers, &mut self.work);
        }
    }

    /// Clips and applies the gradients; gives their norm before clipping.
    fn update(&mut self, rate: f32, step: u32) -> f64 {
        let square: f64 = self.moments.iter().map(|moments| adamw::square_sum(self.buffers.gradient(moments.parameter))).sum();
        let norm = square.sqrt();
        let update = adamw::Step::new(self.plan.optimizer, rate, step, norm);
        for Moments { parameter, first, second, scale, decays } in &mut self.moments {
            let (values, gradient) = self.buffers.parameter(*parameter);
            update.apply(values, gradient, first, second, *scale, *decays);
        }
        norm
    }
}

/// Copies `f32` numbers in, converting.
fn fill<F: Real>(target: &mut [F], values: &[f32]) {
    target.iter_mut().zip(values).for_each(|(target, &value)| *target = F::of(f64::from(value)));
}

fn singles<F: Real>(values: &[F]) -> Vec<f32> {
    values.iter().map(|value| value.single()).collect()
}

impl<F: Real> Session for CpuSession<F> {
    fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    fn set_parameters(&mut self, packed: &[f32]) -> Result<(), BackendError> {
        let len = self.plan.parameter_len();
        if packed.len() != len {
            return input(format!("this plan packs its parameters in {len} numbers, not {}", packed.len()));
        }
        for Moments { parameter, first, second, .. } in &mut self.moments {
            let Some(offset) = self.plan.parameter_offset(*parameter) else { continue };
            fill(self.buffers.value_mut(*parameter), &packed[offset..]);
            first.fill(F::zero());
            second.fill(F::zero());
        }
        Ok(())
    }

    fn write(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        let name = self.named(tensor, "numbers from outside", |role| matches!(role, Role::Constant(_) | Role::Activation))?;
        let len = self.plan.tensor(tensor).len();
        if values.len() != len {
            return input(format!("tensor '{name}' takes {len} numbers, not {}", values.len()));
        }
        fill(self.buffers.value_mut(tensor), values);
        Ok(())
    }

    fn write_gradient(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        let len = self.gradients(tensor)?.len();
        if values.len() != len {
            return input(format!("the gradient of '{}' takes {len} numbers, not {}", self.plan.tensor(tensor).name, values.len()));
        }
        fill(self.buffers.gradient_mut(tensor), values);
        Ok(())
    }

    async fn parameters(&mut self) -> Result<Vec<f32>, BackendError> {
        let mut packed = vec![0.0; self.plan.parameter_len()];
        for moments in &self.moments {
            let Some(offset) = self.plan.parameter_offset(moments.parameter) else { continue };
            for (packed, value) in packed[offset..].iter_mut().zip(self.buffers.value(moments.parameter)) {
                *packed = value.single();
            }
        }
        Ok(packed)
    }

    fn train(&mut self, steps: &[StepInput]) -> Result<(), BackendError> {
        let (Some(loss), false) = (self.loss, self.plan.backward.is_empty()) else {
            return input("this plan does not train: it has no loss or no backward list".into());
        };
        steps.iter().try_for_each(|step| self.check_step(step))?;
        for step in steps {
            self.load(&step.batch);
            self.run_forward();
            self.run_backward();
            let norm = self.update(step.rate, step.step);
            let loss = self.buffers.value(loss)[0].single();
            self.pending.push(StepResult { step: step.step, loss, gradient_norm: norm as f32 });
        }
        Ok(())
    }

    async fn results(&mut self) -> Result<Vec<StepResult>, BackendError> {
        Ok(std::mem::take(&mut self.pending))
    }

    fn forward(&mut self, batch: &[(TensorId, Vec<u32>)]) -> Result<(), BackendError> {
        self.check_batch(batch)?;
        self.load(batch);
        self.run_forward();
        Ok(())
    }

    fn backward(&mut self) -> Result<(), BackendError> {
        if self.plan.backward.is_empty() {
            return input("this plan only runs forward".into());
        }
        self.run_backward();
        Ok(())
    }

    async fn read_gradient(&mut self, tensor: TensorId) -> Result<Vec<f32>, BackendError> {
        self.gradients(tensor).map(singles)
    }

    async fn read(&mut self, tensor: TensorId) -> Result<Vec<f32>, BackendError> {
        self.values(tensor).map(singles)
    }

    async fn read_range(&mut self, tensor: TensorId, range: std::ops::Range<usize>) -> Result<Vec<f32>, BackendError> {
        let all = self.values(tensor)?;
        match all.get(range.clone()) {
            Some(values) => Ok(singles(values)),
            None => input(format!("elements {range:?} of '{}', which has {}", self.plan.tensor(tensor).name, all.len())),
        }
    }

    async fn read_answers(&mut self, tensor: TensorId) -> Result<Vec<u32>, BackendError> {
        self.named(tensor, "answers", |role| *role == Role::Answer)?;
        Ok(self.buffers.integers(tensor).to_vec())
    }

    async fn trace(&mut self, window: TraceWindow) -> Result<Trace, BackendError> {
        let TraceWindow { scan, row, head, tokens } = window;
        let mut scans = self.plan.forward.iter().filter_map(|op| if let Op::Scan(op) = op { Some(op) } else { None });
        let count = scans.clone().count();
        let Some(op) = scans.nth(scan) else {
            return input(format!("the plan has {count} scans, none with index {scan}"));
        };
        let shape = op.shape;
        if row >= shape.batch || head >= shape.heads || tokens.start >= shape.time {
            let place = format!("sequence {row}, head {head}, token {}", tokens.start);
            let limits = format!("{} sequences, {} heads, {} tokens", shape.batch, shape.heads, shape.time);
            return input(format!("{place} is outside the scan, which has {limits}"));
        }
        let steps = self.buffers.value(op.steps);
        let initial = op.initial.map(|id| self.buffers.value(id));
        Ok(trace(&op.layout, shape, steps, initial, row * shape.heads + head, tokens, &mut self.work.scan))
    }
}
