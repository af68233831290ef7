//! Several independent runs of one plan, side by side.

use crate::{Adapter, BackendError, Session, StepInput, StepResult, TensorId, Trace, TraceWindow};
use std::ops::Range;

/// Contents of batch tensors.
pub type BatchInput = Vec<(TensorId, Vec<u32>)>;

/// A plan built on a backend for R independent runs, counted from 0. Each has its own parameters, moments, data and results; all take
/// their steps together, and nothing flows from one to another. What a [`Session`] does for one run this does for all.
#[allow(async_fn_in_trait, reason = "sessions stay on the thread that made them, in the page and natively")]
pub trait Stacked {
    /// What computes.
    fn adapter(&self) -> &Adapter;

    /// R, the number of runs, at least 1.
    fn runs(&self) -> usize;

    /// See [`Session::set_parameters`]; the other runs keep theirs.
    fn set_parameters(&mut self, run: usize, packed: &[f32]) -> Result<(), BackendError>;

    /// See [`Session::write`]; the other runs keep theirs.
    fn write(&mut self, run: usize, tensor: TensorId, values: &[f32]) -> Result<(), BackendError>;

    /// See [`Session::parameters`].
    async fn parameters(&mut self, run: usize) -> Result<Vec<f32>, BackendError>;

    /// Queues training steps. `steps` is `[steps, R]`: the first step of every run, then the second of every run, and so on.
    ///
    /// # Errors
    /// [`BackendError::Input`] when the number of inputs is no multiple of R; else as [`Session::train`]. Runs may then be at
    /// different steps.
    fn train(&mut self, steps: &[StepInput]) -> Result<(), BackendError>;

    /// Results `[steps, R]` of the queued steps not yet reported. Waits for all of them.
    async fn results(&mut self) -> Result<Vec<StepResult>, BackendError>;

    /// Runs the forward operations, each run on its own batch.
    ///
    /// # Errors
    /// [`BackendError::Input`] when there are not R batches; else as [`Session::forward`].
    fn forward(&mut self, batches: &[BatchInput]) -> Result<(), BackendError>;

    /// A tensor of every run, as [`Session::read`].
    async fn read(&mut self, tensor: TensorId) -> Result<Vec<Vec<f32>>, BackendError>;

    /// Some consecutive elements of a tensor of one run, as [`Session::read_range`].
    async fn read_range(&mut self, run: usize, tensor: TensorId, range: Range<usize>) -> Result<Vec<f32>, BackendError>;

    /// The answers of every run, as [`Session::read_answers`].
    async fn read_answers(&mut self, tensor: TensorId) -> Result<Vec<Vec<u32>>, BackendError>;

    /// States of one run, as [`Session::trace`].
    async fn trace(&mut self, run: usize, window: TraceWindow) -> Result<Trace, BackendError>;
}

/// Refuses a run that is not there.
///
/// # Errors
/// [`BackendError::Input`] unless `run < runs`.
pub fn check_run(run: usize, runs: usize) -> Result<(), BackendError> {
    if run < runs { Ok(()) } else { Err(BackendError::Input(format!("there is no run {run}: {runs} are stacked, counted from 0"))) }
}

/// Refuses inputs that do not fall to the runs evenly.
///
/// # Errors
/// [`BackendError::Input`] unless `inputs` is a multiple of `runs`.
pub fn check_steps(inputs: usize, runs: usize) -> Result<(), BackendError> {
    let even = runs > 0 && inputs.is_multiple_of(runs);
    if even { Ok(()) } else { Err(BackendError::Input(format!("{inputs} inputs of steps do not fall to {runs} runs evenly"))) }
}

/// Refuses batches that are not one for each run.
///
/// # Errors
/// [`BackendError::Input`] unless `batches` is `runs`.
pub fn check_batches(batches: usize, runs: usize) -> Result<(), BackendError> {
    if batches == runs { Ok(()) } else { Err(BackendError::Input(format!("{runs} runs take one batch each, not {batches} in all"))) }
}

/// One session for each run, one run after the other: no faster than the runs by themselves.
pub struct InTurn<S> {
    first: S,
    others: Vec<S>,
}

impl<S: Session> InTurn<S> {
    /// A stack of one run.
    pub fn single(session: S) -> InTurn<S> {
        InTurn { first: session, others: Vec::new() }
    }

    /// Takes a session of the same plan for each run.
    ///
    /// # Errors
    /// [`BackendError::Input`] without a session.
    pub fn new(sessions: Vec<S>) -> Result<InTurn<S>, BackendError> {
        let mut sessions = sessions.into_iter();
        let first = sessions.next().ok_or_else(|| BackendError::Input("a stack takes at least 1 run".to_owned()))?;
        Ok(InTurn { first, others: sessions.collect() })
    }

    /// The first run's session.
    pub fn first_mut(&mut self) -> &mut S {
        &mut self.first
    }

    fn session(&mut self, run: usize) -> Result<&mut S, BackendError> {
        check_run(run, self.runs())?;
        Ok(if run == 0 { &mut self.first } else { &mut self.others[run - 1] })
    }

    fn sessions(&mut self) -> impl Iterator<Item = &mut S> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }
}

impl<S: Session> Stacked for InTurn<S> {
    fn adapter(&self) -> &Adapter {
        self.first.adapter()
    }

    fn runs(&self) -> usize {
        1 + self.others.len()
    }

    fn set_parameters(&mut self, run: usize, packed: &[f32]) -> Result<(), BackendError> {
        self.session(run)?.set_parameters(packed)
    }

    fn write(&mut self, run: usize, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        self.session(run)?.write(tensor, values)
    }

    async fn parameters(&mut self, run: usize) -> Result<Vec<f32>, BackendError> {
        self.session(run)?.parameters().await
    }

    fn train(&mut self, steps: &[StepInput]) -> Result<(), BackendError> {
        if self.others.is_empty() {
            return self.first.train(steps);
        }
        let runs = self.runs();
        check_steps(steps.len(), runs)?;
        steps.chunks(runs).try_for_each(|step| {
            let mut own = self.sessions().zip(step);
            own.try_for_each(|(session, step)| session.train(std::slice::from_ref(step)))
        })
    }

    async fn results(&mut self) -> Result<Vec<StepResult>, BackendError> {
        let mut by_run = Vec::new();
        for session in self.sessions() {
            by_run.push(session.results().await?);
        }
        let steps = by_run.iter().map(Vec::len).min().unwrap_or(0);
        Ok((0..steps).flat_map(|step| by_run.iter().map(move |results| results[step])).collect())
    }

    fn forward(&mut self, batches: &[BatchInput]) -> Result<(), BackendError> {
        check_batches(batches.len(), self.runs())?;
        self.sessions().zip(batches).try_for_each(|(session, batch)| session.forward(batch))
    }

    async fn read(&mut self, tensor: TensorId) -> Result<Vec<Vec<f32>>, BackendError> {
        let mut by_run = Vec::new();
        for session in self.sessions() {
            by_run.push(session.read(tensor).await?);
        }
        Ok(by_run)
    }

    async fn read_range(&mut self, run: usize, tensor: TensorId, range: Range<usize>) -> Result<Vec<f32>, BackendError> {
        self.session(run)?.read_range(tensor, range).await
    }

    async fn read_answers(&mut self, tensor: TensorId) -> Result<Vec<Vec<u32>>, BackendError> {
        let mut by_run = Vec::new();
        for session in self.sessions() {
            by_run.push(session.read_answers(tensor).await?);
        }
        Ok(by_run)
    }

    async fn trace(&mut self, run: usize, window: TraceWindow) -> Result<Trace, BackendError> {
        self.session(run)?.trace(window).await
    }
}
