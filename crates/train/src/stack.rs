//! Training several runs of one model together: as many steps for each, each with its own seed.

use crate::pace::Pace;
use crate::side_by_side::side_by_side;
use crate::{AnyStack, Engine, Model, Recipe, TrainError};
use palimpsest_plan::{Adapter, BackendError, Stacked, StepInput, StepResult};
use palimpsest_protocol::Progress;
use palimpsest_spec::Settings;
use std::collections::VecDeque;

/// What each run has to report, or why it stopped. The others go on.
pub type PerRun<T> = Vec<Result<T, TrainError>>;

/// A model, a session for R runs of it, and how far they are. All runs take their steps together, and see the same held-out examples.
pub struct Stack<S> {
    pub(crate) model: Model,
    pub(crate) session: S,
    pub(crate) runs: Vec<Run>,
    pub(crate) step: u32,
    pub(crate) pace: Pace,
    /// `[steps, R]`: inputs of the next steps.
    ahead: VecDeque<StepInput>,
}

/// One run of a stack.
pub(crate) struct Run {
    pub(crate) recipe: Recipe,
    initial: Vec<f32>,
    /// Step and seconds at which it was first found to have learned its task.
    pub(crate) reached: Option<(u32, f64)>,
    /// Why its numbers mean nothing any more.
    pub(crate) stopped: Option<TrainError>,
}

impl Stack<AnyStack> {
    /// Builds what settings ask for on an engine, at step 0, for `seeds` runs: the settings' own seed and those that follow it.
    ///
    /// # Errors
    /// [`TrainError::Seeds`] when several do not fit the device together; else what the plan or the backend says.
    pub async fn open(engine: &Engine, settings: &Settings, seeds: usize) -> Result<Stack<AnyStack>, TrainError> {
        let mut own = settings.clone();
        let mut recipes = Vec::new();
        for _ in 0..seeds {
            recipes.push(Recipe::from_settings(&own));
            own.next_seed();
        }
        let model = Model::record(Recipe::model_shape(settings, engine.kind()), Recipe::from_settings(settings).optimizer)?;
        let session = engine.stack(model.plan.clone(), seeds).await.map_err(|error| together(error, seeds))?;
        Stack::new(model, session, recipes)
    }
}

impl<S: Stacked> Stack<S> {
    /// Gives each run of a session its first weights. Recipes are alike in their steps and evaluations; those of the first count.
    ///
    /// # Errors
    /// [`TrainError::Recipes`] unless there is a recipe for each run.
    pub fn new(model: Model, mut session: S, recipes: Vec<Recipe>) -> Result<Stack<S>, TrainError> {
        if recipes.is_empty() || recipes.len() != session.runs() {
            return Err(TrainError::Recipes { recipes: recipes.len(), runs: session.runs() });
        }
        let mut runs = Vec::new();
        for (index, recipe) in recipes.into_iter().enumerate() {
            let initial = model.plan.initial_parameters(recipe.seed);
            session.set_parameters(index, &initial)?;
            for (tensor, values) in model.plan.constants(recipe.seed) {
                session.write(index, tensor, &values)?;
            }
            runs.push(Run { recipe, initial, reached: None, stopped: None });
        }
        Ok(Stack { model, session, runs, step: 0, pace: Pace::new(), ahead: VecDeque::new() })
    }

    /// Back to the first weights and step 0.
    pub fn reset(&mut self) -> Result<(), TrainError> {
        for (index, run) in self.runs.iter_mut().enumerate() {
            self.session.set_parameters(index, &run.initial)?;
            (run.reached, run.stopped) = (None, None);
        }
        (self.step, self.pace) = (0, Pace::new());
        Ok(())
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How the first run is trained; the others have other seeds.
    pub fn recipe(&self) -> &Recipe {
        &self.runs[0].recipe
    }

    /// The seed of each run.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().map(|run| run.recipe.seed)
    }

    /// What computes.
    pub fn adapter(&self) -> &Adapter {
        self.session.adapter()
    }

    /// Steps done.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Whether all steps are done.
    pub fn is_done(&self) -> bool {
        self.step >= self.recipe().schedule.steps
    }

    /// Whether no run goes on.
    pub fn all_stopped(&self) -> bool {
        self.runs.iter().all(|run| run.stopped.is_some())
    }

    /// Whether the held-out examples are due: at step 0, every `eval_every` steps and at the end.
    pub fn evaluation_due(&self) -> bool {
        self.step.is_multiple_of(self.recipe().eval_every.max(1)) || self.is_done()
    }

    /// Trains a burst, at most `limit` steps, never past the next evaluation or the end. A run with a loss or gradient norm that is no
    /// number stops, with an error that names the step.
    pub async fn advance(&mut self, limit: u32) -> Result<PerRun<Progress>, TrainError> {
        let every = self.recipe().eval_every.max(1);
        let until = (self.step / every + 1) * every;
        let until = until.min(self.recipe().schedule.steps).min(self.step.saturating_add(limit.max(1)));
        let count = self.pace.burst().min(until.saturating_sub(self.step));
        self.pace.begin();
        self.prepare(count);
        let inputs: Vec<StepInput> = self.ahead.drain(..count as usize * self.runs.len()).collect();
        self.session.train(&inputs)?;
        self.step += count;
        // A GPU is at work on this burst meanwhile.
        self.prepare(count);
        let results = self.session.results().await?;
        self.pace.end(count);
        let own = |index: usize| results.iter().skip(index).step_by(self.runs.len());
        let faults = (0..self.runs.len()).map(|index| own(index).find_map(fault)).collect::<Vec<_>>();
        let losses = (0..self.runs.len()).map(|index| own(index).map(|result| (result.step, result.loss)).collect());
        let losses: Vec<Vec<(u32, f32)>> = losses.collect();
        for (run, fault) in self.runs.iter_mut().zip(faults) {
            run.stopped = run.stopped.take().or(fault);
        }
        Ok(self.per_run(losses.into_iter().map(|losses| self.progress(losses))))
    }

    /// Makes the inputs of the next `count` steps, as far as the run goes and they are not there yet.
    fn prepare(&mut self, count: u32) {
        if self.ahead.front().is_some_and(|input| input.step != self.step + 1) {
            self.ahead.clear();
        }
        let ready = (self.ahead.len() / self.runs.len()) as u32;
        let to = self.step.saturating_add(count).min(self.recipe().schedule.steps);
        let inputs = self.inputs(self.step + ready + 1, to);
        self.ahead.extend(inputs);
    }

    /// Data `[count, R]` of the next `count` steps, as [`Stack::advance`] would train them.
    pub fn upcoming(&self, count: u32) -> Vec<StepInput> {
        self.inputs(self.step + 1, self.step + count)
    }

    /// Inputs `[steps, R]` of the steps `from..=to`.
    fn inputs(&self, from: u32, to: u32) -> Vec<StepInput> {
        let size = self.model.shape.batch;
        // [R, steps]
        let batches = side_by_side(&self.runs, |run| (from..=to).map(|step| run.recipe.training_batch(step, size)).collect::<Vec<_>>());
        let mut batches: Vec<_> = batches.into_iter().map(Vec::into_iter).collect();
        let mut inputs = Vec::new();
        for step in from..=to {
            for (run, batch) in self.runs.iter().zip(batches.iter_mut().filter_map(Iterator::next)) {
                inputs.push(StepInput { batch: self.model.input(batch), rate: run.recipe.schedule.rate(step), step });
            }
        }
        inputs
    }

    fn progress(&self, losses: Vec<(u32, f32)>) -> Progress {
        let speed = self.pace.steps_per_second;
        let left = f64::from(self.recipe().schedule.steps.saturating_sub(self.step));
        Progress {
            step: self.step,
            losses,
            steps_per_second: speed,
            tokens_per_second: speed * self.model.shape.rows() as f64,
            seconds: self.pace.seconds,
            seconds_left: if speed > 0.0 { left / speed } else { 0.0 },
        }
    }

    /// Reports of the runs that go on, and why the others stopped.
    pub(crate) fn per_run<T>(&self, reports: impl Iterator<Item = T>) -> PerRun<T> {
        let reports = self.runs.iter().zip(reports);
        reports.map(|(run, report)| run.stopped.clone().map_or(Ok(report), Err)).collect()
    }
}

/// Why a stack was not built: where it is too large, fewer seeds are another way out than those a backend knows.
fn together(error: BackendError, seeds: usize) -> TrainError {
    match error {
        error @ (BackendError::Limit { .. } | BackendError::Memory { .. }) if seeds > 1 => TrainError::Seeds { seeds, error },
        error => error.into(),
    }
}

/// Why a run cannot go on after a step, if so.
fn fault(result: &StepResult) -> Option<TrainError> {
    let StepResult { step, loss, gradient_norm } = *result;
    let fine = loss.is_finite() && gradient_norm.is_finite();
    (!fine).then_some(TrainError::NotFinite { step, loss, gradient_norm })
}

#[cfg(test)]
mod tests {
    use super::together;
    use crate::TrainError;
    use palimpsest_plan::BackendError;

    #[test]
    fn fewer_seeds_are_advised_only_where_they_could_help() {
        let large = BackendError::Memory { needed: 9, limit: Some(8) };
        let advice = together(large.clone(), 3).to_string();
        assert!(advice.starts_with("3 seeds do not fit together, fewer may: the model needs 9 bytes"), "{advice}");
        assert_eq!(together(large.clone(), 1), TrainError::Backend(large));
        let lost = BackendError::DeviceLost("gone".into());
        assert_eq!(together(lost.clone(), 3), TrainError::Backend(lost));
    }
}
