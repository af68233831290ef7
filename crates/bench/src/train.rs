//! A whole run.

use crate::BenchError;
use palimpsest_plan::Session;
use palimpsest_protocol::Evaluation;
use palimpsest_train::Trainer;

/// How a run went.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTimes {
    /// Steps done.
    pub steps: u32,
    /// Seconds of training; evaluations are not counted.
    pub seconds: f64,
    /// Steps and seconds until the first evaluation with 99 % or more.
    pub reached_99: Option<(u32, f64)>,
    /// Steps per second of training.
    pub steps_per_second: f64,
    /// Tokens per second of training.
    pub tokens_per_second: f64,
    /// The last evaluation.
    pub evaluation: Evaluation,
}

/// Trains until 99 % held-out accuracy or the last step; `tell` hears each evaluation.
///
/// # Errors
/// When training fails on the way.
pub async fn train<S: Session>(trainer: &mut Trainer<S>, mut tell: impl FnMut(&Evaluation)) -> Result<RunTimes, BenchError> {
    let mut evaluation = trainer.evaluate().await?;
    tell(&evaluation);
    while !trainer.is_done() && evaluation.reached_99.is_none() {
        trainer.advance(u32::MAX).await?;
        if trainer.evaluation_due() {
            evaluation = trainer.evaluate().await?;
            tell(&evaluation);
        }
    }
    let (steps, seconds) = (trainer.step(), evaluation.seconds);
    let steps_per_second = f64::from(steps) / seconds.max(f64::MIN_POSITIVE);
    let tokens_per_second = steps_per_second * trainer.model().shape.rows() as f64;
    Ok(RunTimes { steps, seconds, reached_99: evaluation.reached_99, steps_per_second, tokens_per_second, evaluation })
}
