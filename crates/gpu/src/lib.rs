//! Operations and their gradients as WGSL kernels on wgpu.
//!
//! A [`GpuSession`] records a plan as dispatches (plain data), checks them against the adapter's limits, then allocates every
//! buffer, compiles every kernel and makes every bind group once. A training step copies its data into place and replays the
//! dispatches. Sums have a fixed order and there are no float atomics: the same seed on the same adapter gives the same bits.

mod buffers;
mod ceiling;
mod device;
mod kernel;
mod launch;
mod ops;
mod optimizer;
mod pipeline;
mod profile;
mod readback;
mod record;
mod run_axis;
mod scan;
mod session;
mod stack;
mod stacking;
mod sums;
mod timing;
mod tracing;
mod unroll;

pub use ceiling::{Ceiling, CeilingError};
pub use device::{Device, Options};
pub use profile::LaunchTime;
pub use session::GpuSession;
pub use stack::GpuStack;
