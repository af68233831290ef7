//! Whole runs on the CPU: every rule learns something, runs repeat bit for bit, and failures are reported.

use palimpsest_protocol::{Event, Look};
use palimpsest_spec::Settings;
use palimpsest_train::{AnySession, Engine, Model, Recipe, TrainError, Trainer};
use pollster::block_on;

/// A run small enough for a debug build.
const SMALL: &str = "backend=cpu&length=24&pairs=2&vocab=16&width=16&heads=2&key=8&value=8&batch=8&eval=16&warmup=5&eval_every=20";

fn trainer(settings: &str) -> Trainer<AnySession> {
    let settings = Settings::from_text_strict(settings).unwrap();
    block_on(Trainer::open(&Engine::Cpu, &settings)).unwrap()
}

fn losses(trainer: &mut Trainer<AnySession>) -> Vec<f32> {
    let mut losses = Vec::new();
    while !trainer.is_done() {
        losses.extend(block_on(trainer.advance(u32::MAX)).unwrap().losses.into_iter().map(|(_, loss)| loss));
    }
    losses
}

#[test]
fn every_rule_trains_and_lowers_its_loss() {
    for rule in palimpsest_rules::rules() {
        let losses = losses(&mut trainer(&format!("{SMALL}&rule={}&steps=80&lr=0.01", rule.slug())));
        assert_eq!(losses.len(), 80);
        let mean = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
        let (first, last) = (mean(&losses[..10]), mean(&losses[70..]));
        assert!(last < first - 0.1, "{}: {first} to {last}", rule.slug());
    }
}

#[test]
fn the_same_seed_gives_the_same_losses_and_reset_repeats_them() {
    let mut first = trainer(&format!("{SMALL}&steps=12&seed=3"));
    let before = losses(&mut first);
    assert_eq!(before, losses(&mut trainer(&format!("{SMALL}&steps=12&seed=3"))));
    first.reset().unwrap();
    assert_eq!(before, losses(&mut first));
    assert_ne!(before, losses(&mut trainer(&format!("{SMALL}&steps=12&seed=4"))));
}

#[test]
fn a_burst_stops_at_the_next_evaluation() {
    let mut trainer = trainer(&format!("{SMALL}&steps=50"));
    let mut stops = Vec::new();
    while !trainer.is_done() {
        block_on(trainer.advance(u32::MAX)).unwrap();
        if trainer.evaluation_due() {
            stops.push(trainer.step());
        }
    }
    assert_eq!(stops, [20, 40, 50]);
}

#[test]
fn a_diverging_run_names_the_step() {
    let settings = Settings::from_text_strict(&format!("{SMALL}&steps=20")).unwrap();
    let recipe = Recipe::from_settings(&settings);
    let engine = Engine::Cpu;
    let model = Model::record(Recipe::model_shape(&settings, engine.kind()), recipe.optimizer).unwrap();
    let mut recipe = recipe;
    recipe.schedule.peak = f32::INFINITY;
    recipe.schedule.warmup = 3;
    let session = block_on(engine.session(model.plan.clone())).unwrap();
    let mut trainer = Trainer::new(model, session, recipe).unwrap();
    // the first update makes the weights infinite, the second step's loss shows it
    let error = loop {
        if let Err(error) = block_on(trainer.advance(1)) {
            break error;
        }
        assert!(trainer.step() < 5, "a run with infinite weights went on");
    };
    assert!(matches!(error, TrainError::NotFinite { step: 2, .. }), "{error}");
}

#[test]
fn a_look_shows_states_that_end_in_what_was_read() {
    for rule in palimpsest_rules::rules() {
        let mut trainer = trainer(&format!("{SMALL}&rule={}&steps=5", rule.slug()));
        let view = block_on(trainer.look(Look { layer: 1, head: 1, sample: 7 })).unwrap();
        let (trace, strips) = view.trace.unwrap();
        assert_eq!((trace.tokens, trace.steps, trace.key, trace.value), (24, rule.steps().len(), 8, 8));
        assert_eq!(trace.reads.len(), 24 * 8);
        assert!(trace.states.iter().any(|x| *x != 0.0));
        assert_eq!(view.sample.tokens.len(), 24);
        assert_eq!(view.sample.labels.len(), view.sample.names.len());
        for strip in &strips {
            assert_eq!(strip.values.len() % 24, 0, "{}", strip.name);
            assert!(strip.values.iter().all(|x| x.is_finite()), "{}", strip.name);
        }
        let event = Event::Sampled { run: palimpsest_protocol::RunId(1), sample: view.sample };
        let bytes = palimpsest_protocol::encode(&event).unwrap();
        assert_eq!(palimpsest_protocol::decode::<Event>(&bytes), Ok(event));
    }
}
