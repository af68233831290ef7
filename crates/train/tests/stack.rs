//! Seeds that are trained together against the same seeds by themselves, on the CPU.

use palimpsest_protocol::{Evaluation, Look};
use palimpsest_spec::Settings;
use palimpsest_train::{AnyStack, Engine, Model, Recipe, Stack, TrainError, Trainer};
use pollster::block_on;

/// A run small enough for a debug build.
const SMALL: &str = "backend=cpu&length=24&pairs=2&vocab=16&width=16&heads=2&key=8&value=8&batch=8&eval=20&warmup=5&eval_every=4&steps=6";

fn settings(text: &str) -> Settings {
    Settings::from_text_strict(text).unwrap()
}

fn stack(text: &str, seeds: usize) -> Stack<AnyStack> {
    block_on(Stack::open(&Engine::Cpu, &settings(text), seeds)).unwrap()
}

/// Without what a clock says.
fn timeless(mut evaluation: Evaluation) -> Evaluation {
    evaluation.seconds = 0.0;
    evaluation.reached_99 = evaluation.reached_99.map(|(step, _)| (step, 0.0));
    evaluation
}

type Course = (Vec<(u32, f32)>, Vec<Evaluation>);

/// Losses and evaluations of every run.
fn course(stack: &mut Stack<AnyStack>) -> Vec<Course> {
    let mut all: Vec<Course> = vec![Course::default(); stack.seeds().count()];
    while !stack.is_done() {
        for (own, progress) in all.iter_mut().zip(block_on(stack.advance(u32::MAX)).unwrap()) {
            own.0.extend(progress.unwrap().losses);
        }
        if stack.evaluation_due() {
            for (own, evaluation) in all.iter_mut().zip(block_on(stack.evaluate()).unwrap()) {
                own.1.push(timeless(evaluation.unwrap()));
            }
        }
    }
    all
}

fn course_alone(text: &str) -> Course {
    let mut trainer = block_on(Trainer::open(&Engine::Cpu, &settings(text))).unwrap();
    let mut own = Course::default();
    while !trainer.is_done() {
        own.0.extend(block_on(trainer.advance(u32::MAX)).unwrap().losses);
        if trainer.evaluation_due() {
            own.1.push(timeless(block_on(trainer.evaluate()).unwrap()));
        }
    }
    own
}

#[test]
fn seeds_together_go_the_way_of_each_by_itself_for_every_rule_and_form() {
    for rule in palimpsest_rules::rules() {
        for form in ["recurrent", "chunked"] {
            let text = format!("{SMALL}&rule={}&form={form}", rule.slug());
            let mut stack = stack(&format!("{text}&seed=5"), 3);
            assert_eq!(stack.seeds().collect::<Vec<_>>(), [5, 6, 7]);
            let together = course(&mut stack);
            for (seed, own) in [5, 6, 7].into_iter().zip(&together) {
                assert_eq!((own.0.len(), own.1.len()), (6, 2));
                assert_eq!(*own, course_alone(&format!("{text}&seed={seed}")), "{} {form}, seed {seed}", rule.slug());
            }
            assert_ne!(together[0].0, together[1].0);
            stack.reset().unwrap();
            assert_eq!(together, course(&mut stack), "{} {form} does not repeat", rule.slug());
        }
    }
}

#[test]
fn a_look_shows_the_run_that_was_asked_for() {
    let mut stack = stack(&format!("{SMALL}&seed=2"), 2);
    let look = Look { layer: 1, head: 1, sample: 7 };
    let mut alone = block_on(Trainer::open(&Engine::Cpu, &settings(&format!("{SMALL}&seed=3")))).unwrap();
    let (second, expected) = (block_on(stack.look(1, look)).unwrap(), block_on(alone.look(look)).unwrap());
    assert_eq!((&second.sample, &second.trace), (&expected.sample, &expected.trace));
    assert_ne!(block_on(stack.look(0, look)).unwrap().trace, second.trace);
    assert!(block_on(stack.look(2, look)).is_err());
}

/// A stack of three runs, the middle one with a learning rate that ruins it at once.
fn with_a_ruined_run(change: impl Fn(&mut Recipe)) -> Stack<AnyStack> {
    let settings = settings(SMALL);
    let recipe = Recipe::from_settings(&settings);
    let model = Model::record(Recipe::model_shape(&settings, Engine::Cpu.kind()), recipe.optimizer).unwrap();
    let session = block_on(Engine::Cpu.stack(model.plan.clone(), 3)).unwrap();
    let mut recipes = vec![recipe; 3];
    change(&mut recipes[1]);
    Stack::new(model, session, recipes).unwrap()
}

#[test]
fn a_diverging_run_stops_with_its_step_and_the_others_go_on() {
    let mut stack = with_a_ruined_run(|recipe| (recipe.schedule.peak, recipe.schedule.warmup) = (f32::INFINITY, 3));
    let first = block_on(stack.advance(1)).unwrap();
    assert!(first.iter().all(Result::is_ok), "{first:?}");
    // the weights are infinite now, which the second step's loss shows
    let second = block_on(stack.advance(1)).unwrap();
    assert!(matches!(second[1], Err(TrainError::NotFinite { step: 2, .. })), "{second:?}");
    while !stack.is_done() {
        let later = block_on(stack.advance(1)).unwrap();
        assert!(later[0].is_ok() && later[2].is_ok() && !stack.all_stopped());
        assert!(matches!(later[1], Err(TrainError::NotFinite { step: 2, .. })), "{later:?}");
    }
    let evaluations = block_on(stack.evaluate()).unwrap();
    assert!(evaluations[0].is_ok() && evaluations[1].is_err() && evaluations[2].is_ok());
    let own = |index: usize| timeless(evaluations[index].clone().unwrap());
    assert_eq!(own(0), own(2));
    assert_eq!(own(0), *course_alone(SMALL).1.last().unwrap());
    stack.reset().unwrap();
    assert!(block_on(stack.advance(1)).unwrap().iter().all(Result::is_ok));
}

#[test]
fn a_run_whose_held_out_loss_is_no_number_stops() {
    let mut stack = with_a_ruined_run(|recipe| (recipe.schedule.peak, recipe.schedule.warmup) = (f32::INFINITY, 3));
    block_on(stack.advance(1)).unwrap();
    let evaluations = block_on(stack.evaluate()).unwrap();
    assert!(matches!(evaluations[1], Err(TrainError::HeldOutNotFinite { step: 1, .. })), "{evaluations:?}");
    assert!(evaluations[0].is_ok() && evaluations[2].is_ok());
}

#[test]
fn runs_and_recipes_must_be_as_many() {
    let settings = settings(SMALL);
    let recipe = Recipe::from_settings(&settings);
    let model = Model::record(Recipe::model_shape(&settings, Engine::Cpu.kind()), recipe.optimizer).unwrap();
    let session = block_on(Engine::Cpu.stack(model.plan.clone(), 3)).unwrap();
    let refused = Stack::new(model, session, vec![recipe]).map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "1 recipes for 3 runs: each run takes one");
    let refused = block_on(Stack::open(&Engine::Cpu, &settings, 0)).map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "a stack takes at least 1 run");
}
