//! One rule's scan at one size.

use crate::BenchError;
use crate::count::{Count, backward, forward};
use crate::sampling::{Effort, Times, measure};
use palimpsest_gpu::GpuSession;
use palimpsest_plan::{AdamW, AdapterKind, Op, Plan, PlanBuilder, PlanError, Role, Scan, ScanForm, ScanShape, Session, TensorId};
use palimpsest_protocol::{BenchCase, BenchRow, Pass, Rates};
use palimpsest_rules::{Rule, rules};
use palimpsest_spec::{Form, Settings};
use palimpsest_train::{AnySession, Engine, form_run};

/// Most floats of one tensor: kernels count in 32 bits.
const TENSOR: u128 = 1 << 30;
/// Most floats of all tensors on the CPU: half a gigabyte, which a page can still get.
const PROCESSOR: u128 = 1 << 27;

/// Rules, forms, lengths and passes to go through, and the sizes that stay.
#[derive(Clone, Debug)]
pub struct ScanChoice {
    /// In this order.
    pub rules: Vec<&'static Rule>,
    /// Recurrent, chunked or both.
    pub forms: Vec<ScanForm>,
    /// T.
    pub lengths: Vec<usize>,
    /// [`Pass::Forward`], [`Pass::ForwardBackward`] or both.
    pub passes: Vec<Pass>,
    /// B, H, K, V; T is replaced by each length.
    pub shape: ScanShape,
}

impl ScanChoice {
    /// What settings say: their rules in turn (all when none is chosen), their form (both when it is left open), their lengths,
    /// forward and with the gradient, at the sizes of the model.
    pub fn from_settings(settings: &Settings) -> ScanChoice {
        let chosen = settings.rules_in_turn();
        let chunked = ScanForm::Chunked(settings.chunk());
        let forms = match settings.form() {
            Form::Auto => vec![ScanForm::Recurrent, chunked],
            Form::Recurrent => vec![ScanForm::Recurrent],
            Form::Chunked => vec![chunked],
        };
        let (heads, key, value) = (settings.heads(), settings.key(), settings.value());
        ScanChoice {
            rules: if chosen.is_empty() { rules().iter().collect() } else { chosen },
            forms,
            lengths: settings.lengths(),
            passes: vec![Pass::Forward, Pass::ForwardBackward],
            shape: ScanShape { batch: settings.batch(), time: 0, heads, key, value },
        }
    }

    /// All cases, rule by rule, each in the form that the backend runs; forms that are one there come once.
    pub fn cases(&self, kind: AdapterKind) -> Vec<ScanCase> {
        let mut forms = Vec::new();
        for form in self.forms.iter().map(|&form| form_run(form, kind)) {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        let mut cases = Vec::new();
        for &rule in &self.rules {
            for &form in &forms {
                for &time in &self.lengths {
                    let shape = ScanShape { time, ..self.shape };
                    cases.extend(self.passes.iter().map(|&pass| ScanCase { rule, form, pass, shape }));
                }
            }
        }
        cases
    }
}

/// A scan to time.
#[derive(Clone, Copy, Debug)]
pub struct ScanCase {
    /// Whose steps.
    pub rule: &'static Rule,
    /// Recurrent or chunked.
    pub form: ScanForm,
    /// [`Pass::Forward`] or [`Pass::ForwardBackward`].
    pub pass: Pass,
    /// B, T, H, K, V.
    pub shape: ScanShape,
}

/// `recurrent` or `chunked`.
pub fn form_name(form: ScanForm) -> &'static str {
    match form {
        ScanForm::Recurrent => "recurrent",
        ScanForm::Chunked(_) => "chunked",
    }
}

/// The case of a scan or of a model's scans, for reports.
pub(crate) fn case(rule: &Rule, form: ScanForm, pass: Pass, shape: ScanShape) -> BenchCase {
    let chunk = if let ScanForm::Chunked(tokens) = form { Some(tokens as u32) } else { None };
    let [batch, time, heads, key, value] = [shape.batch, shape.time, shape.heads, shape.key, shape.value].map(|size| size as u32);
    BenchCase { rule: rule.slug().to_owned(), form: form_name(form).to_owned(), chunk, pass, batch, time, heads, key, value }
}

impl ScanCase {
    /// For reports.
    pub fn case(&self) -> BenchCase {
        case(self.rule, self.form, self.pass, self.shape)
    }

    /// Whether the case can run on a device. Allocates nothing there.
    ///
    /// # Errors
    /// [`BenchError::Shape`] with one line that names the case.
    pub fn check(&self, engine: &Engine) -> Result<(), BenchError> {
        self.fits(engine).map_err(|reason| {
            let ScanShape { batch, time, heads, key, value } = self.shape;
            let sizes = format!("B {batch}, T {time}, H {heads}, K {key}, V {value}");
            BenchError::Shape { case: format!("{} {} scan at {sizes}", form_name(self.form), self.rule.slug()), reason }
        })
    }

    fn fits(&self, engine: &Engine) -> Result<(), String> {
        let ScanShape { batch, time, heads, key, value } = self.shape;
        if let Some(zero) = [("B", batch), ("T", time), ("H", heads)].into_iter().find(|(_, size)| *size == 0) {
            return Err(format!("{} is 0; it must be 1 or more", zero.0));
        }
        let odd = |size: usize| !(4..=128).contains(&size) || !size.is_multiple_of(4);
        if let Some((name, size)) = [("K", key), ("V", value)].into_iter().find(|(_, size)| odd(*size)) {
            return Err(format!("{name} is {size}; it must be a multiple of 4 from 4 to 128"));
        }
        let (largest, all) = self.floats();
        if largest > TENSOR {
            return Err(format!("a tensor would hold {largest} floats; {TENSOR} are the most"));
        }
        match engine {
            Engine::Cpu if all > PROCESSOR => Err(format!("it needs {all} floats of memory; {PROCESSOR} are the most on the CPU")),
            Engine::Cpu => Ok(()),
            Engine::Gpu(device) => {
                let plan = self.plan().map_err(|error| error.to_string())?.0;
                GpuSession::check(device, plan).map_err(|error| error.to_string())
            }
        }
    }

    /// Floats of the largest tensor, and of all tensors with their gradients. Absurd sizes saturate.
    fn floats(&self) -> (u128, u128) {
        let ScanShape { batch, time, heads, key, value } = self.shape;
        let rows = [batch, time, heads].iter().fold(1u128, |rows, &size| rows.saturating_mul(size as u128));
        let stride = self.rule.step_layout(key, value).stride as u128;
        let passes = if self.pass == Pass::Forward { 1 } else { 2 };
        (rows.saturating_mul(stride), rows.saturating_mul(passes * (stride + value as u128)))
    }

    /// The scan alone, its steps given from outside; the plan and the tensors of steps and reads.
    fn plan(&self) -> Result<(Plan, TensorId, TensorId), PlanError> {
        let ScanShape { batch, time, heads, key, value } = self.shape;
        let layout = self.rule.step_layout(key, value);
        let mut builder = PlanBuilder::new();
        let steps = builder.tensor("steps", &[batch, time, heads, layout.stride], Role::Activation);
        let o = builder.activation("read", &[batch, time, heads, value]);
        builder.push(Op::Scan(Scan { layout, shape: self.shape, form: self.form, steps, initial: None, o, last: None }));
        let plan = if self.pass == Pass::Forward { builder.finish_forward()? } else { builder.finish(AdamW::default())? };
        Ok((plan, steps, o))
    }

    /// Times the case.
    ///
    /// # Errors
    /// As [`ScanCase::check`], or what the device says.
    pub async fn measure(&self, engine: &Engine, rates: Rates, effort: Effort) -> Result<BenchRow, BenchError> {
        self.check(engine)?;
        let (plan, steps, o) = self.plan()?;
        let count = forward(&plan) + backward(&plan);
        let (steps_len, o_len) = (plan.tensor(steps).len(), plan.tensor(o).len());
        let both = self.pass != Pass::Forward;
        let mut session = engine.session(plan).await?;
        // Small and below zero: decays stay decays, and no state grows. Time does not depend on the numbers otherwise.
        let numbers = |len: usize| (0..len).map(|index| -0.01 * ((index * 37 % 101) as f32 / 101.0)).collect::<Vec<f32>>();
        session.write(steps, &numbers(steps_len))?;
        if both {
            session.write_gradient(o, &numbers(o_len))?;
        }
        let times = measure(effort, u32::MAX, async |repeats| passes(&mut session, both, repeats).await).await?;
        let dispatches = if let AnySession::Gpu(session) = &session { session.launches() as u32 } else { 0 };
        let state = (self.shape.heads * self.shape.key * self.shape.value) as u64;
        Ok(row(self.case(), times, dispatches, state, count, rates))
    }
}

async fn passes(session: &mut AnySession, both: bool, repeats: u32) -> Result<Option<f64>, BenchError> {
    match session {
        AnySession::Gpu(session) => Ok(session.time_passes(both, repeats).await?),
        AnySession::Cpu(session) => {
            for _ in 0..repeats {
                session.run_forward();
                if both {
                    session.run_backward();
                }
            }
            Ok(None)
        }
    }
}

/// A row from its times and its count.
pub(crate) fn row(case: BenchCase, times: Times, dispatches: u32, state: u64, count: Count, rates: Rates) -> BenchRow {
    let seconds = times.gpu.unwrap_or(times.wall).median;
    let (bytes_per_second, flops_per_second) = (count.bytes as f64 / seconds, count.flops as f64 / seconds);
    BenchRow {
        nanoseconds_per_token: seconds * 1e9 / f64::from(case.batch * case.time),
        case,
        gpu: times.gpu,
        wall: times.wall,
        samples: times.samples,
        repeats: times.repeats,
        dispatches,
        state,
        bytes: count.bytes,
        flops: count.flops,
        bytes_per_second,
        flops_per_second,
        copy_share: bytes_per_second / rates.copy_bytes_per_second,
        fma_share: flops_per_second / rates.fma_flops_per_second,
    }
}
