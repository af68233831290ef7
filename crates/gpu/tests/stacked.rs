//! Runs that are stacked in one session against the same runs by themselves: the same bits.

#[path = "../../cpu/tests/model/mod.rs"]
mod model;
mod twin;

use model::{HYBRID, Model, ONE_LAYER, SMALL, Sizes, model, some_rule};
use palimpsest_gpu::{Device, GpuSession, GpuStack};
use palimpsest_plan::{
    AdamW, BackendError, CrossEntropy, Embed, Init, Linear, Op, PlanBuilder, Role, Session, Stacked, StepInput, StepResult, TraceWindow,
};
use palimpsest_rules::Rule;
use pollster::block_on;
use twin::device;

const RUNS: usize = 3;

/// Step `step` of run `run`: its own batch, and its own learning rate.
fn step(model: &Model, run: usize, step: u32) -> StepInput {
    StepInput { batch: model.batch(100 * run as u64 + u64::from(step)), rate: 3e-3 + 1e-3 * run as f32, step }
}

fn begin(session: &mut GpuSession, model: &Model, run: usize) {
    session.set_parameters(&model.plan.initial_parameters(run as u64)).expect("parameters");
    model.plan.constants(run as u64).iter().for_each(|(id, values)| session.write(*id, values).expect("constants"));
}

fn alone(device: &Device, model: &Model, run: usize) -> GpuSession {
    let mut session = block_on(GpuSession::new(device, model.plan.clone())).expect("a session");
    begin(&mut session, model, run);
    session
}

fn start(stack: &mut GpuStack, model: &Model, run: usize) {
    stack.set_parameters(run, &model.plan.initial_parameters(run as u64)).expect("parameters");
    model.plan.constants(run as u64).iter().for_each(|(id, values)| stack.write(run, *id, values).expect("constants"));
}

fn together(device: &Device, model: &Model) -> GpuStack {
    let mut stack = block_on(GpuStack::new(device, model.plan.clone(), RUNS)).expect("a stack");
    (0..RUNS).for_each(|run| start(&mut stack, model, run));
    stack
}

fn bits(results: impl IntoIterator<Item = StepResult>) -> Vec<(u32, u32, u32)> {
    results.into_iter().map(|result| (result.step, result.loss.to_bits(), result.gradient_norm.to_bits())).collect()
}

fn floats(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Losses, norms, parameters, answers and a trace of every run after five steps.
fn compare(device: &Device, rule: &Rule, sizes: Sizes) {
    let model = model(rule, sizes, AdamW::default());
    let mut stack = together(device, &model);
    let steps = (1..=5).flat_map(|index| (0..RUNS).map(move |run| (run, index)));
    stack.train(&steps.map(|(run, index)| step(&model, run, index)).collect::<Vec<_>>()).expect("train");
    let results = block_on(stack.results()).expect("results");
    assert_eq!(results.len(), 5 * RUNS);
    stack.forward(&(0..RUNS).map(|run| model.batch(900 + run as u64)).collect::<Vec<_>>()).expect("forward");
    let answers = block_on(stack.read_answers(model.answers)).expect("answers");
    let losses = block_on(stack.read(model.loss)).expect("losses");
    let mut single = block_on(GpuSession::new(device, model.plan.clone())).expect("a session");
    for run in 0..RUNS {
        let name = format!("{} {:?}, run {run}", rule.slug(), sizes.form);
        begin(&mut single, &model, run);
        single.train(&(1..=5).map(|index| step(&model, run, index)).collect::<Vec<_>>()).expect("train");
        let expected = bits(block_on(single.results()).expect("results"));
        assert_eq!(bits(results.iter().skip(run).step_by(RUNS).copied()), expected, "{name}");
        let parameters = block_on(stack.parameters(run)).expect("parameters");
        assert_eq!(floats(&parameters), floats(&block_on(single.parameters()).expect("parameters")), "{name}");
        single.forward(&model.batch(900 + run as u64)).expect("forward");
        assert_eq!(answers[run], block_on(single.read_answers(model.answers)).expect("answers"), "{name}");
        assert_eq!(floats(&losses[run]), floats(&block_on(single.read(model.loss)).expect("loss")), "{name}");
        let window = TraceWindow { scan: 0, row: 1, head: 1, tokens: 3..10 };
        let trace = block_on(stack.trace(run, window.clone())).expect("a trace");
        assert_eq!(trace, block_on(single.trace(window)).expect("a trace"), "{name}");
    }
    assert_ne!(losses[0], losses[1]);
}

/// Every rule in both forms: `crates/train/tests/agreement.rs`.
#[test]
fn stacked_runs_have_the_bits_of_single_runs() {
    let device = device();
    [ONE_LAYER, HYBRID].iter().for_each(|sizes| compare(&device, some_rule(), *sizes));
}

/// Two products with one weight and one bias: gradients that are added up, in kernels that write to several parameters.
#[test]
fn shared_parameters_have_the_bits_of_single_runs() {
    let device = device();
    let mut b = PlanBuilder::new();
    let tokens = b.tensor("tokens", &[40], Role::Batch);
    let (rows, targets) = (b.tensor("rows", &[40], Role::Batch), b.tensor("targets", &[40], Role::Batch));
    let table = b.parameter("embed", &[6, 6], Init::Normal(1.0));
    let (weight, bias) = (b.parameter("weight", &[6, 6], Init::Normal(1.0)), b.parameter("bias", &[6], Init::Normal(1.0)));
    let mut x = b.activation("embedded", &[40, 6]);
    b.push(Op::Embed(Embed { tokens, table, y: x }));
    for name in ["once", "twice"] {
        let y = b.activation(name, &[40, 6]);
        b.push(Op::Linear(Linear { x: b.whole(x), weight, bias: Some(bias), residual: None, blocks: 1, y }));
        x = y;
    }
    let (loss, answers) = (b.activation("loss", &[1]), b.tensor("answers", &[40], Role::Answer));
    b.push(Op::CrossEntropy(CrossEntropy { logits: x, targets, loss, answers }));
    let plan = b.finish(AdamW::default()).expect("a plan");
    let model = Model { plan, tokens, rows, targets, answers, loss };
    let (mut stack, mut results) = (together(&device, &model), Vec::new());
    let steps = (1..=5).flat_map(|index| (0..RUNS).map(move |run| (run, index)));
    stack.train(&steps.map(|(run, index)| step(&model, run, index)).collect::<Vec<_>>()).expect("train");
    for run in 0..RUNS {
        let mut single = alone(&device, &model, run);
        single.train(&(1..=5).map(|index| step(&model, run, index)).collect::<Vec<_>>()).expect("train");
        results.push(bits(block_on(single.results()).expect("results")));
        let parameters = block_on(stack.parameters(run)).expect("parameters");
        assert_eq!(floats(&parameters), floats(&block_on(single.parameters()).expect("parameters")), "run {run}");
    }
    let found = block_on(stack.results()).expect("results");
    (0..RUNS).for_each(|run| assert_eq!(bits(found.iter().skip(run).step_by(RUNS).copied()), results[run], "run {run}"));
}

#[test]
fn bursts_longer_than_an_upload_and_a_run_that_starts_again() {
    let device = device();
    let model = model(some_rule(), ONE_LAYER, AdamW::default());
    let mut stack = together(&device, &model);
    let steps = |from: u32, to: u32| -> Vec<StepInput> {
        (from..=to).flat_map(|index| (0..RUNS).map(move |run| (index, run))).map(|(index, run)| step(&model, run, index)).collect()
    };
    stack.train(&steps(1, 70)).expect("train");
    stack.train(&steps(71, 72)).expect("train");
    let results = block_on(stack.results()).expect("results");
    assert_eq!(block_on(stack.results()), Ok(vec![]));
    let mut single = alone(&device, &model, 1);
    single.train(&(1..=72).map(|index| step(&model, 1, index)).collect::<Vec<_>>()).expect("train");
    assert_eq!(bits(results.into_iter().skip(1).step_by(RUNS)), bits(block_on(single.results()).expect("results")));
    // One run starts again; the others go on.
    let others = block_on(stack.parameters(2)).expect("parameters");
    start(&mut stack, &model, 1);
    assert_eq!(block_on(stack.parameters(2)).expect("parameters"), others);
    let mut single = alone(&device, &model, 1);
    stack.train(&steps(1, 2)).expect("train");
    single.train(&[step(&model, 1, 1), step(&model, 1, 2)]).expect("train");
    let again = block_on(stack.results()).expect("results");
    assert_eq!(bits(again.into_iter().skip(1).step_by(RUNS)), bits(block_on(single.results()).expect("results")));
}

#[test]
fn a_run_of_nan_does_not_touch_the_others() {
    let device = device();
    let model = model(some_rule(), HYBRID, AdamW::default());
    let (mut stack, mut single) = (together(&device, &model), alone(&device, &model, 2));
    stack.set_parameters(1, &vec![f32::NAN; model.plan.parameter_len()]).expect("parameters");
    let steps: Vec<StepInput> = (0..RUNS).map(|run| step(&model, run, 1)).chain((0..RUNS).map(|run| step(&model, run, 2))).collect();
    stack.train(&steps).expect("train");
    single.train(&[step(&model, 2, 1), step(&model, 2, 2)]).expect("train");
    let results = block_on(stack.results()).expect("results");
    assert!(results[1].loss.is_nan() && results[RUNS + 1].loss.is_nan(), "{results:?}");
    assert_eq!(bits([results[2], results[RUNS + 2]]), bits(block_on(single.results()).expect("results")));
}

#[test]
fn one_run_has_the_kernels_of_a_session() {
    let device = device();
    let model = model(some_rule(), HYBRID, AdamW::default());
    let (session, stack) = (alone(&device, &model, 0), block_on(GpuStack::new(&device, model.plan.clone(), 1)).expect("a stack"));
    assert_eq!(session.kernels(), stack.kernels());
    assert!(session.kernels().iter().all(|(_, text)| !text.contains("stacked_run")));
    let many = together(&device, &model);
    assert_eq!(many.launches(), session.launches());
    assert!(many.kernels().iter().all(|(_, text)| text.contains("stacked_run = ")));
}

#[test]
fn runs_beyond_the_limits_are_refused_before_anything_is_allocated() {
    let device = device();
    let model = model(some_rule(), SMALL, AdamW::default());
    match block_on(GpuStack::new(&device, model.plan.clone(), 1 << 40)) {
        Err(BackendError::Limit { what, needed, limit }) => {
            assert!(what.starts_with("buffer '") && what.ends_with("' of 1099511627776 runs (bytes)"), "{what}");
            assert!(limit < needed);
        }
        other => panic!("not refused for its size: {:?}", other.map(|stack| stack.launches())),
    }
}

#[test]
fn wrong_data_is_refused() {
    let device = device();
    let model = model(some_rule(), ONE_LAYER, AdamW::default());
    let mut stack = together(&device, &model);
    let refuses = |result: Result<(), BackendError>, words: &str| match result {
        Err(BackendError::Input(message)) => assert!(message.contains(words), "{message}"),
        other => panic!("{other:?} where '{words}' was due"),
    };
    refuses(stack.set_parameters(RUNS, &[]), "there is no run 3: 3 are stacked");
    refuses(block_on(stack.trace(4, TraceWindow { scan: 0, row: 0, head: 0, tokens: 0..1 })).map(|_| ()), "there is no run 4");
    refuses(stack.train(&[step(&model, 0, 1)]), "1 inputs of steps do not fall to 3 runs evenly");
    refuses(stack.forward(&[model.batch(1)]), "3 runs take one batch each, not 1");
}
