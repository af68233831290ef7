//! Operations and their gradients on slices: the twin that kernels are tested against, and the fallback without a GPU.
//!
//! Every operation is a `forward`/`backward` pair of plain functions, generic over `f32` and `f64`, written from the
//! equations in `palimpsest-plan`. One thread, no allocation while a plan runs, the same bits for the same inputs.

mod adamw;
mod buffers;
pub mod ceiling;
mod check;
mod columns;
mod memory;
mod ops;
mod panels;
mod product;
mod real;
mod reduce;
mod rows;
mod rule_map;
mod run;
mod scan;
mod session;
mod wide;

pub use memory::bytes;
pub use real::Real;
pub use scan::LONGEST_CHUNK;
pub use session::{CpuSession, adapter};
