//! Why training stops.

use palimpsest_plan::{BackendError, PlanError};

/// An error of a run.
#[derive(Clone, Debug, thiserror::Error)]
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
    /// A batch without sequences.
    #[error("the batch holds no sequence")]
    NoExample,
}
