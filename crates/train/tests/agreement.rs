//! The GPU against its twin over whole training steps, and several seeds together against each by itself, on whatever adapter is there
//! (software in tests).

use palimpsest_gpu::{Device, Options};
use palimpsest_spec::Settings;
use palimpsest_train::{AnySession, Engine, Stack, Trainer};
use pollster::block_on;

const SMALL: &str = "length=24&pairs=2&vocab=16&width=16&heads=2&key=8&value=8&batch=8&eval=16&warmup=5&steps=20";

/// Largest relative difference between a loss on the CPU and on the GPU over the first 20 steps.
const TOLERANCE: f32 = 1e-3;

fn trainer(settings: &str, engine: &Engine) -> Trainer<AnySession> {
    let settings = Settings::from_text_strict(settings).unwrap();
    block_on(Trainer::open(engine, &settings)).unwrap()
}

fn losses(trainer: &mut Trainer<AnySession>) -> Vec<f32> {
    let mut losses = Vec::new();
    while !trainer.is_done() {
        losses.extend(block_on(trainer.advance(u32::MAX)).unwrap().losses.into_iter().map(|(_, loss)| loss));
    }
    losses
}

/// Three seeds in one stack over five steps and an evaluation: the bits of each by itself. `first` are the first seed's losses.
fn seeds_together(text: &str, gpu: &Engine, first: &[f32]) {
    let settings = Settings::from_text_strict(text).unwrap();
    let mut stack = block_on(Stack::open(gpu, &settings, 3)).unwrap();
    let mut together = vec![Vec::new(); 3];
    while stack.step() < 5 {
        let progress = block_on(stack.advance(5 - stack.step())).unwrap();
        together.iter_mut().zip(progress).for_each(|(own, progress)| own.extend(progress.unwrap().losses));
    }
    let evaluations = block_on(stack.evaluate()).unwrap();
    let losses: Vec<f32> = together[0].iter().map(|&(_, loss)| loss).collect();
    assert_eq!(losses, first, "{text}, first seed");
    for (seed, (losses, evaluation)) in together.iter().zip(evaluations).enumerate() {
        let mut alone = trainer(&format!("{text}&seed={seed}"), gpu);
        let mut own = Vec::new();
        while alone.step() < 5 {
            own.extend(block_on(alone.advance(5 - alone.step())).unwrap().losses);
        }
        assert_eq!(*losses, own, "{text}, seed {seed}");
        let (together, alone) = (evaluation.unwrap(), block_on(alone.evaluate()).unwrap());
        assert_eq!((together.accuracy, together.exact, together.loss), (alone.accuracy, alone.exact, alone.loss), "{text}, seed {seed}");
    }
}

#[test]
fn the_first_twenty_losses_of_every_rule_agree_in_both_forms_and_repeat() {
    let gpu = Engine::Gpu(block_on(Device::open(Options::from_env())).unwrap());
    for rule in palimpsest_rules::rules() {
        let settings = format!("{SMALL}&rule={}", rule.slug());
        let cpu = losses(&mut trainer(&settings, &Engine::Cpu));
        assert_eq!(cpu.len(), 20);
        for form in ["recurrent", "chunked"] {
            let mut trainer = trainer(&format!("{settings}&form={form}"), &gpu);
            let on_gpu = losses(&mut trainer);
            for (step, (a, b)) in cpu.iter().zip(&on_gpu).enumerate() {
                assert!(((a - b) / a).abs() < TOLERANCE, "{} {form}, step {}: {a} on the CPU, {b} on the GPU", rule.slug(), step + 1);
            }
            trainer.reset().unwrap();
            assert_eq!(on_gpu, losses(&mut trainer), "{} {form} does not repeat bit for bit", rule.slug());
            seeds_together(&format!("{settings}&form={form}"), &gpu, &on_gpu[..5]);
        }
    }
}

#[test]
fn a_hybrid_with_full_attention_agrees() {
    let gpu = Engine::Gpu(block_on(Device::open(Options::from_env())).unwrap());
    let settings = format!("{SMALL}&attention_every=2&decay=safe&output_gate=0&conv=0");
    let (cpu, gpu) = (losses(&mut trainer(&settings, &Engine::Cpu)), losses(&mut trainer(&settings, &gpu)));
    for (a, b) in cpu.into_iter().zip(gpu) {
        assert!(((a - b) / a).abs() < TOLERANCE, "{a} on the CPU, {b} on the GPU");
    }
}
