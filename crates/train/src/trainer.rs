//! Training one model on one task: bursts of steps, evaluation, samples, traces.

use crate::pace::Pace;
use crate::strips::{Rows, strips};
use crate::{AnySession, Engine, Model, Recipe, TrainError, wilson};
use palimpsest_plan::{Adapter, Session, StepInput, StepResult, TensorId, Trace};
use palimpsest_protocol::{Evaluation, Look, Progress, Sample, SampleLabel, Strip};
use palimpsest_spec::Settings;
use palimpsest_tasks::{Batch, Example};

/// The accuracy at which a run has learned its task.
pub const LEARNED: f64 = 0.99;

/// What [`Trainer::look`] shows.
#[derive(Clone, Debug)]
pub struct View {
    /// The sequence and the model's answers.
    pub sample: Sample,
    /// States and reads of the layer and head, or `None` when no layer holds a matrix state.
    pub trace: Option<(Trace, Vec<Strip>)>,
}

/// A model, its session, its data, and how far it is.
pub struct Trainer<S> {
    model: Model,
    session: S,
    recipe: Recipe,
    initial: Vec<f32>,
    step: u32,
    pace: Pace,
    reached: Option<(u32, f64)>,
}

impl Trainer<AnySession> {
    /// Builds what settings ask for on an engine, at step 0.
    pub async fn open(engine: &Engine, settings: &Settings) -> Result<Trainer<AnySession>, TrainError> {
        let recipe = Recipe::from_settings(settings);
        let model = Model::record(Recipe::model_shape(settings, engine.kind()), recipe.optimizer)?;
        let session = engine.session(model.plan.clone()).await?;
        Trainer::new(model, session, recipe)
    }
}

impl<S: Session> Trainer<S> {
    /// Gives a session its first weights.
    pub fn new(model: Model, mut session: S, recipe: Recipe) -> Result<Trainer<S>, TrainError> {
        let initial = model.plan.initial_parameters(recipe.seed);
        session.set_parameters(&initial)?;
        for (tensor, values) in model.plan.constants(recipe.seed) {
            session.write(tensor, &values)?;
        }
        Ok(Trainer { model, session, recipe, initial, step: 0, pace: Pace::new(), reached: None })
    }

    /// Back to the first weights and step 0.
    pub fn reset(&mut self) -> Result<(), TrainError> {
        self.session.set_parameters(&self.initial)?;
        (self.step, self.pace, self.reached) = (0, Pace::new(), None);
        Ok(())
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How it is trained.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// What computes.
    pub fn adapter(&self) -> &Adapter {
        self.session.adapter()
    }

    /// The session, to measure with.
    pub fn session_mut(&mut self) -> &mut S {
        &mut self.session
    }

    /// Data of the next `count` steps, as [`Trainer::advance`] would train them.
    pub fn upcoming(&self, count: u32) -> Vec<StepInput> {
        (1..=count).map(|offset| self.input(self.step + offset)).collect()
    }

    /// Steps done.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Whether all steps are done.
    pub fn is_done(&self) -> bool {
        self.step >= self.recipe.schedule.steps
    }

    /// Whether the held-out examples are due: at step 0, every `eval_every` steps and at the end.
    pub fn evaluation_due(&self) -> bool {
        self.step.is_multiple_of(self.recipe.eval_every.max(1)) || self.is_done()
    }

    /// Trains a burst, at most `limit` steps, never past the next evaluation or the end. Losses that are not numbers are an error that names the step.
    pub async fn advance(&mut self, limit: u32) -> Result<Progress, TrainError> {
        let every = self.recipe.eval_every.max(1);
        let until = (self.step / every + 1) * every;
        let until = until.min(self.recipe.schedule.steps).min(self.step.saturating_add(limit.max(1)));
        let count = self.pace.burst().min(until.saturating_sub(self.step));
        self.pace.begin();
        let inputs = self.upcoming(count);
        self.session.train(&inputs)?;
        let results = self.session.results().await?;
        self.pace.end(count);
        self.step += count;
        if let Some(bad) = results.iter().find(|result| !result.loss.is_finite() || !result.gradient_norm.is_finite()) {
            return Err(TrainError::NotFinite { step: bad.step, loss: bad.loss, gradient_norm: bad.gradient_norm });
        }
        Ok(self.progress(&results))
    }

    fn progress(&self, results: &[StepResult]) -> Progress {
        let speed = self.pace.steps_per_second;
        let left = f64::from(self.recipe.schedule.steps.saturating_sub(self.step));
        Progress {
            step: self.step,
            losses: results.iter().map(|result| (result.step, result.loss)).collect(),
            steps_per_second: speed,
            tokens_per_second: speed * self.model.shape.rows() as f64,
            seconds: self.pace.seconds,
            seconds_left: if speed > 0.0 { left / speed } else { 0.0 },
        }
    }

    fn input(&self, step: u32) -> StepInput {
        let examples = self.recipe.training_examples(step, self.model.shape.batch);
        StepInput { batch: self.batch(&examples), rate: self.recipe.schedule.rate(step), step }
    }

    fn batch(&self, examples: &[Example]) -> Vec<(TensorId, Vec<u32>)> {
        let batch = Batch::pack(examples);
        vec![(self.model.tokens, batch.tokens), (self.model.rows, batch.rows), (self.model.targets, batch.targets)]
    }

    /// Accuracy on the held-out examples, the same for every rule and seed.
    pub async fn evaluate(&mut self) -> Result<Evaluation, TrainError> {
        let shape = &self.model.shape;
        let (size, per, total) = (shape.batch, shape.labels, self.recipe.eval_examples as usize);
        let (mut shares, mut exact, mut losses, mut batches) = (0.0, 0, 0.0, 0);
        for first in (0..total).step_by(size.max(1)) {
            let examples = self.recipe.held_out(first as u64, size);
            let batch = self.batch(&examples);
            self.session.forward(&batch)?;
            let answers = self.session.read_answers(self.model.answers).await?;
            losses += f64::from(self.session.read(self.model.loss).await?.first().copied().unwrap_or(f32::NAN));
            batches += 1;
            // the last batch may reach past the examples that count
            for (example, answers) in examples.iter().zip(answers.chunks(per.max(1))).take(total - first) {
                let hits = example.labels.iter().zip(answers).filter(|(label, answer)| label.target == **answer).count();
                shares += hits as f64 / per.max(1) as f64;
                exact += u32::from(hits == example.labels.len());
            }
        }
        let accuracy = shares / total.max(1) as f64;
        if accuracy >= LEARNED && self.reached.is_none() {
            self.reached = Some((self.step, self.pace.seconds));
        }
        Ok(Evaluation {
            step: self.step,
            seconds: self.pace.seconds,
            accuracy,
            examples: total as u32,
            labels: (total * per) as u32,
            exact,
            interval: wilson(accuracy, total as u32),
            loss: (losses / f64::from(batches.max(1))) as f32,
            reached_99: self.reached,
        })
    }

    /// A held-out sequence, the model's answers, and the memory of one layer and head over it.
    pub async fn look(&mut self, look: Look) -> Result<View, TrainError> {
        let examples = self.recipe.held_out(look.sample, self.model.shape.batch);
        let batch = self.batch(&examples);
        self.session.forward(&batch)?;
        let answers = self.session.read_answers(self.model.answers).await?;
        let Some(example) = examples.first() else {
            return Err(TrainError::NoExample);
        };
        let sample = self.sample(look.sample, example, &answers);
        let trace = self.trace(look).await?;
        Ok(View { sample, trace })
    }

    fn sample(&self, index: u64, example: &Example, answers: &[u32]) -> Sample {
        let text = |token| self.recipe.task.token_text(&self.recipe.task_settings, token);
        let labels = example.labels.iter().zip(answers).map(|(label, &answer)| SampleLabel {
            position: label.position,
            target: label.target,
            answer,
            lag: label.lag,
        });
        let labels: Vec<SampleLabel> = labels.collect();
        Sample {
            step: self.step,
            index,
            texts: example.tokens.iter().map(|&token| text(token)).collect(),
            names: labels.iter().map(|label| (text(label.target), text(label.answer))).collect(),
            tokens: example.tokens.clone(),
            roles: example.roles.clone(),
            labels,
        }
    }

    async fn trace(&mut self, look: Look) -> Result<Option<(Trace, Vec<Strip>)>, TrainError> {
        let shape = &self.model.shape;
        let Some(scan) = self.model.scans.iter().position(|scan| scan.layer == look.layer as usize) else {
            return Ok(None);
        };
        let head = (look.head as usize).min(shape.heads.saturating_sub(1));
        let layer = self.model.scans[scan];
        let (time, heads, key, value) = (shape.time, shape.heads, shape.key, shape.value);
        let trace = self.session.trace(scan, 0, head, 0, time.min(trace_tokens(&shape.rule, key, value))).await?;
        let mut rows = Vec::new();
        for tensor in [layer.inputs, layer.steps] {
            // [B, T, H, stride]: the first sequence's rows of this head
            let stride = self.model.plan.tensor(tensor).shape.last().copied().unwrap_or(1);
            let all = self.session.read_range(tensor, 0..time * heads * stride).await?;
            rows.push(all.chunks_exact(heads * stride).flat_map(|token| &token[head * stride..][..stride]).copied().collect::<Vec<f32>>());
        }
        let strips = strips(&self.model.shape.rule, key, value, &Rows { inputs: &rows[0], steps: &rows[1] });
        Ok(Some((trace, strips)))
    }
}

/// Floats of states that one trace may hold (32 MB).
const TRACE_FLOATS: usize = 8 << 20;

/// Longest window of tokens that a trace covers.
fn trace_tokens(rule: &palimpsest_rules::Rule, key: usize, value: usize) -> usize {
    (TRACE_FLOATS / (rule.steps().len().max(1) * 3 * key * value)).max(1)
}
