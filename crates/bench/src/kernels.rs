//! GPU time of a training step, kernel by kernel.

use crate::BenchError;
use palimpsest_plan::{BackendError, StepInput};
use palimpsest_train::AnySession;
use std::collections::BTreeMap;

/// All launches of one kernel in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTime {
    /// Its name, as `linear.forward`.
    pub kernel: &'static str,
    /// How often it is launched.
    pub launches: u32,
    /// GPU seconds of all launches.
    pub seconds: f64,
}

/// Profiles one step; the most costly kernel comes first.
///
/// # Errors
/// On the CPU, and on an adapter without timestamps.
pub async fn by_kernel(session: &mut AnySession, step: &StepInput) -> Result<Vec<KernelTime>, BenchError> {
    let AnySession::Gpu(session) = session else {
        return Err(BackendError::Refused("the CPU has no kernels to time one by one".to_owned()).into());
    };
    let mut kernels: BTreeMap<&'static str, KernelTime> = BTreeMap::new();
    for launch in session.profile(step).await? {
        let kernel = launch.kernel;
        let total = kernels.entry(kernel).or_insert(KernelTime { kernel, launches: 0, seconds: 0.0 });
        (total.launches, total.seconds) = (total.launches + 1, total.seconds + launch.seconds);
    }
    let mut kernels: Vec<KernelTime> = kernels.into_values().collect();
    kernels.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    Ok(kernels)
}
