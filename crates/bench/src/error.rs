//! Why something could not be measured.

use palimpsest_gpu::CeilingError;
use palimpsest_plan::{BackendError, PlanError};
use palimpsest_train::TrainError;

/// An error of a benchmark.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BenchError {
    /// Sizes that no scan has, or more than this device holds; known before anything is allocated.
    #[error("{case}: {reason}")]
    Shape {
        /// Which case.
        case: String,
        /// What is wrong, and what would be valid.
        reason: String,
    },
    /// A model that could not be built or trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The ceilings could not be measured.
    #[error("the device's rates could not be measured: {0}")]
    Ceiling(#[from] CeilingError),
}

impl From<BackendError> for BenchError {
    fn from(error: BackendError) -> BenchError {
        BenchError::Train(error.into())
    }
}

impl From<PlanError> for BenchError {
    fn from(error: PlanError) -> BenchError {
        BenchError::Train(error.into())
    }
}

impl BenchError {
    /// Why the device is gone, if that is what happened.
    pub fn device_lost(&self) -> Option<&str> {
        let backend = match self {
            BenchError::Train(TrainError::Backend(error)) | BenchError::Ceiling(CeilingError::Backend(error)) => error,
            _ => return None,
        };
        if let BackendError::DeviceLost(reason) = backend { Some(reason) } else { None }
    }
}
