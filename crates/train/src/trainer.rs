//! Training one model on one task: a stack of a single run.

use crate::look::View;
use crate::stack::{PerRun, Stack};
use crate::{AnySession, Engine, Model, Recipe, TrainError};
use palimpsest_plan::{Adapter, InTurn, Session, StepInput};
use palimpsest_protocol::{Evaluation, Look, Progress};
use palimpsest_spec::Settings;

/// A model, its session, its data, and how far it is.
pub struct Trainer<S> {
    stack: Stack<InTurn<S>>,
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
    pub fn new(model: Model, session: S, recipe: Recipe) -> Result<Trainer<S>, TrainError> {
        Ok(Trainer { stack: Stack::new(model, InTurn::single(session), vec![recipe])? })
    }

    /// Back to the first weights and step 0.
    pub fn reset(&mut self) -> Result<(), TrainError> {
        self.stack.reset()
    }

    /// The model.
    pub fn model(&self) -> &Model {
        self.stack.model()
    }

    /// How it is trained.
    pub fn recipe(&self) -> &Recipe {
        self.stack.recipe()
    }

    /// What computes.
    pub fn adapter(&self) -> &Adapter {
        self.stack.adapter()
    }

    /// The session, to measure with.
    pub fn session_mut(&mut self) -> &mut S {
        self.stack.session.first_mut()
    }

    /// Data of the next `count` steps, as [`Trainer::advance`] would train them.
    pub fn upcoming(&self, count: u32) -> Vec<StepInput> {
        self.stack.upcoming(count)
    }

    /// Steps done.
    pub fn step(&self) -> u32 {
        self.stack.step()
    }

    /// Whether all steps are done.
    pub fn is_done(&self) -> bool {
        self.stack.is_done()
    }

    /// Whether the held-out examples are due: at step 0, every `eval_every` steps and at the end.
    pub fn evaluation_due(&self) -> bool {
        self.stack.evaluation_due()
    }

    /// Trains a burst, at most `limit` steps, never past the next evaluation or the end. Losses that are not numbers are an error that names the step.
    pub async fn advance(&mut self, limit: u32) -> Result<Progress, TrainError> {
        let all = self.stack.advance(limit).await?;
        only(all)
    }

    /// Accuracy on the held-out examples, the same for every rule and seed.
    pub async fn evaluate(&mut self) -> Result<Evaluation, TrainError> {
        let all = self.stack.evaluate().await?;
        only(all)
    }

    /// A held-out sequence, the model's answers, and the memory of one layer and head over it.
    pub async fn look(&mut self, look: Look) -> Result<View, TrainError> {
        self.stack.look(0, look).await
    }
}

fn only<T>(all: PerRun<T>) -> Result<T, TrainError> {
    let count = all.len();
    all.into_iter().next().unwrap_or(Err(TrainError::Recipes { recipes: count, runs: 1 }))
}
