//! How well runs do on held-out examples, the same for every rule and seed.

use crate::stack::{PerRun, Stack};
use crate::{TrainError, wilson};
use palimpsest_plan::Stacked;
use palimpsest_protocol::Evaluation;
use palimpsest_tasks::{Batch, Example};

/// The accuracy at which a run has learned its task.
pub const LEARNED: f64 = 0.99;

/// What one run has scored so far.
#[derive(Clone, Copy, Default)]
struct Score {
    /// Sum over sequences of the share of right answers.
    shares: f64,
    /// Sequences with all answers right.
    exact: u32,
    losses: f64,
    batches: u32,
}

impl Score {
    /// Counts the examples that count of a batch, with the answers `[B, L]` and the mean loss over the whole batch.
    fn add<'a>(&mut self, examples: impl Iterator<Item = &'a Example>, answers: &[u32], labels: usize, loss: f32) {
        for (example, answers) in examples.zip(answers.chunks(labels)) {
            let hits = example.labels.iter().zip(answers).filter(|(label, answer)| label.target == **answer).count();
            self.shares += hits as f64 / labels as f64;
            self.exact += u32::from(hits == example.labels.len());
        }
        self.losses += f64::from(loss);
        self.batches += 1;
    }

    fn loss(&self) -> f32 {
        (self.losses / f64::from(self.batches.max(1))) as f32
    }
}

impl<S: Stacked> Stack<S> {
    /// Accuracy of each run on the held-out examples. A run whose held-out loss is no number stops.
    pub async fn evaluate(&mut self) -> Result<PerRun<Evaluation>, TrainError> {
        let (size, labels) = (self.model.shape.batch.max(1), self.model.shape.labels.max(1));
        let total = self.recipe().eval_examples as usize;
        let mut scores = vec![Score::default(); self.runs.len()];
        for first in (0..total).step_by(size) {
            let examples = self.recipe().held_out(first as u64, size);
            self.session.forward(&vec![self.model.input(Batch::pack(&examples)); self.runs.len()])?;
            let answers = self.session.read_answers(self.model.answers).await?;
            let losses = self.session.read(self.model.loss).await?;
            for ((score, answers), loss) in scores.iter_mut().zip(&answers).zip(&losses) {
                // the last batch may reach past the examples that count
                let loss = loss.first().copied().unwrap_or(f32::NAN);
                score.add(examples.iter().take(total - first), answers, labels, loss);
            }
        }
        let now = (self.step, self.pace.seconds);
        for (run, score) in self.runs.iter_mut().zip(&scores) {
            let loss = score.loss();
            if !loss.is_finite() && run.stopped.is_none() {
                run.stopped = Some(TrainError::HeldOutNotFinite { step: self.step, loss });
            }
            if run.stopped.is_none() && run.reached.is_none() && score.shares / total.max(1) as f64 >= LEARNED {
                run.reached = Some(now);
            }
        }
        let evaluations = scores.iter().zip(&self.runs).map(|(score, run)| {
            let accuracy = score.shares / total.max(1) as f64;
            Evaluation {
                step: self.step,
                seconds: self.pace.seconds,
                accuracy,
                examples: total as u32,
                labels: (total * self.model.shape.labels) as u32,
                exact: score.exact,
                interval: wilson(accuracy, total as u32),
                loss: score.loss(),
                reached_99: run.reached,
            }
        });
        Ok(self.per_run(evaluations))
    }
}
