//! What the page asks for.

use serde::{Deserialize, Serialize};

/// A run, numbered by the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub u32);

/// Which memory the page shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Layer, from 0.
    pub layer: u32,
    /// Head, from 0.
    pub head: u32,
    /// Index of the sample in the held-out stream.
    pub sample: u64,
}

/// A request from the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Builds a run from a settings link and makes it the current one; answers [`crate::Event::Opened`], then a sample and a trace of the untrained model.
    Open {
        /// Its number.
        run: RunId,
        /// Settings, as in the address bar.
        settings: String,
        /// What to show.
        look: Look,
    },
    /// Trains the current run to its last step.
    Train,
    /// Stops after the steps in flight.
    Pause,
    /// Trains one step, then pauses.
    Step,
    /// Back to the same initial weights, step 0.
    Reset,
    /// Changes what is shown, without touching training.
    Look(Look),
    /// Recomputes the golden subset on this device; answers [`crate::Event::Checked`] per file and form, then [`crate::Event::CheckDone`].
    SelfCheck,
    /// Measures what each rule costs on this device, at the sizes of a settings link; answers [`crate::Event::BenchBegun`], then
    /// [`crate::Event::Benched`] or [`crate::Event::BenchSkipped`] per case, then [`crate::Event::BenchDone`].
    Bench {
        /// Settings, as in the address bar.
        settings: String,
    },
    /// Stops a self-check or a benchmark.
    Cancel,
}
