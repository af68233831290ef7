//! WGSL functions that several kernels share.

pub(crate) const INDEX: &str = include_str!("../../../../shaders/lib/index.wgsl");
pub(crate) const ROWS: &str = include_str!("../../../../shaders/lib/rows.wgsl");
pub(crate) const SIGMOID: &str = include_str!("../../../../shaders/lib/sigmoid.wgsl");
