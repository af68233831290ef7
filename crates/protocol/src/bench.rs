//! Messages of the self-check and the benchmark panel.

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
    /// (array name, ||x - reference|| / ||reference||, tolerance); NaN is reported as infinity.
    pub errors: Vec<(String, f64, f64)>,
    /// Whether all are within tolerance.
    pub passed: bool,
}

/// What to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRequest {
    /// Rule slugs.
    pub rules: Vec<String>,
    /// Sequence lengths.
    pub lengths: Vec<u32>,
    /// B.
    pub batch: u32,
    /// H.
    pub heads: u32,
    /// K.
    pub key: u32,
    /// V.
    pub value: u32,
}

/// One measurement of a rule, form and length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchCell {
    /// Rule slug.
    pub rule: String,
    /// `recurrent` or `chunked`.
    pub form: String,
    /// T.
    pub length: u32,
    /// Whether backward is included.
    pub backward: bool,
    /// Milliseconds per pass: median, min, max.
    pub milliseconds: (f64, f64, f64),
    /// Nanoseconds per token of one sequence's head.
    pub nanoseconds_per_token: f64,
    /// Bytes that must move, over the median time, GB/s.
    pub gigabytes_per_second: f64,
    /// That rate as a share of the copy bandwidth measured in the same run, 0 to 1.
    pub share_of_copy: f64,
    /// Floats of state per sequence and head.
    pub state: u32,
    /// Why it could not be measured, if so.
    pub error: Option<String>,
}
