//! Checks a backend against float64 truth.
//!
//! A golden file holds a rule's inputs, the gradients of its outputs, and the outputs and input gradients that a float64
//! program found. [`Golden`] reads one, [`Verification`] is the plan that computes the same on any [`palimpsest_plan::Session`],
//! and [`Report`] compares array by array. [`subset`] holds a few files for the check inside the page.

mod compare;
mod error;
mod format;
mod golden;
mod subset;
mod verification;

pub use compare::{ArrayKind, Report, Row, Tolerance, relative_error};
pub use error::GoldenError;
pub use format::{Array, Dims, File};
pub use golden::Golden;
pub use subset::subset;
pub use verification::{Computed, Verification};
