//! Why training stops.

use palimpsest_plan::{BackendError, PlanError};

/// An error of a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// The backend could not go on.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The model could not be recorded.
    #[error("the model could not be built: {0}")]
    Plan(#[from] PlanError),
    /// The loss or the gradient became NaN or infinite.
    #[error(
        "training diverged at step {step}: loss {loss}, gradient norm {gradient_norm}; a lower learning rate or a longer warm-up may help"
    )]
    NotFinite {
        /// The first such step, from 1.
        step: u32,
        /// Its loss.
        loss: f32,
        /// Its gradient norm.
        gradient_norm: f32,
    },
    /// The held-out loss became NaN or infinite.
    #[error("training diverged: the held-out loss at step {step} is {loss}; a lower learning rate or a longer warm-up may help")]
    HeldOutNotFinite {
        /// Steps done.
        step: u32,
        /// The loss.
        loss: f32,
    },
    /// Recipes that are not one for each run.
    #[error("{recipes} recipes for {runs} runs: each run takes one")]
    Recipes {
        /// How many there are.
        recipes: usize,
        /// How many runs the session has.
        runs: usize,
    },
    /// Seeds that do not fit the device together.
    #[error("{seeds} seeds do not fit together, fewer may: {error}")]
    Seeds {
        /// How many were asked for.
        seeds: usize,
        /// What the backend says.
        error: BackendError,
    },
    /// A batch without sequences.
    #[error("the batch holds no sequence")]
    NoExample,
}
