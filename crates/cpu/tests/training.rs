//! Whole models: gradients by finite differences, training, repeatability, and what sessions refuse.

mod model;

use model::{Model, SMALL, Sizes, model, some_rule};
use palimpsest_cpu::CpuSession;
use palimpsest_plan::{AdamW, BackendError, DecayForm, ScanForm, ScanShape, Session, StepInput, StepResult, TraceWindow};
use palimpsest_rules::rules;
use pollster::block_on;

const TINY: Sizes = Sizes { shape: ScanShape { batch: 2, time: 6, heads: 2, key: 4, value: 8 }, vocab: 11, labels: 5, ..SMALL };

fn started<F: palimpsest_cpu::Real>(model: &Model, seed: u64) -> CpuSession<F> {
    let mut session = CpuSession::new(model.plan.clone()).expect("session");
    session.set_parameters(&model.plan.initial_parameters(seed)).expect("parameters");
    for (id, values) in model.plan.constants(seed) {
        session.write(id, &values).expect("constants");
    }
    session
}

/// A few elements of every parameter, by central differences of the loss in double precision.
fn check_model(name: &str, model: &Model) {
    let mut session = started::<f64>(model, 5);
    session.forward(&model.batch(6)).expect(name);
    session.backward().expect(name);
    for (id, tensor, _) in model.plan.parameters() {
        let gradient = session.gradients(id).expect(name).to_vec();
        let scale = gradient.iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
        assert!(scale > 0.0, "{name}: no gradient reaches '{}'", tensor.name);
        let count = tensor.len().min(5);
        for i in (0..count).map(|i| i * tensor.len() / count) {
            // Short: unit vectors of near-zero columns curve within 1e-3.
            let h = 1e-6;
            let mut at = |step: f64| {
                session.values_mut(id).expect(name)[i] += step;
                session.run_forward();
                session.values_mut(id).expect(name)[i] -= step;
                session.values(model.loss).expect(name)[0]
            };
            let expected = (at(h) - at(-h)) / (2.0 * h);
            let error = (gradient[i] - expected).abs();
            assert!(error < 1e-6 * scale + 1e-9, "{name}: '{}'[{i}]: {} but differences give {expected}", tensor.name, gradient[i]);
        }
    }
}

#[test]
fn gradients_of_whole_models() {
    for rule in rules() {
        check_model(rule.slug(), &model(rule, TINY, AdamW::default()));
    }
    let sizes = Sizes { form: ScanForm::Chunked(4), decay: DecayForm::Safe, hybrid: true, ..TINY };
    check_model("chunked, safe gate, hybrid", &model(some_rule(), sizes, AdamW::default()));
}

fn losses(rate: f32, steps: u32) -> Vec<StepResult> {
    let model = model(some_rule(), TINY, AdamW::default());
    let mut session = started::<f32>(&model, 1);
    for step in 1..=steps {
        // Two batches, over and over: a model of this size learns them by heart.
        let batch = model.batch(u64::from(step % 2));
        session.train(&[StepInput { batch, rate, step }]).expect("step");
    }
    block_on(session.results()).expect("results")
}

#[test]
fn training_lowers_the_loss_and_repeats_bit_for_bit() {
    let (first, second) = (losses(1e-2, 80), losses(1e-2, 80));
    assert_eq!(first.len(), 80);
    assert!(first[79].loss < 0.2 * first[0].loss, "{} to {}", first[0].loss, first[79].loss);
    for (a, b) in first.iter().zip(&second) {
        assert_eq!((a.step, a.loss.to_bits(), a.gradient_norm.to_bits()), (b.step, b.loss.to_bits(), b.gradient_norm.to_bits()));
    }
}

#[test]
fn several_steps_in_one_call_are_the_same_steps() {
    let model = model(some_rule(), TINY, AdamW::default());
    let steps: Vec<StepInput> = (1..=4).map(|step| StepInput { batch: model.batch(u64::from(step)), rate: 3e-3, step }).collect();
    let (mut together, mut apart) = (started::<f32>(&model, 1), started::<f32>(&model, 1));
    together.train(&steps).expect("steps");
    steps.iter().for_each(|step| apart.train(std::slice::from_ref(step)).expect("step"));
    assert_eq!(block_on(together.results()), block_on(apart.results()));
    assert_eq!(block_on(together.parameters()), block_on(apart.parameters()));
    assert_eq!(block_on(together.results()).expect("drained"), vec![]);
}

#[test]
fn nan_is_data() {
    let model = model(some_rule(), TINY, AdamW::default());
    let mut session = started::<f32>(&model, 1);
    let clean = block_on(session.parameters()).expect("parameters");
    let mut broken = clean.clone();
    broken[0..64].fill(f32::NAN);
    session.set_parameters(&broken).expect("parameters");
    session.train(&[StepInput { batch: model.batch(0), rate: 1e-3, step: 1 }]).expect("step");
    assert!(block_on(session.results()).expect("results")[0].loss.is_nan());
    // Nothing of it stays behind.
    session.set_parameters(&clean).expect("parameters");
    session.train(&[StepInput { batch: model.batch(0), rate: 1e-3, step: 1 }]).expect("step");
    let again = block_on(session.results()).expect("results");
    let mut fresh = started::<f32>(&model, 1);
    fresh.train(&[StepInput { batch: model.batch(0), rate: 1e-3, step: 1 }]).expect("step");
    assert_eq!(again, block_on(fresh.results()).expect("results"));
}

#[test]
fn refusals_name_the_tensor_and_the_value() {
    let model = model(some_rule(), TINY, AdamW::default());
    let mut session = started::<f32>(&model, 1);
    let message = |result: Result<(), BackendError>| result.expect_err("refused").to_string();
    let mut batch = model.batch(0);
    batch[0].1[3] = 11;
    assert_eq!(message(session.forward(&batch)), "tensor 'tokens' has 11 at 3; its values must be below 11");
    let mut batch = model.batch(0);
    batch[1].1[4] = 12;
    assert_eq!(message(session.forward(&batch)), "tensor 'rows' has 12 at 4; its values must be below 12");
    let mut batch = model.batch(0);
    batch[2].1.pop();
    assert_eq!(message(session.forward(&batch)), "tensor 'targets' takes 5 values, not 4");
    let batch = model.batch(0)[..2].to_vec();
    assert_eq!(message(session.train(&[StepInput { batch, rate: 1e-3, step: 1 }])), "step 1 lacks batch tensor 'targets'");
    assert_eq!(message(session.train(&[StepInput { batch: model.batch(0), rate: 1e-3, step: 0 }])), "steps count from 1, not 0");
    assert_eq!(message(session.write(model.loss, &[1.0, 2.0])), "tensor 'loss' takes 1 numbers, not 2");
    assert_eq!(message(session.write(model.tokens, &[1.0])), "tensor 'tokens' does not take numbers from outside");
    let packed = model.plan.parameter_len();
    assert_eq!(message(session.set_parameters(&[0.0])), format!("this plan packs its parameters in {packed} numbers, not 1"));
    let mut refused = |scan, row| {
        let window = TraceWindow { scan, row, head: 0, tokens: 0..1 };
        block_on(session.trace(window)).expect_err("refused").to_string()
    };
    assert_eq!(refused(0, 2), "sequence 2, head 0, token 0 is outside the scan, which has 2 sequences, 2 heads, 6 tokens");
    assert_eq!(refused(9, 0), "the plan has 2 scans, none with index 9");
}

#[test]
fn a_trace_reads_what_the_scan_read() {
    let model = model(some_rule(), TINY, AdamW::default());
    let mut session = started::<f32>(&model, 1);
    session.forward(&model.batch(0)).expect("forward");
    let o = model.plan.tensors.iter().position(|tensor| tensor.name == "layer1.o").map(palimpsest_plan::TensorId).expect("o");
    let o = block_on(session.read(o)).expect("o");
    let trace = block_on(session.trace(TraceWindow { scan: 1, row: 1, head: 1, tokens: 2..5 })).expect("trace");
    assert_eq!((trace.first, trace.tokens), (2, 3));
    let ScanShape { time, heads, value, .. } = TINY.shape;
    for t in 0..3 {
        let expected = &o[((time + 2 + t) * heads + 1) * value..][..value];
        for (read, o) in trace.reads[t * value..][..value].iter().zip(expected) {
            assert!((read - o).abs() < 1e-5, "token {t}: {read} {o}");
        }
    }
}
