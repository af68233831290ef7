//! Where the page stands, in plain sentences.

use super::{Queue, Run, WorkerLink};
use crate::figure::{duration, percent};
use palimpsest_protocol::{Adapter, AdapterKind, Fallback, Phase};

/// What the page does just now.
pub(crate) fn standing(link: &WorkerLink, run: Option<&Run>, queue: &Queue) -> String {
    if let Some(reason) = &link.dead {
        return format!("Nothing can be trained: {reason}");
    }
    if link.adapter.is_none() {
        return "Loading: the training worker is starting.".to_owned();
    }
    let Some(run) = run else { return "Ready.".to_owned() };
    let turn = queue.place().filter(|(_, total)| *total > 1).map(|(place, total)| format!("Run {place} of {total}. ")).unwrap_or_default();
    let sentence = match &run.phase {
        Phase::Ready if run.facts.is_none() => "Building the model and its kernels.".to_owned(),
        Phase::Ready => "Ready. The model is untrained: what you see are its first, random weights at work.".to_owned(),
        Phase::Training => format!("Training {}: step {}{}.", run.rule, run.step, left(run)),
        Phase::Paused => format!("Paused after step {}. Train goes on from here.", run.step),
        Phase::Done => done(run),
        Phase::Failed(failure) if failure.step == 0 => format!("Could not be built: {}.", failure.message.trim_end_matches('.')),
        Phase::Failed(failure) => format!("Stopped at step {}: {}", failure.step, failure.message),
    };
    turn + &sentence
}

fn left(run: &Run) -> String {
    run.progress
        .as_ref()
        .filter(|p| p.seconds_left.is_finite())
        .map(|p| format!(", about {} left", duration(p.seconds_left)))
        .unwrap_or_default()
}

fn done(run: &Run) -> String {
    let steps = run.step;
    let time = duration(run.seconds());
    match (run.evaluation(), run.reached()) {
        (Some(last), Some((step, seconds))) => {
            format!(
                "Done after {steps} steps in {time}: {} of held-out answers are right; 99 % was reached first at step {step}, {} in.",
                percent(last.accuracy),
                duration(seconds)
            )
        }
        (Some(e), None) => {
            format!("Done after {steps} steps in {time}: {} of held-out answers are right; 99 % was not reached.", percent(e.accuracy))
        }
        (None, _) => format!("Done after {steps} steps in {time}."),
    }
}

/// `WebGPU` or `CPU`, with the adapter's name.
pub(crate) fn badge(adapter: &Adapter) -> String {
    let kind = match adapter.kind {
        AdapterKind::Gpu => "WebGPU",
        AdapterKind::Cpu => "CPU",
    };
    if adapter.name.is_empty() || adapter.name == kind { kind.to_owned() } else { format!("{kind}: {}", adapter.name) }
}

/// Why the CPU computes.
pub(crate) fn fallback(reason: &Fallback) -> String {
    match reason {
        Fallback::Asked => "The settings ask for the CPU.".to_owned(),
        Fallback::NoWebGpu => "This browser offers no WebGPU to workers, so the CPU computes: slower, with the same results.".to_owned(),
        Fallback::NoAdapter(why) => {
            format!("The browser has WebGPU but gave no device ({why}), so the CPU computes: slower, with the same results.")
        }
        Fallback::DeviceLost(why) => {
            format!("The GPU was lost while working ({why}); the run started again on the CPU, from its first weights.")
        }
        Fallback::Limit(why) => format!("This model does not fit the GPU ({why}), so the CPU computes."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::tests::{evaluation, progress};
    use super::*;
    use palimpsest_protocol::{Failure, RunId};

    fn alive() -> WorkerLink {
        let adapter = Adapter { kind: AdapterKind::Gpu, name: "card".into(), interface: "test".into() };
        WorkerLink { adapter: Some(adapter), ..WorkerLink::default() }
    }

    fn run(phase: Phase, step: u32) -> Run {
        let mut run = Run::asked(RunId(0), "a".into(), "A rule".into(), "v=1".into());
        (run.phase, run.step, run.progress) = (phase, step, Some(progress(step)));
        run
    }

    #[test]
    fn every_state_has_its_sentence() {
        let queue = Queue::default();
        let say = |link: &WorkerLink, run: Option<&Run>| standing(link, run, &queue);
        assert!(say(&WorkerLink::default(), None).starts_with("Loading"));
        let dead = WorkerLink { dead: Some("it did not load.".into()), ..alive() };
        assert!(say(&dead, Some(&run(Phase::Training, 3))).contains("did not load"));
        assert!(say(&alive(), Some(&run(Phase::Training, 3))).contains("step 3, about 7.0 s left"));
        assert!(say(&alive(), Some(&run(Phase::Paused, 3))).starts_with("Paused after step 3"));
        let failed = Phase::Failed(Failure { step: 7, message: "the loss is not a number.".into() });
        assert_eq!(say(&alive(), Some(&run(failed, 7))), "Stopped at step 7: the loss is not a number.");
    }

    #[test]
    fn done_says_what_was_reached() {
        let mut done_run = run(Phase::Done, 100);
        done_run.evaluations.push(evaluation(100, 0.9));
        assert!(done(&done_run).contains("99 % was not reached"));
        done_run.evaluations[0].reached_99 = Some((60, 2.0));
        assert!(done(&done_run).contains("90.0 % of held-out answers are right; 99 % was reached first at step 60"));
    }

    #[test]
    fn each_fallback_has_its_own_reason() {
        let reasons = [
            Fallback::Asked,
            Fallback::NoWebGpu,
            Fallback::NoAdapter("x".into()),
            Fallback::DeviceLost("x".into()),
            Fallback::Limit("x".into()),
        ];
        let said: std::collections::BTreeSet<String> = reasons.iter().map(fallback).collect();
        assert_eq!(said.len(), reasons.len());
    }
}
