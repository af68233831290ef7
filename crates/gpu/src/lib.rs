//! Operations and their gradients as WGSL kernels on wgpu.

mod kernel;
mod scan;
