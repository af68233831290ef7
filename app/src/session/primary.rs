//! What the one large button does.

use super::{Run, WorkerLink};
use palimpsest_protocol::Phase;

/// Its meaning just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Primary {
    /// Train the run in view, from its start or from where it was paused.
    Train,
    /// Pause it.
    Pause,
    /// Start another run with the settings of the controls; the run in view stays as a curve.
    StartNew,
    /// The run is over and the controls are unchanged: the same again with the next seed.
    NextSeed,
    /// Nothing can be done: the worker is dead, or the model could not be built. A changed setting starts anew.
    Nothing,
}

impl Primary {
    /// From the worker, the run in view and whether the controls differ from it.
    pub(crate) fn of(link: &WorkerLink, run: Option<&Run>, changed: bool) -> Primary {
        match run {
            _ if link.dead.is_some() && !changed => Primary::Nothing,
            Some(run) if run.phase == Phase::Training => Primary::Pause,
            None => Primary::StartNew,
            Some(_) if changed => Primary::StartNew,
            Some(run) if run.over() && run.step > 0 => Primary::NextSeed,
            Some(run) if run.over() => Primary::Nothing,
            Some(_) => Primary::Train,
        }
    }

    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Primary::Train | Primary::Nothing => "Train",
            Primary::Pause => "Pause",
            Primary::StartNew => "Train new run",
            Primary::NextSeed => "Train next seed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palimpsest_protocol::{Failure, RunId};

    fn run(phase: Phase, step: u32) -> Run {
        let mut run = Run::asked(RunId(0), "a".into(), "A".into(), "v=1".into());
        (run.phase, run.step) = (phase, step);
        run
    }

    #[test]
    fn a_run_in_view_is_never_overwritten() {
        let link = WorkerLink::default();
        let of = |phase, step, changed| Primary::of(&link, Some(&run(phase, step)), changed);
        assert_eq!(of(Phase::Ready, 0, false), Primary::Train);
        assert_eq!(of(Phase::Paused, 9, false), Primary::Train);
        assert_eq!(of(Phase::Paused, 9, true), Primary::StartNew);
        assert_eq!(of(Phase::Training, 9, true), Primary::Pause);
        assert_eq!(of(Phase::Done, 9, false), Primary::NextSeed);
        let failed = Phase::Failed(Failure { step: 0, message: "too large".into() });
        assert_eq!(of(failed.clone(), 0, false), Primary::Nothing);
        assert_eq!(of(failed, 0, true), Primary::StartNew);
        let dead = WorkerLink { dead: Some("gone".into()), ..WorkerLink::default() };
        assert_eq!(Primary::of(&dead, None, false), Primary::Nothing);
        assert_eq!(Primary::of(&dead, None, true), Primary::StartNew);
    }
}
