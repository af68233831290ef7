//! The sample and the memory on show.

use palimpsest_protocol::{Event, Moment, RunId, Sample, Strip, Trace};
use palimpsest_rules::{Kind, StepParts};
use std::sync::Arc;

/// A trace with what it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traced {
    /// Run.
    pub(crate) run: RunId,
    /// After this training step.
    pub(crate) step: u32,
    /// Layer, from 0.
    pub(crate) layer: u32,
    /// Head, from 0.
    pub(crate) head: u32,
    /// States and reads.
    pub(crate) trace: Trace,
    /// Gates on the same tokens.
    pub(crate) strips: Vec<Strip>,
}

/// Newest sample and trace of the current run; shared, since they are large and only ever replaced.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct View {
    /// Whose they are.
    pub(crate) run: Option<RunId>,
    /// Tokens, roles, answers.
    pub(crate) sample: Option<Arc<Sample>>,
    /// States over the tokens.
    pub(crate) traced: Option<Arc<Traced>>,
}

impl View {
    /// Learns from an event.
    pub(crate) fn apply(&mut self, event: &Event) -> bool {
        match event {
            Event::Sampled { run, sample } => (self.run, self.sample) = (Some(*run), Some(Arc::new(sample.clone()))),
            Event::Traced { run, step, layer, head, trace, strips } => {
                let traced = Traced { run: *run, step: *step, layer: *layer, head: *head, trace: trace.clone(), strips: strips.clone() };
                self.traced = Some(Arc::new(traced));
            }
            _ => return false,
        }
        true
    }
}

/// One picture of the memory within a token: a moment of one of its rank-one steps, or the read that closes the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// After decay, erase or write of a step.
    Edit {
        /// Rank-one step within the token.
        step: usize,
        /// What has just happened.
        moment: Moment,
    },
    /// `o = S^T q`.
    Read,
}

impl Frame {
    /// All frames of a token, in order.
    pub(crate) fn all(steps: usize) -> Vec<Frame> {
        let edits = (0..steps).flat_map(|step| Moment::ALL.map(|moment| Frame::Edit { step, moment }));
        edits.chain([Frame::Read]).collect()
    }

    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Frame::Edit { moment: Moment::Decay, .. } => "decay",
            Frame::Edit { moment: Moment::Erase, .. } => "erase",
            Frame::Edit { moment: Moment::Write, .. } => "write",
            Frame::Read => "read",
        }
    }

    /// Its equation, in the notation of the rules.
    pub(crate) fn equation(self) -> &'static str {
        match self {
            Frame::Edit { moment: Moment::Decay, .. } => "S′ = Diag(exp g) S",
            Frame::Edit { moment: Moment::Erase, .. } => "S′ − k (S′ᵀ a)ᵀ",
            Frame::Edit { moment: Moment::Write, .. } => "S′ + k (u − S′ᵀ a)ᵀ",
            Frame::Read => "o = Sᵀ q",
        }
    }

    /// One sentence about what this rule's step does here; `steps` are the rule's, in order.
    pub(crate) fn about(self, steps: &[StepParts]) -> &'static str {
        let Frame::Edit { step, moment } = self else { return "The query q reads the memory; the state does not change." };
        let Some(parts) = steps.get(step) else { return "" };
        match (moment, parts.decay, parts.erase, parts.write) {
            (Moment::Decay, None, ..) => "Nothing fades: this step has no decay.",
            (Moment::Decay, Some(Kind::Scalar), ..) => "The whole memory of this head fades by one factor.",
            (Moment::Decay, Some(_), ..) => "Every key channel fades by its own factor.",
            (Moment::Erase, _, false, _) => "Nothing is erased: this step only adds.",
            (Moment::Erase, _, true, _) => "What the erase vector a finds in the memory is taken away at address k.",
            (Moment::Write, _, _, false) => "Nothing is written: this step only erases.",
            (Moment::Write, _, _, true) => "The new value u is added at address k.",
        }
    }

    /// The state after this frame of the window's `token`-th token.
    pub(crate) fn state(self, trace: &Trace, token: usize) -> Option<&[f32]> {
        match self {
            Frame::Edit { step, moment } => trace.state(token, step, moment),
            Frame::Read => trace.state(token, trace.steps.checked_sub(1)?, Moment::Write),
        }
    }

    /// The state before it; `None` at the very first frame of a window, where it is zero or unknown.
    pub(crate) fn before(self, trace: &Trace, token: usize) -> Option<&[f32]> {
        let frames = Frame::all(trace.steps);
        let index = frames.iter().position(|frame| *frame == self)?;
        match index.checked_sub(1) {
            Some(earlier) => frames[earlier].state(trace, token),
            None => Frame::Read.state(trace, token.checked_sub(1)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        // Two tokens, two steps, one cell: states count up in order of time.
        let states = (0..12).map(|i| i as f32).collect();
        Trace { first: 0, tokens: 2, steps: 2, key: 1, value: 1, states, reads: vec![5.0, 11.0] }
    }

    #[test]
    fn frames_run_through_time() {
        let trace = trace();
        let frames = Frame::all(trace.steps);
        assert_eq!(frames.len(), 7);
        let seen: Vec<f32> = frames.iter().map(|frame| frame.state(&trace, 1).unwrap()[0]).collect();
        assert_eq!(seen, vec![6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 11.0]);
    }

    #[test]
    fn before_is_the_frame_earlier_across_tokens() {
        let trace = trace();
        let first = Frame::Edit { step: 0, moment: Moment::Decay };
        assert_eq!(first.before(&trace, 0), None);
        assert_eq!(first.before(&trace, 1), Some(&[5.0][..]));
        assert_eq!(Frame::Read.before(&trace, 0), Some(&[5.0][..]));
        let second = Frame::Edit { step: 1, moment: Moment::Decay };
        assert_eq!(second.before(&trace, 0), Some(&[2.0][..]));
    }

    #[test]
    fn sentences_follow_the_parts_of_a_step() {
        let said = |decay, erase, write| {
            let steps = [StepParts { decay, erase, write }];
            Frame::all(1).into_iter().map(|frame| frame.about(&steps)).collect::<Vec<_>>()
        };
        let (none, head, channel) = (said(None, false, true), said(Some(Kind::Scalar), true, false), said(Some(Kind::Key), true, true));
        assert!(none[0].contains("no decay") && none[1].contains("Nothing is erased") && none[2].contains("added"));
        assert!(head[0].contains("one factor") && head[1].contains("taken away") && head[2].contains("Nothing is written"));
        assert!(channel[0].contains("its own factor") && channel[3].contains("reads"));
    }

    #[test]
    fn outside_the_window_there_is_no_state() {
        assert_eq!(Frame::Read.state(&trace(), 2), None);
    }
}
