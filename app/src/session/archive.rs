//! Finished runs kept across visits in the browser's own storage, bounded.

use super::Run;
use crate::figure::thin;
use gloo::storage::{LocalStorage, Storage};
use palimpsest_protocol::Phase;

/// Where they lie; the number is the version of what is stored.
const KEY: &str = "palimpsest.runs.2";
/// Most runs kept.
const RUNS: usize = 24;
/// Most points of a stored loss curve.
const POINTS: usize = 300;

/// Stores the newest finished runs; a full or forbidden storage is no reason to stop.
pub(crate) fn keep(runs: &[Run]) {
    let _ = LocalStorage::set(KEY, bounded(runs));
}

/// Runs of earlier visits; what cannot be read (another version, another hand) is left out.
pub(crate) fn recall() -> Vec<Run> {
    LocalStorage::get(KEY).unwrap_or_default()
}

fn bounded(runs: &[Run]) -> Vec<Run> {
    let over: Vec<&Run> = runs.iter().filter(|run| run.over() && run.step > 0).collect();
    let skipped = over.len().saturating_sub(RUNS);
    over.into_iter().skip(skipped).map(stored).collect()
}

fn stored(run: &Run) -> Run {
    let mut run = run.clone();
    // JSON has no NaN: a failed run keeps its last finite losses.
    run.losses.retain(|point| point.1.is_finite());
    run.losses = thin(&run.losses, POINTS);
    run.evaluations.retain(|e| e.loss.is_finite());
    if let Some(progress) = &mut run.progress {
        progress.seconds_left = 0.0;
        for rate in [&mut progress.steps_per_second, &mut progress.tokens_per_second, &mut progress.seconds] {
            *rate = if rate.is_finite() { *rate } else { 0.0 };
        }
    }
    if !matches!(run.phase, Phase::Failed(_)) {
        run.phase = Phase::Done;
    }
    run
}

#[cfg(test)]
mod tests {
    use super::super::runs::tests::progress;
    use super::*;
    use palimpsest_protocol::RunId;

    fn finished(id: u32) -> Run {
        let mut run = Run::asked(RunId(id), id.to_string(), "A".into(), "v=1".into());
        (run.phase, run.step, run.progress) = (Phase::Done, 1000, Some(progress(1000)));
        run.losses = (1..=1000).map(|step| (step, if step == 9 { f64::NAN } else { 1.0 })).collect();
        run
    }

    #[test]
    fn the_newest_finished_runs_survive_json() {
        let mut runs: Vec<Run> = (0..40).map(finished).collect();
        runs[39].phase = Phase::Paused;
        let kept = bounded(&runs);
        assert_eq!((kept.len(), kept[RUNS - 1].id), (RUNS, RunId(38)));
        assert!(kept[0].losses.len() <= POINTS);
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Run>>(&text).unwrap(), kept);
    }
}
