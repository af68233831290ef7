//! Rules to train in turn: the same settings over several rules and seeds, one after the other.

use palimpsest_protocol::{Event, Phase, RunId};
use std::collections::VecDeque;

/// A run to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Its settings as a link.
    pub(crate) link: String,
}

/// What the queue wants done after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Start training the run that has just been built.
    Train,
    /// Open this one.
    Open(Waiting),
    /// Nothing.
    Nothing,
}

/// Runs to come, and the one in work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    waiting: VecDeque<Waiting>,
    working: Option<RunId>,
    total: usize,
}

impl Queue {
    /// Replaces the queue and gives the first run to open.
    pub(crate) fn fill(&mut self, runs: impl IntoIterator<Item = String>) -> Option<Waiting> {
        self.waiting = runs.into_iter().map(|link| Waiting { link }).collect();
        self.total = self.waiting.len();
        self.working = None;
        self.waiting.pop_front()
    }

    /// Says which run was opened for the queue.
    pub(crate) fn take_up(&mut self, run: RunId) {
        self.working = Some(run);
    }

    /// Drops what is still to come.
    pub(crate) fn clear(&mut self) {
        *self = Queue::default();
    }

    /// Whether the queue works.
    pub(crate) fn busy(&self) -> bool {
        self.working.is_some()
    }

    /// (number of the run in work from 1, of how many).
    pub(crate) fn place(&self) -> Option<(usize, usize)> {
        self.working.map(|_| (self.total - self.waiting.len(), self.total))
    }

    /// What follows from an event: a built run is trained; a finished or failed one makes room for the next.
    pub(crate) fn react(&mut self, event: &Event) -> Next {
        match event {
            Event::Opened { run, .. } if self.working == Some(*run) => Next::Train,
            Event::Phase { run, phase: Phase::Done | Phase::Failed(_), .. } if self.working == Some(*run) => {
                self.working = None;
                match self.waiting.pop_front() {
                    Some(next) => Next::Open(next),
                    None => {
                        self.clear();
                        Next::Nothing
                    }
                }
            }
            _ => Next::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palimpsest_protocol::Failure;

    fn phase(run: u32, phase: Phase) -> Event {
        Event::Phase { run: RunId(run), phase, step: 10 }
    }

    #[test]
    fn runs_follow_each_other_even_after_a_failure() {
        let mut queue = Queue::default();
        let first = queue.fill(["a".to_owned(), "b".to_owned(), "c".to_owned()]).unwrap();
        assert_eq!(first.link, "a");
        queue.take_up(RunId(1));
        assert_eq!(queue.place(), Some((1, 3)));
        assert_eq!(queue.react(&phase(9, Phase::Done)), Next::Nothing);
        assert_eq!(queue.react(&phase(1, Phase::Paused)), Next::Nothing);
        assert_eq!(queue.react(&phase(1, Phase::Done)), Next::Open(Waiting { link: "b".into() }));
        queue.take_up(RunId(2));
        let failed = Phase::Failed(Failure { step: 3, message: "loss is not a number".into() });
        assert_eq!(queue.react(&phase(2, failed)), Next::Open(Waiting { link: "c".into() }));
        queue.take_up(RunId(3));
        assert_eq!(queue.place(), Some((3, 3)));
        assert_eq!(queue.react(&phase(3, Phase::Done)), Next::Nothing);
        assert!(!queue.busy());
    }

    #[test]
    fn a_cleared_queue_opens_nothing() {
        let mut queue = Queue::default();
        queue.fill(["a".to_owned(), "b".to_owned()]);
        queue.take_up(RunId(1));
        queue.clear();
        assert_eq!(queue.react(&phase(1, Phase::Done)), Next::Nothing);
    }
}
