//! One file per operation: `forward` and `backward` on slices. Rows are tokens, `N = B * T`.
//!
//! A gradient that does not exist (a constant's) is `None` and is skipped. The scans are in [`crate::scan`].

pub(crate) mod attention;
pub(crate) mod cross_entropy;
pub(crate) mod decay;
pub(crate) mod embed;
pub(crate) mod gated_norm;
pub(crate) mod gates;
pub(crate) mod gather;
pub(crate) mod linear;
pub(crate) mod rms_norm;
pub(crate) mod short_conv;
pub(crate) mod swiglu;
pub(crate) mod unit;
