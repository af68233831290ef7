//! Scans on the GPU against the CPU's recurrent form in double precision: every kind of step, odd sizes, both forms, and the trace.

use palimpsest_cpu::CpuSession;
use palimpsest_gpu::{Device, GpuSession, Options};
use palimpsest_plan::{AdamW, Op, Plan, PlanBuilder, Scan, ScanForm, ScanShape, Session, TensorId, TraceWindow};
use palimpsest_rules::{Kind, StepLayout, StepParts};
use pollster::block_on;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A step's parts: decay, erase, write.
type Parts = (Option<Kind>, bool, bool);

/// Every combination of parts that changes what a kernel does, from one to four steps per token.
const LAYOUTS: [&[Parts]; 7] = [
    &[(None, false, true)],
    &[(None, true, true)],
    &[(Some(Kind::Scalar), true, true)],
    &[(Some(Kind::Key), true, true)],
    &[(Some(Kind::Key), true, false), (None, true, true)],
    &[(Some(Kind::Scalar), false, true), (Some(Kind::Key), true, true), (None, false, true)],
    &[(Some(Kind::Key), true, true), (Some(Kind::Scalar), true, true), (None, false, true), (Some(Kind::Key), true, false)],
];

/// `(B, T, H, K, V)`
const SHAPES: [[usize; 5]; 3] = [[1, 1, 1, 4, 4], [2, 37, 3, 8, 20], [1, 19, 2, 36, 28]];

fn layout(parts: &[Parts], key: usize, value: usize) -> StepLayout {
    let parts: Vec<StepParts> = parts.iter().map(|&(decay, erase, write)| StepParts { decay, erase, write }).collect();
    StepLayout::new(&parts, key, value)
}

/// Scans over one tensor of steps and one initial state; every scan after the first to run backwards adds to their gradients.
struct Case {
    plan: Plan,
    layout: StepLayout,
    shape: ScanShape,
    steps: TensorId,
    initial: TensorId,
    /// `o`, last state.
    outputs: Vec<[TensorId; 2]>,
}

impl Case {
    fn new(parts: &[Parts], [batch, time, heads, key, value]: [usize; 5], forms: &[ScanForm]) -> Case {
        let shape = ScanShape { batch, time, heads, key, value };
        let layout = layout(parts, key, value);
        let mut plan = PlanBuilder::new();
        let steps = plan.activation("steps", &[batch, time, heads, layout.stride]);
        let initial = plan.activation("initial", &[batch, heads, key, value]);
        let outputs = forms.iter().map(|&form| {
            let o = plan.activation("o", &[batch, time, heads, value]);
            let last = plan.activation("last", &[batch, heads, key, value]);
            plan.push(Op::Scan(Scan { layout: layout.clone(), shape, form, steps, initial: Some(initial), o, last: Some(last) }));
            [o, last]
        });
        let outputs = outputs.collect();
        let plan = plan.finish(AdamW::default()).expect("a plan");
        Case { plan, layout, shape, steps, initial, outputs }
    }

    /// Columns of a row that a step's parts take, with a name for each.
    fn parts(&self) -> Vec<(String, usize, usize)> {
        let (key, value) = (self.shape.key, self.shape.value);
        let mut parts = vec![("query".to_owned(), self.layout.query, key)];
        for (s, slots) in self.layout.steps.iter().enumerate() {
            parts.extend(slots.decay.map(|(at, kind)| (format!("decay {s}"), at, if kind == Kind::Scalar { 1 } else { key })));
            parts.push((format!("key {s}"), slots.key, key));
            parts.extend(slots.erase.map(|at| (format!("erase {s}"), at, key)));
            parts.extend(slots.write.map(|at| (format!("write {s}"), at, value)));
        }
        parts
    }

    /// Steps whose vectors have a length of about one, with erase = key * gate.
    fn draw_steps(&self, decay: Draw, rng: &mut Pcg64) -> Vec<f32> {
        let mut steps = vec![0.0; self.plan.tensor(self.steps).len()];
        let key = self.shape.key;
        for row in steps.chunks_exact_mut(self.layout.stride) {
            fill(rng, &mut row[self.layout.query..][..key], 1.5 / (key as f32).sqrt());
            for slots in &self.layout.steps {
                fill(rng, &mut row[slots.key..][..key], 1.5 / (key as f32).sqrt());
                if let Some(at) = slots.erase {
                    let gate = rng.random::<f32>();
                    (0..key).for_each(|j| row[at + j] = gate * row[slots.key + j]);
                }
                if let Some(at) = slots.write {
                    fill(rng, &mut row[at..][..self.shape.value], 1.0);
                }
                let Some((at, kind)) = slots.decay else { continue };
                let width = if kind == Kind::Scalar { 1 } else { key };
                row[at..][..width].fill_with(|| decay(rng));
            }
        }
        steps
    }
}

/// A number drawn.
type Draw = fn(&mut Pcg64) -> f32;

/// A log-decay: a third are 0, some are strong.
fn mixed(rng: &mut Pcg64) -> f32 {
    let kind = rng.random::<f32>();
    -rng.random::<f32>()
        * if kind < 0.33 {
            0.0
        } else if kind < 0.95 {
            0.5
        } else {
            200.0
        }
}

/// A log-decay that leaves next to nothing: its own gradient is as small, and must not be lost among gradients of a length of one.
fn strong(rng: &mut Pcg64) -> f32 {
    -20.0 - 20.0 * rng.random::<f32>()
}

/// Uniform in `-bound..bound`.
fn fill(rng: &mut Pcg64, values: &mut [f32], bound: f32) {
    values.iter_mut().for_each(|x| *x = bound * (2.0 * rng.random::<f32>() - 1.0));
}

/// `||x - expected|| / ||expected||`, over all numbers.
fn error(x: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(x.len(), expected.len());
    let norm = expected.iter().map(|y| y * y).sum::<f64>().sqrt();
    let difference = x.iter().zip(expected).map(|(x, y)| (f64::from(*x) - y).powi(2)).sum::<f64>().sqrt();
    if norm > 0.0 { difference / norm } else { difference }
}

fn columns<F: Copy>(values: &[F], stride: usize, at: usize, width: usize) -> Vec<F> {
    values.chunks_exact(stride).flat_map(|row| row[at..][..width].iter().copied()).collect()
}

/// Runs a case on the GPU, and each of its scans on the CPU, where gradients are summed here.
/// `outputs` and `gradients` are the largest relative errors allowed.
fn check(device: &Device, parts: &[Parts], shape: [usize; 5], forms: &[ScanForm], outputs: f64, gradients: f64) {
    check_decays(device, parts, shape, forms, mixed, outputs, gradients);
}

fn check_decays(device: &Device, parts: &[Parts], shape: [usize; 5], forms: &[ScanForm], decay: Draw, outputs: f64, gradients: f64) {
    let name = format!("{parts:?} {shape:?} {forms:?}");
    let case = Case::new(parts, shape, forms);
    let single = Case::new(parts, shape, &[ScanForm::Recurrent]);
    let mut gpu = block_on(GpuSession::new(device, case.plan.clone())).expect("a session");
    let mut cpu = CpuSession::<f64>::new(single.plan.clone()).expect("a twin");

    let mut rng = Pcg64::seed_from_u64(1);
    let steps = case.draw_steps(decay, &mut rng);
    let mut initial = vec![0.0; case.plan.tensor(case.initial).len()];
    fill(&mut rng, &mut initial, 1.0);
    for (given, tensor, values) in [(case.steps, single.steps, &steps), (case.initial, single.initial, &initial)] {
        gpu.write(given, values).expect("a tensor");
        cpu.write(tensor, values).expect("a tensor");
    }
    gpu.forward(&[]).expect("forward");
    let mut d_steps = vec![0.0; steps.len()];
    let mut d_initial = vec![0.0; initial.len()];
    for pair in &case.outputs {
        cpu.run_forward();
        for (&output, &twin) in pair.iter().zip(&single.outputs[0]) {
            let mut gradient = vec![0.0; case.plan.tensor(output).len()];
            fill(&mut rng, &mut gradient, 1.0);
            gpu.write_gradient(output, &gradient).expect("a gradient");
            cpu.write_gradient(twin, &gradient).expect("a gradient");
            let x = block_on(gpu.read(output)).expect("numbers");
            let e = error(&x, cpu.values(twin).expect("numbers"));
            assert!(e < outputs, "{name}: {} is off by {e:.1e}", case.plan.tensor(output).name);
        }
        cpu.run_backward();
        for (sum, tensor) in [(&mut d_steps, single.steps), (&mut d_initial, single.initial)] {
            sum.iter_mut().zip(cpu.gradients(tensor).expect("a gradient")).for_each(|(sum, d)| *sum += d);
        }
    }
    gpu.backward().expect("backward");
    let x = block_on(gpu.read_gradient(case.initial)).expect("a gradient");
    let e = error(&x, &d_initial);
    assert!(e < gradients, "{name}: gradient of initial is off by {e:.1e}");
    let x = block_on(gpu.read_gradient(case.steps)).expect("a gradient");
    for (part, at, width) in case.parts() {
        let stride = case.layout.stride;
        let e = error(&columns(&x, stride, at, width), &columns(&d_steps, stride, at, width));
        assert!(e < gradients, "{name}: gradient of {part} is off by {e:.1e}");
    }
}

fn device() -> Device {
    block_on(Device::open(Options::from_env())).expect("a Vulkan adapter")
}

#[test]
fn recurrent_matches_the_twin() {
    let device = device();
    for parts in LAYOUTS {
        SHAPES.iter().for_each(|&shape| check(&device, parts, shape, &[ScanForm::Recurrent], 5e-6, 5e-5));
    }
}

#[test]
fn chunked_matches_the_twin() {
    let device = device();
    for parts in LAYOUTS {
        SHAPES.iter().for_each(|&shape| check(&device, parts, shape, &[ScanForm::Chunked(16)], 2e-5, 5e-4));
    }
    for tokens in [1, 4, 7, 32, 100] {
        check(&device, LAYOUTS[3], [1, 70, 2, 12, 8], &[ScanForm::Chunked(tokens)], 2e-5, 5e-4);
    }
}

#[test]
fn long_chunks_match_the_twin() {
    let device = device();
    for parts in LAYOUTS {
        check(&device, parts, [2, 100, 2, 12, 8], &[ScanForm::Chunked(40)], 2e-5, 5e-4);
    }
    check(&device, LAYOUTS[4], [1, 130, 1, 8, 36], &[ScanForm::Chunked(64), ScanForm::Recurrent], 2e-5, 5e-4);
}

#[test]
fn the_largest_states_match_the_twin() {
    let device = device();
    check(&device, LAYOUTS[3], [1, 18, 1, 128, 128], &[ScanForm::Recurrent], 5e-6, 5e-5);
    check(&device, LAYOUTS[4], [1, 18, 1, 128, 128], &[ScanForm::Chunked(16)], 2e-5, 5e-4);
    check(&device, LAYOUTS[4], [1, 5, 1, 100, 124], &[ScanForm::Recurrent], 5e-6, 5e-5);
    check(&device, LAYOUTS[3], [1, 5, 2, 4, 128], &[ScanForm::Recurrent, ScanForm::Chunked(16)], 2e-5, 5e-4);
    // The most steps per token, at the largest key.
    check(&device, LAYOUTS[6], [1, 5, 1, 128, 4], &[ScanForm::Chunked(16)], 2e-5, 5e-4);
}

#[test]
fn gradients_of_several_scans_add_up() {
    let device = device();
    let forms = [ScanForm::Recurrent, ScanForm::Chunked(16), ScanForm::Recurrent, ScanForm::Chunked(8)];
    for parts in [LAYOUTS[0], LAYOUTS[2], LAYOUTS[4]] {
        check(&device, parts, [1, 19, 2, 8, 36], &forms, 2e-5, 5e-4);
    }
}

#[test]
fn long_sequences_keep_their_digits() {
    let device = device();
    check(&device, LAYOUTS[3], [1, 1500, 1, 8, 4], &[ScanForm::Recurrent], 5e-6, 5e-5);
    check(&device, LAYOUTS[3], [1, 1500, 1, 8, 4], &[ScanForm::Chunked(16)], 2e-5, 5e-4);
}

#[test]
fn gradients_of_strong_decays_keep_their_digits() {
    let device = device();
    for form in [ScanForm::Recurrent, ScanForm::Chunked(16), ScanForm::Chunked(40)] {
        check_decays(&device, LAYOUTS[2], [1, 50, 1, 128, 4], &[form], strong, 2e-5, 5e-4);
        check_decays(&device, LAYOUTS[4], [1, 3, 2, 8, 20], &[form], strong, 2e-5, 5e-4);
    }
}

#[test]
fn the_trace_matches_the_twin() {
    let device = device();
    for parts in [LAYOUTS[0], LAYOUTS[5]] {
        for (shape, first, tokens) in [([2, 21, 3, 8, 20], 0, 21), ([2, 21, 3, 12, 4], 13, 5), ([2, 21, 3, 4, 4], 20, 1)] {
            let case = Case::new(parts, shape, &[ScanForm::Recurrent]);
            let mut gpu = block_on(GpuSession::new(&device, case.plan.clone())).expect("a session");
            let mut cpu: CpuSession = CpuSession::new(case.plan.clone()).expect("a twin");
            let steps = case.draw_steps(mixed, &mut Pcg64::seed_from_u64(2));
            gpu.write(case.steps, &steps).expect("steps");
            cpu.write(case.steps, &steps).expect("steps");
            gpu.forward(&[]).expect("forward");
            cpu.forward(&[]).expect("forward");
            let window = TraceWindow { scan: 0, row: 1, head: 2, tokens: first..first + tokens };
            let x = block_on(gpu.trace(window.clone())).expect("a trace");
            let y = block_on(cpu.trace(window)).expect("a trace");
            let wide = |values: &[f32]| -> Vec<f64> { values.iter().map(|&x| x.into()).collect() };
            for (what, x, y) in [("states", &x.states, &y.states), ("reads", &x.reads, &y.reads)] {
                let e = error(x, &wide(y));
                assert!(e < 5e-6, "{parts:?} {shape:?} {first} + {tokens}: {what} are off by {e:.1e}");
            }
        }
    }
}
