//! A held-out sequence as a run sees it: its answers, and its memory over the tokens.

use crate::TrainError;
use crate::stack::Stack;
use crate::strips::{Rows, strips};
use palimpsest_plan::{Stacked, Trace, TraceWindow, check_run};
use palimpsest_protocol::{Look, Sample, SampleLabel, Strip};
use palimpsest_tasks::{Batch, Example};

/// What a look shows.
#[derive(Clone, Debug)]
pub struct View {
    /// The sequence and the model's answers.
    pub sample: Sample,
    /// States and reads of the layer and head, or `None` when no layer holds a matrix state.
    pub trace: Option<(Trace, Vec<Strip>)>,
}

impl<S: Stacked> Stack<S> {
    /// A held-out sequence, one run's answers, and its memory of one layer and head over it.
    pub async fn look(&mut self, run: usize, look: Look) -> Result<View, TrainError> {
        check_run(run, self.runs.len())?;
        let examples = self.recipe().held_out(look.sample, self.model.shape.batch);
        self.session.forward(&vec![self.model.input(Batch::pack(&examples)); self.runs.len()])?;
        let answers = self.session.read_answers(self.model.answers).await?;
        let Some(example) = examples.first() else {
            return Err(TrainError::NoExample);
        };
        let sample = self.sample(look.sample, example, &answers[run]);
        let trace = self.trace(run, look).await?;
        Ok(View { sample, trace })
    }

    fn sample(&self, index: u64, example: &Example, answers: &[u32]) -> Sample {
        let text = |token| self.recipe().task.token_text(&self.recipe().task_settings, token);
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

    async fn trace(&mut self, run: usize, look: Look) -> Result<Option<(Trace, Vec<Strip>)>, TrainError> {
        let shape = &self.model.shape;
        let Some(scan) = self.model.scans.iter().position(|scan| scan.layer == look.layer as usize) else {
            return Ok(None);
        };
        let head = (look.head as usize).min(shape.heads.saturating_sub(1));
        let layer = self.model.scans[scan];
        let (time, heads, key, value) = (shape.time, shape.heads, shape.key, shape.value);
        let tokens = 0..time.min(trace_tokens(&shape.rule, key, value));
        let trace = self.session.trace(run, TraceWindow { scan, row: 0, head, tokens }).await?;
        let mut rows = Vec::new();
        for tensor in [layer.inputs, layer.steps] {
            // [B, T, H, stride]: the first sequence's rows of this head
            let stride = self.model.plan.tensor(tensor).shape.last().copied().unwrap_or(1);
            let all = self.session.read_range(run, tensor, 0..time * heads * stride).await?;
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
