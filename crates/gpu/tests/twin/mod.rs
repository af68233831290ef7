//! The same plan on the GPU and on the CPU, from the same numbers: every output and every gradient must agree.

#![allow(dead_code, unreachable_pub, reason = "each test uses what it needs")]

use palimpsest_cpu::CpuSession;
use palimpsest_gpu::{Device, GpuSession, Options};
use palimpsest_plan::{AdamW, Init, Op, Plan, PlanBuilder, Role, Session, TensorId, View};
use pollster::block_on;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// What single operations may differ by, relative norm: a few roundings of `f32` and of WGSL's `exp`.
pub const TOLERANCE: f64 = 1e-5;

/// The adapter that the environment asks for, else the fastest; software counts.
pub fn device() -> Device {
    block_on(Device::open(Options::from_env())).expect("an adapter")
}

/// `||found - expected|| / ||expected||`; absolute where the reference is zero.
pub fn error(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let square = |x: f64| x * x;
    let difference: f64 = found.iter().zip(expected).map(|(f, e)| square(f64::from(*f) - f64::from(*e))).sum();
    let norm: f64 = expected.iter().map(|e| square(f64::from(*e))).sum();
    if norm == 0.0 { difference.sqrt() } else { (difference / norm).sqrt() }
}

/// Operands and outputs of some operations under test.
pub struct Case {
    pub b: PlanBuilder,
    inputs: Vec<TensorId>,
    outputs: Vec<TensorId>,
    answers: Vec<TensorId>,
    batch: Vec<(TensorId, Vec<u32>)>,
    spread: f32,
}

type Arrays = Vec<(String, Vec<f32>)>;

impl Case {
    pub fn new() -> Case {
        Case { b: PlanBuilder::new(), inputs: vec![], outputs: vec![], answers: vec![], batch: vec![], spread: 1.0 }
    }

    /// Inputs and parameters are uniform in `-spread..spread` instead of `-1..1`.
    pub fn spread(mut self, spread: f32) -> Case {
        self.spread = spread;
        self
    }

    pub fn input(&mut self, shape: &[usize]) -> TensorId {
        let id = self.b.activation(format!("input{}", self.inputs.len()), shape);
        self.inputs.push(id);
        id
    }

    pub fn parameter(&mut self, name: &str, shape: &[usize]) -> TensorId {
        self.b.parameter(name, shape, Init::Constant(0.0))
    }

    pub fn output(&mut self, shape: &[usize]) -> TensorId {
        let id = self.b.activation(format!("output{}", self.outputs.len()), shape);
        self.outputs.push(id);
        id
    }

    pub fn answers(&mut self, len: usize) -> TensorId {
        let id = self.b.tensor("answers", &[len], Role::Answer);
        self.answers.push(id);
        id
    }

    pub fn integers(&mut self, values: Vec<u32>) -> TensorId {
        let id = self.b.tensor(format!("integers{}", self.batch.len()), &[values.len()], Role::Batch);
        self.batch.push((id, values));
        id
    }

    /// `len` integers below `bound`.
    pub fn random_integers(&mut self, len: usize, bound: u32) -> TensorId {
        let mut rng = Pcg64::seed_from_u64(len as u64);
        self.integers((0..len).map(|_| rng.random_range(0..bound)).collect())
    }

    pub fn view(&self, tensor: TensorId, offset: usize, width: usize) -> View {
        self.b.columns(tensor, offset, width)
    }

    /// Runs forward and backward twice, over garbage: what a pass sets, it must set again.
    fn run(&self, session: &mut impl Session, plan: &Plan) -> Arrays {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut draw = |len: usize, spread: f32| -> Vec<f32> { (0..len).map(|_| spread * (2.0 * rng.random::<f32>() - 1.0)).collect() };
        session.set_parameters(&draw(plan.parameter_len(), self.spread)).expect("parameters");
        for &id in &self.inputs {
            let len = plan.tensor(id).len();
            session.write(id, &draw(len, self.spread)).expect("input");
            session.write_gradient(id, &vec![7.0; len]).expect("garbage");
        }
        for &id in &self.outputs {
            session.write_gradient(id, &draw(plan.tensor(id).len(), 1.0)).expect("output gradient");
        }
        for _ in 0..2 {
            session.forward(&self.batch).expect("forward");
            session.backward().expect("backward");
        }
        let mut arrays = Arrays::new();
        for &id in &self.outputs {
            arrays.push((plan.tensor(id).name.clone(), block_on(session.read(id)).expect("output")));
        }
        for &id in &self.answers {
            let answers = block_on(session.read_answers(id)).expect("answers");
            arrays.push((plan.tensor(id).name.clone(), answers.into_iter().map(|answer| answer as f32).collect()));
        }
        for id in self.inputs.iter().copied().chain(plan.parameters().map(|(id, ..)| id)) {
            let gradient = block_on(session.read_gradient(id)).expect("gradient");
            arrays.push((format!("gradient of {}", plan.tensor(id).name), gradient));
        }
        arrays
    }

    /// Compares both backends.
    pub fn check(&self, device: &Device, name: &str, tolerance: f64) {
        self.compare(device, name, tolerance, self);
    }

    /// Compares the GPU with a twin whose first integer is another.
    pub fn check_damaged(&self, device: &Device, name: &str) {
        let mut batch = self.batch.clone();
        batch[0].1[0] ^= 1;
        let damaged = Case { b: self.b.clone(), inputs: self.inputs.clone(), outputs: self.outputs.clone(), batch, ..Case::new() };
        self.compare(device, name, TOLERANCE, &damaged);
    }

    fn compare(&self, device: &Device, name: &str, tolerance: f64, twin: &Case) {
        let plan = self.b.clone().finish(AdamW::default()).expect(name);
        let mut cpu = CpuSession::<f32>::new(plan.clone()).expect(name);
        let mut gpu = block_on(GpuSession::new(device, plan.clone())).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (expected, found) = (twin.run(&mut cpu, &plan), self.run(&mut gpu, &plan));
        for ((array, found), (_, expected)) in found.iter().zip(&expected) {
            let worst = error(found, expected);
            if worst.is_nan() || worst > tolerance {
                let pairs: Vec<_> = found.iter().zip(expected).take(5).collect();
                panic!("{name}: {array} differs by {worst:e}; (found, expected) {pairs:?}");
            }
        }
    }
}

/// Records an operation once (its gradients are set), then twice on the same operands (the second adds), and compares backends.
pub fn check<T>(name: &str, prepare: impl Fn(&mut Case) -> T, push: impl Fn(&mut Case, &T)) {
    let device = device();
    for copies in [1, 2] {
        let mut case = Case::new();
        let operands = prepare(&mut case);
        (0..copies).for_each(|_| push(&mut case, &operands));
        case.check(&device, &format!("{name} x{copies}"), TOLERANCE);
    }
}

/// One operation of a case.
pub fn push(case: &mut Case, op: Op) {
    case.b.push(op);
}
