//! Whole models on the GPU: against the CPU, repeatable, and what a session refuses.

#[path = "../../cpu/tests/model/mod.rs"]
mod model;
mod twin;

use model::{HYBRID, Model, ONE_LAYER, SMALL, model, some_rule};
use palimpsest_cpu::CpuSession;
use palimpsest_gpu::GpuSession;
use palimpsest_plan::{AdamW, BackendError, PlanBuilder, Session, StepInput, StepResult, SwiGlu, TraceWindow};
use palimpsest_rules::rules;
use pollster::block_on;
use twin::{Case, device, error};

fn start(session: &mut impl Session, model: &Model) {
    session.set_parameters(&model.plan.initial_parameters(3)).expect("parameters");
    for (id, values) in model.plan.constants(3) {
        session.write(id, &values).expect("constants");
    }
}

fn gpu(model: &Model) -> GpuSession {
    let mut session = block_on(GpuSession::new(&device(), model.plan.clone())).expect("a session");
    start(&mut session, model);
    session
}

fn steps(model: &Model, count: u32) -> Vec<StepInput> {
    (1..=count).map(|step| StepInput { batch: model.batch(u64::from(step % 3)), rate: 3e-3, step }).collect()
}

#[test]
fn models_of_every_rule_match_the_twin() {
    let cases = rules().iter().map(|rule| (rule, SMALL)).chain([(some_rule(), HYBRID)]);
    for (rule, sizes) in cases {
        let model = model(rule, sizes, AdamW::default());
        let (mut gpu, mut cpu) = (gpu(&model), CpuSession::<f32>::new(model.plan.clone()).expect("a twin"));
        start(&mut cpu, &model);
        gpu.forward(&model.batch(1)).expect("forward");
        gpu.backward().expect("backward");
        cpu.forward(&model.batch(1)).expect("forward");
        cpu.backward().expect("backward");
        assert_eq!(block_on(gpu.read_answers(model.answers)), block_on(cpu.read_answers(model.answers)), "{}", rule.slug());
        for (id, tensor, _) in model.plan.parameters() {
            let found = block_on(gpu.read_gradient(id)).expect("gradient");
            let expected = block_on(cpu.read_gradient(id)).expect("gradient");
            let worst = error(&found, &expected);
            // Sums over all tokens that nearly cancel lose a few digits on either side.
            assert!(worst < 1e-3, "{} '{}': gradient differs by {worst:e}", rule.slug(), tensor.name);
        }
        let steps = steps(&model, 4);
        gpu.train(&steps).expect("train");
        cpu.train(&steps).expect("train");
        let (found, expected) = (block_on(gpu.results()).expect("results"), block_on(cpu.results()).expect("results"));
        assert_eq!(found.len(), 4);
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.step, expected.step);
            // AdamW divides by the gradient's own size: where a gradient is rounding noise, parameters drift apart by the rate.
            let losses = (found.loss - expected.loss).abs() / expected.loss;
            let norms = (found.gradient_norm - expected.gradient_norm).abs() / expected.gradient_norm;
            assert!(losses < 1e-3 && norms < 1e-2, "{}: {found:?} but the twin has {expected:?}", rule.slug());
        }
    }
}

fn bits(results: &[StepResult]) -> Vec<(u32, u32, u32)> {
    results.iter().map(|result| (result.step, result.loss.to_bits(), result.gradient_norm.to_bits())).collect()
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let model = model(some_rule(), SMALL, AdamW::default());
    let (mut together, mut apart) = (gpu(&model), gpu(&model));
    let steps = steps(&model, 70);
    together.train(&steps).expect("one call");
    for step in &steps {
        apart.train(std::slice::from_ref(step)).expect("a call per step");
    }
    let (first, second) = (block_on(together.results()).expect("results"), block_on(apart.results()).expect("results"));
    assert_eq!(first.len(), 70);
    assert_eq!(bits(&first), bits(&second));
    assert_eq!(block_on(together.parameters()), block_on(apart.parameters()));
    let mean = |results: &[StepResult]| results.iter().map(|result| result.loss).sum::<f32>() / results.len() as f32;
    assert!(mean(&first[60..]) < 0.8 * mean(&first[..3]), "three batches, over and over, are learnt by heart: {first:?}");
    // Starting again clears the moments.
    start(&mut together, &model);
    together.train(&steps[..5]).expect("again");
    assert_eq!(bits(&block_on(together.results()).expect("results")), bits(&first[..5]));
}

#[test]
fn a_result_is_reported_once() {
    let model = model(some_rule(), ONE_LAYER, AdamW::default());
    let mut session = gpu(&model);
    assert_eq!(block_on(session.results()), Ok(vec![]));
    session.train(&steps(&model, 2)).expect("train");
    assert_eq!(block_on(session.results()).expect("results").len(), 2);
    assert_eq!(block_on(session.results()), Ok(vec![]));
}

#[test]
fn a_plan_beyond_the_limits_is_refused_by_name() {
    let mut b = PlanBuilder::new();
    let (x, y) = (b.activation("far too wide", &[1 << 40, 2]), b.activation("y", &[1 << 40, 1]));
    b.push(palimpsest_plan::Op::SwiGlu(SwiGlu { x, y }));
    let refused = block_on(GpuSession::new(&device(), b.finish_forward().expect("a plan")));
    match refused {
        Err(BackendError::Limit { what, needed, limit }) => {
            assert!(what.contains("far too wide"), "{what}");
            assert_eq!(needed, 8 << 40);
            assert!(limit < needed);
        }
        other => panic!("not refused for its size: {:?}", other.map(|session| session.launches())),
    }
}

#[test]
fn wrong_data_is_refused() {
    let model = model(some_rule(), ONE_LAYER, AdamW::default());
    let mut session = gpu(&model);
    let refuses = |result: Result<(), BackendError>, words: &str| match result {
        Err(BackendError::Input(message)) => assert!(message.contains(words), "{message}"),
        other => panic!("{other:?} where '{words}' was due"),
    };
    let mut batch = model.batch(1);
    batch[0].1[3] = 17;
    refuses(session.forward(&batch), "holds 17; its values must be below 17");
    batch[0].1.pop();
    refuses(session.forward(&batch), "takes 42 values, not 41");
    batch.remove(0);
    refuses(session.train(&[StepInput { batch, rate: 0.1, step: 1 }]), "step 1 lacks batch tensor 'tokens'");
    refuses(session.train(&[StepInput { batch: model.batch(1), rate: 0.1, step: 0 }]), "steps count from 1");
    refuses(session.set_parameters(&[0.0]), "packed parameters, not 1");
    refuses(session.write(model.loss, &[0.0, 1.0]), "has 1 numbers, not 2");
    refuses(session.write(model.tokens, &[0.0]), "does not hold floats");
    refuses(block_on(session.read(model.tokens)).map(|_| ()), "does not hold floats");
    refuses(block_on(session.read_range(model.loss, 0..2)).map(|_| ()), "elements 0..2 of 'loss', which has 1");
    let window = TraceWindow { scan: 0, row: 0, head: 0, tokens: 20..22 };
    refuses(block_on(session.trace(TraceWindow { scan: 9, ..window.clone() })).map(|_| ()), "the plan has no scan 9");
    refuses(
        block_on(session.trace(window)).map(|_| ()),
        "no trace of sequence 0, head 0, tokens 20..22: the scan has 2 sequences, 2 heads, 21 tokens",
    );
}

#[test]
fn an_adapter_that_is_not_there_is_named() {
    let options = palimpsest_gpu::Options { adapter: Some("no such adapter".into()) };
    match block_on(palimpsest_gpu::Device::open(options)) {
        Err(BackendError::NoAdapter(message)) => assert!(message.contains("'no such adapter'; there are "), "{message}"),
        other => panic!("{:?}", other.map(|device| device.adapter().clone())),
    }
}

#[test]
fn a_profile_names_every_launch() {
    let model = model(some_rule(), ONE_LAYER, AdamW::default());
    let mut session = gpu(&model);
    let times = match block_on(session.profile(&steps(&model, 1)[0])) {
        Err(BackendError::Refused(message)) if message.contains("no timestamps") => return,
        times => times.expect("a profile"),
    };
    assert_eq!(times.len(), session.launches());
    assert!(times.iter().map(|time| time.seconds).sum::<f64>() > 0.0);
    assert!(times.iter().any(|time| time.kernel == "adamw.update"));
}

/// The comparison itself: a twin that computes something else must be noticed.
#[test]
#[should_panic(expected = "differs by")]
fn a_different_twin_is_noticed() {
    let mut case = Case::new();
    let (tokens, table) = (case.integers(vec![0, 1]), case.parameter("table", &[2, 3]));
    let y = case.output(&[2, 3]);
    case.b.push(palimpsest_plan::Op::Embed(palimpsest_plan::Embed { tokens, table, y }));
    case.check_damaged(&device(), "embed");
}
