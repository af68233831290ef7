//! Messages of the self-check.

use serde::{Deserialize, Serialize};

/// Errors of one golden file computed in one form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    /// Rule slug.
    pub rule: String,
    /// Regime of the file, as `mild`.
    pub regime: String,
    /// `recurrent` or `chunked`.
    pub form: String,
    /// (array, with `d` before it for its gradient, ||x - reference|| / ||reference||, tolerance); NaN is reported as infinity.
    pub errors: Vec<(String, f64, f64)>,
    /// Whether all are within tolerance.
    pub passed: bool,
}
