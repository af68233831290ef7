//! How far results are from the truth.

use crate::{Computed, Golden};
use palimpsest_plan::{AdapterKind, ScanForm};
use serde::Serialize;

/// Whether an array is an output or the gradient of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrayKind {
    /// `o` or `S`.
    Output,
    /// Of the input of that name.
    Gradient,
}

/// Largest accepted [`relative_error`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tolerance {
    /// Of outputs and the last state.
    pub output: f64,
    /// Of gradients.
    pub gradient: f64,
}

impl Tolerance {
    /// What single precision allows: WGSL's `exp` may be a few places off, and a chunk's triangular solve loses more than a recurrence.
    pub fn of(backend: AdapterKind, form: ScanForm) -> Tolerance {
        match (backend, form) {
            (AdapterKind::Cpu, ScanForm::Recurrent) => Tolerance { output: 1e-6, gradient: 1e-5 },
            (AdapterKind::Gpu, ScanForm::Recurrent) => Tolerance { output: 5e-6, gradient: 5e-5 },
            (_, ScanForm::Chunked(_)) => Tolerance { output: 2e-5, gradient: 5e-4 },
        }
    }
}

/// `||x - truth|| / ||truth||` in f64; `||x||` where the truth is all zeros; infinite where lengths differ. NaN stays NaN.
pub fn relative_error(x: &[f32], truth: &[f64]) -> f64 {
    if x.len() != truth.len() {
        return f64::INFINITY;
    }
    let norm = |squares: f64| squares.sqrt();
    let error = norm(x.iter().zip(truth).map(|(&x, &truth)| (f64::from(x) - truth).powi(2)).sum());
    let size = norm(truth.iter().map(|x| x * x).sum());
    if size == 0.0 { error } else { error / size }
}

/// One array's comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the output, or of the input whose gradient it is.
    pub array: String,
    /// Output or gradient.
    pub kind: ArrayKind,
    /// [`relative_error`]; in JSON, NaN and infinity are `null`.
    pub error: f64,
    /// The largest error accepted.
    pub tolerance: f64,
    /// Whether the error is within it. NaN is not.
    pub passed: bool,
}

impl Row {
    /// The array's name in equations: `o` or `S`, and `dk` for the gradient of `k`.
    pub fn label(&self) -> String {
        match self.kind {
            ArrayKind::Output => self.array.clone(),
            ArrayKind::Gradient => format!("d{}", self.array),
        }
    }
}

/// One golden file's comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Slug of the rule.
    pub rule: String,
    /// The file's regime.
    pub regime: String,
    /// One row for every array of the file, in its order.
    pub rows: Vec<Row>,
}

impl Report {
    /// Compares every output and gradient of the golden file; one that was not computed fails.
    pub fn new(golden: &Golden, computed: &[Computed], tolerance: Tolerance) -> Report {
        let sections =
            [(ArrayKind::Output, &golden.outputs, tolerance.output), (ArrayKind::Gradient, &golden.input_grads, tolerance.gradient)];
        let row = |kind: ArrayKind, array: &String, truth: &[f64], tolerance: f64| {
            let found = computed.iter().find(|computed| computed.kind == kind && computed.array == *array);
            let error = found.map_or(f64::INFINITY, |found| relative_error(&found.values, truth));
            Row { array: array.clone(), kind, error, tolerance, passed: error <= tolerance }
        };
        let rows = sections.into_iter().flat_map(|(kind, arrays, tolerance)| {
            let row = &row;
            arrays.iter().map(move |(array, truth)| row(kind, array, truth, tolerance))
        });
        Report { rule: golden.rule.slug().to_owned(), regime: golden.regime.clone(), rows: rows.collect() }
    }

    /// Whether every array is within its tolerance, and there is one.
    pub fn passed(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.passed)
    }
}
