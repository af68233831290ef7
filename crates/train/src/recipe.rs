//! How a run is trained: its data, its learning rate, its evaluation. Read from settings.

use crate::schedule::{Schedule, Shape};
use crate::{ModelShape, choose_form};
use palimpsest_plan::{AdamW, AdapterKind, DecayForm};
use palimpsest_spec::{DecayForm as DecayWord, Schedule as ScheduleWord, Settings};
use palimpsest_tasks::{Batch, Example, Stream, Task, TaskSettings};

/// Everything of a run that is not the model's shape.
#[derive(Clone)]
pub struct Recipe {
    /// The task.
    pub task: &'static dyn Task,
    /// Its settings.
    pub task_settings: TaskSettings,
    /// First weights, constants and training data follow from it.
    pub seed: u64,
    /// Learning rate over the steps.
    pub schedule: Schedule,
    /// The update.
    pub optimizer: AdamW,
    /// Steps between evaluations.
    pub eval_every: u32,
    /// Held-out sequences of an evaluation.
    pub eval_examples: u32,
    training: Stream,
    held_out: Stream,
}

impl Recipe {
    /// Reads the recipe off settings.
    pub fn from_settings(settings: &Settings) -> Recipe {
        let (task, task_settings, seed) = (settings.task(), settings.task_settings(), settings.seed());
        let shape = match settings.schedule() {
            ScheduleWord::Cosine => Shape::Cosine,
            ScheduleWord::Wsd => Shape::Wsd,
            ScheduleWord::Constant => Shape::Constant,
        };
        let steps = settings.steps() as u32;
        let schedule = Schedule { peak: settings.lr() as f32, warmup: settings.warmup() as u32, steps, shape };
        let (weight_decay, clip) = (settings.weight_decay() as f32, settings.clip() as f32);
        Recipe {
            task,
            task_settings,
            seed,
            schedule,
            optimizer: AdamW { weight_decay, clip, ..AdamW::default() },
            eval_every: settings.eval_every() as u32,
            eval_examples: settings.eval() as u32,
            training: Stream::training(task, task_settings, seed),
            held_out: Stream::held_out(task, task_settings),
        }
    }

    /// The sizes of the run's model, with the scan's form chosen for a backend.
    pub fn model_shape(settings: &Settings, kind: AdapterKind) -> ModelShape {
        let (task, task_settings) = (settings.task(), settings.task_settings());
        let decay = match settings.decay() {
            DecayWord::Exponential => DecayForm::Exponential,
            DecayWord::Safe => DecayForm::Safe,
        };
        ModelShape {
            rule: settings.rule().clone(),
            vocabulary: task.vocabulary(&task_settings),
            width: settings.width(),
            layers: settings.layers(),
            heads: settings.heads(),
            key: settings.key(),
            value: settings.value(),
            mlp: settings.mlp(),
            conv: settings.conv(),
            output_gate: settings.output_gate(),
            decay,
            attention_every: settings.attention_every(),
            form: choose_form(settings, kind),
            batch: settings.batch(),
            time: settings.length(),
            labels: task.labels_per_example(&task_settings),
        }
    }

    /// The training examples of a step, counted from 1.
    pub fn training_batch(&self, step: u32, batch: usize) -> Batch {
        self.training.batch(u64::from(step), batch)
    }

    /// Held-out examples from `first` on.
    pub fn held_out(&self, first: u64, count: usize) -> Vec<Example> {
        (0..count as u64).map(|offset| self.held_out.example(first + offset)).collect()
    }
}
