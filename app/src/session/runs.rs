//! Runs: the current one and those kept as curves.

use super::marks::mark;
use super::names::names;
use crate::figure::Mark;
use palimpsest_protocol::{Evaluation, Event, Failure, Phase, Progress, RunFacts, RunId};
use palimpsest_spec::Settings;
use serde::{Deserialize, Serialize};

/// One training of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Its number, never given twice.
    pub(crate) id: RunId,
    /// Name shown, by what differs from other runs or as the person wrote it.
    pub(crate) name: String,
    /// Whether the person wrote it.
    pub(crate) renamed: bool,
    /// Name of its rule.
    pub(crate) rule: String,
    /// Its settings as a link.
    pub(crate) link: String,
    /// Its colour and dash.
    pub(crate) mark: Mark,
    /// Whether its curves are drawn.
    pub(crate) shown: bool,
    /// Sizes, once built.
    pub(crate) facts: Option<RunFacts>,
    /// Where it stands.
    pub(crate) phase: Phase,
    /// Steps done.
    pub(crate) step: u32,
    /// (step, training loss in nats).
    pub(crate) losses: Vec<(u32, f64)>,
    /// Held-out evaluations in order of steps.
    pub(crate) evaluations: Vec<Evaluation>,
    /// Last report of speed.
    pub(crate) progress: Option<Progress>,
}

impl Run {
    /// A run that the worker has been asked to build.
    pub(crate) fn asked(id: RunId, name: String, rule: String, link: String) -> Run {
        Run {
            id,
            name,
            renamed: false,
            rule,
            link,
            mark: Mark::default(),
            shown: true,
            facts: None,
            phase: Phase::Ready,
            step: 0,
            losses: Vec::new(),
            evaluations: Vec::new(),
            progress: None,
        }
    }

    /// Whether nothing would be lost if it were replaced.
    pub(crate) fn untouched(&self) -> bool {
        self.step == 0 && matches!(self.phase, Phase::Ready | Phase::Failed(_))
    }

    /// Whether it will train no further.
    pub(crate) fn over(&self) -> bool {
        matches!(self.phase, Phase::Done | Phase::Failed(_))
    }

    /// Newest held-out accuracy.
    pub(crate) fn evaluation(&self) -> Option<&Evaluation> {
        self.evaluations.last()
    }

    /// (step, accuracy 0 to 1).
    pub(crate) fn accuracies(&self) -> Vec<(u32, f64)> {
        self.evaluations.iter().map(|e| (e.step, e.accuracy)).collect()
    }

    /// Seconds of training.
    pub(crate) fn seconds(&self) -> f64 {
        self.progress.as_ref().map_or(0.0, |p| p.seconds)
    }

    /// Steps and seconds to 99 % held-out accuracy.
    pub(crate) fn reached(&self) -> Option<(u32, f64)> {
        self.evaluation().and_then(|e| e.reached_99)
    }

    fn start_over(&mut self) {
        self.step = 0;
        self.losses.clear();
        self.evaluations.clear();
        self.progress = None;
    }

    fn progress(&mut self, progress: &Progress) {
        self.step = progress.step;
        self.losses.extend(progress.losses.iter().map(|(step, loss)| (*step, f64::from(*loss))));
        self.progress = Some(Progress { losses: Vec::new(), ..progress.clone() });
    }
}

/// All runs in the order they were opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Runs {
    /// The runs.
    pub(crate) all: Vec<Run>,
    /// Which one the worker holds.
    pub(crate) current: Option<RunId>,
    next: u32,
}

impl Runs {
    /// Runs of an earlier visit.
    pub(crate) fn recalled(all: Vec<Run>) -> Runs {
        let next = all.iter().map(|run| run.id.0 + 1).max().unwrap_or(0);
        Runs { all, current: None, next }
    }

    /// The run the worker holds.
    pub(crate) fn current(&self) -> Option<&Run> {
        self.current.and_then(|id| self.get(id))
    }

    /// A run by number.
    pub(crate) fn get(&self, id: RunId) -> Option<&Run> {
        self.all.iter().find(|run| run.id == id)
    }

    /// A run by number, to change.
    pub(crate) fn get_mut(&mut self, id: RunId) -> Option<&mut Run> {
        self.all.iter_mut().find(|run| run.id == id)
    }

    /// Adds a run and makes it current; one that never trained is replaced, all others stay.
    pub(crate) fn open(&mut self, settings: &Settings) -> RunId {
        let rule = settings.rule().name().to_owned();
        let current = self.current;
        self.all.retain(|run| !(Some(run.id) == current && run.untouched()));
        let id = RunId(self.next);
        self.next += 1;
        let mut run = Run::asked(id, rule.clone(), rule, settings.run_link());
        run.mark = mark(settings, &self.all);
        self.all.push(run);
        self.current = Some(id);
        self.name_all();
        id
    }

    /// Ends the current run, which is lost with its worker.
    pub(crate) fn end_current(&mut self, reason: &str) {
        if let Some(run) = self.current.and_then(|id| self.get_mut(id)).filter(|run| !run.over()) {
            run.phase = Phase::Failed(Failure { step: run.step, message: reason.to_owned() });
        }
    }

    /// Names runs by what differs between them; names that a person wrote stay.
    fn name_all(&mut self) {
        let settings: Vec<Settings> = self.all.iter().map(|run| Settings::from_link(&run.link).0).collect();
        for (run, name) in self.all.iter_mut().zip(names(&settings)).filter(|(run, _)| !run.renamed) {
            run.name = name;
        }
    }

    /// Forgets a run; the current one stays.
    pub(crate) fn delete(&mut self, id: RunId) {
        if self.current != Some(id) {
            self.all.retain(|run| run.id != id);
            self.name_all();
        }
    }

    /// Runs that have something to show.
    pub(crate) fn started(&self) -> impl Iterator<Item = &Run> {
        self.all.iter().filter(|run| !run.untouched())
    }

    /// Learns from an event.
    pub(crate) fn apply(&mut self, event: &Event) -> bool {
        match event {
            Event::Opened { run, facts } => self.change(*run, |r| r.facts = Some(facts.clone())),
            Event::Phase { run, phase, step } => self.change(*run, |r| {
                if *step == 0 && matches!(phase, Phase::Ready) {
                    r.start_over();
                }
                r.phase = phase.clone();
                r.step = *step;
            }),
            Event::Progress { run, progress } => self.change(*run, |r| r.progress(progress)),
            Event::Evaluated { run, evaluation } => self.change(*run, |r| {
                // After a reset the curve starts again.
                r.evaluations.retain(|e| e.step < evaluation.step);
                r.evaluations.push(evaluation.clone());
            }),
            _ => false,
        }
    }

    fn change(&mut self, id: RunId, change: impl FnOnce(&mut Run)) -> bool {
        self.get_mut(id).map(change).is_some()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn progress(step: u32) -> Progress {
        Progress { step, losses: vec![(step, 2.0)], steps_per_second: 10.0, tokens_per_second: 640.0, seconds: 3.0, seconds_left: 7.0 }
    }

    pub(crate) fn evaluation(step: u32, accuracy: f64) -> Evaluation {
        Evaluation {
            step,
            seconds: 1.0,
            accuracy,
            examples: 512,
            labels: 2048,
            exact: 400,
            interval: (0.9, 0.99),
            loss: 0.1,
            reached_99: None,
        }
    }

    /// A run in training at a step.
    pub(crate) fn run(step: u32) -> Run {
        let mut run = Run::asked(RunId(0), "a".into(), "A rule".into(), "v=1".into());
        (run.phase, run.step) = (Phase::Training, step);
        run
    }

    fn seed(number: u32) -> Settings {
        Settings::from_link(&format!("v=1&seed={number}")).0
    }

    fn opened() -> (Runs, RunId) {
        let mut runs = Runs::default();
        let id = runs.open(&Settings::default());
        (runs, id)
    }

    #[test]
    fn an_untouched_run_is_replaced_and_a_trained_one_kept() {
        let (mut runs, first) = opened();
        let second = runs.open(&seed(2));
        assert_eq!(runs.all.len(), 1);
        assert!(runs.apply(&Event::Progress { run: second, progress: progress(5) }));
        let third = runs.open(&seed(3));
        assert_eq!(runs.all.iter().map(|r| r.id).collect::<Vec<_>>(), vec![second, third]);
        assert_ne!(first, third);
        assert_ne!(runs.all[0].mark, runs.all[1].mark);
        assert!(runs.all[0].name.ends_with(", seed 2") && runs.all[1].name.ends_with(", seed 3"));
    }

    #[test]
    fn progress_appends_losses_and_reset_clears_them() {
        let (mut runs, run) = opened();
        runs.apply(&Event::Progress { run, progress: progress(1) });
        runs.apply(&Event::Progress { run, progress: progress(2) });
        runs.apply(&Event::Evaluated { run, evaluation: evaluation(2, 0.5) });
        let seen = runs.current().unwrap();
        assert_eq!((seen.step, seen.losses.len(), seen.accuracies()), (2, 2, vec![(2, 0.5)]));
        runs.apply(&Event::Phase { run, phase: Phase::Ready, step: 0 });
        let seen = runs.current().unwrap();
        assert!(seen.untouched() && seen.losses.is_empty() && seen.evaluations.is_empty());
    }

    #[test]
    fn events_of_unknown_runs_change_nothing() {
        let (mut runs, _) = opened();
        assert!(!runs.apply(&Event::Progress { run: RunId(99), progress: progress(1) }));
    }

    #[test]
    fn a_run_ends_with_its_worker_unless_it_was_over() {
        let (mut runs, run) = opened();
        runs.apply(&Event::Progress { run, progress: progress(3) });
        runs.end_current("the worker stopped");
        assert!(matches!(&runs.current().unwrap().phase, Phase::Failed(failure) if failure.step == 3));
        runs.apply(&Event::Phase { run, phase: Phase::Done, step: 3 });
        runs.end_current("again");
        assert_eq!(runs.current().unwrap().phase, Phase::Done);
    }

    #[test]
    fn the_current_run_cannot_be_deleted() {
        let (mut runs, first) = opened();
        runs.delete(first);
        assert_eq!(runs.all.len(), 1);
        runs.apply(&Event::Progress { run: first, progress: progress(1) });
        runs.open(&seed(2));
        runs.delete(first);
        assert!(runs.get(first).is_none());
    }
}
