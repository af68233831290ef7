//! The current run: built from a settings link, it trains, is evaluated and is looked at.

use crate::device::Devices;
use palimpsest_protocol::{Event, Failure, Look, Phase, RunFacts, RunId};
use palimpsest_spec::Settings;
use palimpsest_train::{AnySession, Engine, TrainError, Trainer, View};

/// One run and what is shown of it.
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) settings: Settings,
    pub(crate) look: Look,
    pub(crate) phase: Phase,
    /// Whether the held-out examples wait for their turn after a picture that should not.
    owes_evaluation: bool,
    trainer: Trainer<AnySession>,
}

impl Run {
    /// Builds the model on an engine.
    pub(crate) async fn open(engine: &Engine, id: RunId, settings: Settings, look: Look) -> Result<Run, TrainError> {
        let trainer = Trainer::open(engine, &settings).await?;
        Ok(Run { id, settings, look, phase: Phase::Ready, owes_evaluation: false, trainer })
    }

    pub(crate) fn facts(&self, devices: &Devices) -> RunFacts {
        let shape = &self.trainer.model().shape;
        RunFacts {
            parameters: self.trainer.model().plan.parameter_count() as u64,
            state: shape.state() as u64,
            steps: self.trainer.recipe().schedule.steps,
            tokens_per_step: shape.rows() as u32,
            scan_layers: shape.scan_layers().into_iter().map(|layer| layer as u32).collect(),
            heads: shape.heads as u32,
            adapter: devices.named(self.trainer.adapter().clone()),
        }
    }

    /// The phase as an event.
    pub(crate) fn phase_event(&self) -> Event {
        Event::Phase { run: self.id, phase: self.phase.clone(), step: self.trainer.step() }
    }

    pub(crate) fn is_training(&self) -> bool {
        self.phase == Phase::Training
    }

    /// Whether [`Run::evaluate`] is due before anything else.
    pub(crate) fn owes_evaluation(&self) -> bool {
        self.owes_evaluation && !matches!(self.phase, Phase::Failed(_))
    }

    /// Starts or goes on. A finished or failed run stays as it is.
    pub(crate) fn train(&mut self) {
        if matches!(self.phase, Phase::Ready | Phase::Paused) {
            self.phase = Phase::Training;
        }
    }

    /// Stops between bursts.
    pub(crate) fn pause(&mut self) {
        if self.phase == Phase::Training {
            self.phase = Phase::Paused;
        }
    }

    pub(crate) fn fail(&mut self, message: String) {
        self.phase = Phase::Failed(Failure { step: self.trainer.step(), message });
    }

    /// Back to the first weights; answers with a fresh view.
    pub(crate) async fn reset(&mut self) -> Result<Vec<Event>, TrainError> {
        self.trainer.reset()?;
        self.phase = Phase::Ready;
        let mut events = vec![self.phase_event()];
        events.extend(self.first_look().await?);
        Ok(events)
    }

    /// What the untrained model makes of the sample; how it scores follows, which may take long on the CPU.
    pub(crate) async fn first_look(&mut self) -> Result<Vec<Event>, TrainError> {
        self.owes_evaluation = true;
        self.show().await
    }

    /// One burst of at most `limit` steps, with what is due after it.
    pub(crate) async fn advance(&mut self, limit: u32) -> Result<Vec<Event>, TrainError> {
        let progress = self.trainer.advance(limit).await?;
        let mut events = vec![Event::Progress { run: self.id, progress }];
        if self.trainer.evaluation_due() {
            events.extend(self.evaluate().await?);
            events.extend(self.show().await?);
        }
        if self.trainer.is_done() {
            self.phase = Phase::Done;
            events.push(self.phase_event());
        }
        Ok(events)
    }

    /// A single step, then paused, with a fresh view.
    pub(crate) async fn single(&mut self) -> Result<Vec<Event>, TrainError> {
        if !matches!(self.phase, Phase::Ready | Phase::Paused) {
            return Ok(Vec::new());
        }
        let mut events = self.advance(1).await?;
        if self.phase != Phase::Done {
            self.phase = Phase::Paused;
            events.push(self.phase_event());
        }
        if !self.trainer.evaluation_due() {
            events.extend(self.show().await?);
        }
        Ok(events)
    }

    pub(crate) async fn evaluate(&mut self) -> Result<Vec<Event>, TrainError> {
        self.owes_evaluation = false;
        let evaluation = self.trainer.evaluate().await?;
        Ok(vec![Event::Evaluated { run: self.id, evaluation }])
    }

    /// The sample, and the memory over it.
    pub(crate) async fn show(&mut self) -> Result<Vec<Event>, TrainError> {
        let View { sample, trace } = self.trainer.look(self.look).await?;
        let mut events = vec![Event::Sampled { run: self.id, sample }];
        if let Some((trace, strips)) = trace {
            let Look { layer, head, .. } = self.look;
            events.push(Event::Traced { run: self.id, step: self.trainer.step(), layer, head, trace, strips });
        }
        Ok(events)
    }
}
