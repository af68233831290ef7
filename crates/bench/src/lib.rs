//! Measures what scans and training steps cost on a device, natively and in a page.
//!
//! A [`ScanCase`] is a rule's scan at one size, in one form, forward or with its gradient; [`StepBench`] is a whole training step
//! of a model. Both warm up, then time samples of many passes each: GPU time by one pair of timestamps around all passes of a
//! sample, and wall time beside it. [`count`] says how many bytes must move and how many operations the equations need;
//! [`rates`] measures how fast the same device can copy, and multiply and add.

mod count;
mod error;
mod kernels;
mod rates;
mod sampling;
mod scan;
mod step;
mod train;

pub use count::{Count, backward, forward, update};
pub use error::BenchError;
pub use kernels::{KernelTime, by_kernel};
pub use rates::rates;
pub use sampling::Effort;
pub use scan::{ScanCase, ScanChoice, form_name};
pub use step::StepBench;
pub use train::{RunTimes, train};

/// Git revision that this was built from, `-modified` when files differed from it; empty outside a repository.
pub const REVISION: &str = git_version::git_version!(args = ["--always", "--abbrev=12", "--dirty=-modified", "--exclude=*"], fallback = "");
