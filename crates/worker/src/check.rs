//! The self-check: golden files on this device, one form at a time.

use palimpsest_golden::{Golden, Tolerance, Verification, subset};
use palimpsest_plan::{BackendError, ScanForm};
use palimpsest_protocol::{CheckRow, Event};
use palimpsest_train::{Engine, TrainError};
use std::collections::VecDeque;

/// Tokens per chunk of the chunked form in the check.
const CHUNK: usize = 16;

/// A self-check under way.
pub(crate) struct Check {
    engine: Engine,
    left: VecDeque<(Golden, ScanForm)>,
    passed: u32,
    failed: u32,
}

impl Check {
    /// All built-in files, in both forms. A file that cannot be read is an error of the build.
    pub(crate) fn new(engine: Engine) -> Result<Check, String> {
        let files = subset().map_err(|error| error.to_string())?;
        let forms = [ScanForm::Recurrent, ScanForm::Chunked(CHUNK)];
        let left = files.into_iter().flat_map(|golden| forms.map(|form| (golden.clone(), form))).collect();
        Ok(Check { engine, left, passed: 0, failed: 0 })
    }

    /// The next file and form. The check has ended with [`Event::CheckDone`].
    ///
    /// # Errors
    /// [`BackendError::DeviceLost`]: nothing more can be checked.
    pub(crate) async fn advance(&mut self) -> Result<Event, TrainError> {
        let Some((golden, form)) = self.left.pop_front() else {
            return Ok(self.close(None));
        };
        let (errors, passed) = match compare(&self.engine, &golden, form).await {
            Ok(compared) => compared,
            Err(error @ TrainError::Backend(BackendError::DeviceLost(_))) => return Err(error),
            // what could not run has no error to show, and has not passed
            Err(error) => (vec![(error.to_string(), f64::INFINITY, 0.0)], false),
        };
        let counter = if passed { &mut self.passed } else { &mut self.failed };
        *counter += 1;
        let form = match form {
            ScanForm::Recurrent => "recurrent",
            ScanForm::Chunked(_) => "chunked",
        };
        let (rule, regime) = (golden.rule().slug().to_owned(), golden.regime().to_owned());
        Ok(Event::Checked(CheckRow { rule, regime, form: form.to_owned(), errors, passed }))
    }

    /// The closing count, and why it is not the whole.
    pub(crate) fn close(&self, cut: Option<String>) -> Event {
        Event::CheckDone { passed: self.passed, failed: self.failed, cut }
    }
}

type Compared = (Vec<(String, f64, f64)>, bool);

async fn compare(engine: &Engine, golden: &Golden, form: ScanForm) -> Result<Compared, TrainError> {
    let verification = Verification::new(golden, form)?;
    let mut session = engine.session(verification.plan().clone()).await?;
    let report = verification.check(&mut session, Tolerance::of(engine.kind(), form)).await?;
    let finite = |error: f64| if error.is_nan() { f64::INFINITY } else { error };
    let errors = report.rows.iter().map(|row| (row.label(), finite(row.error), row.tolerance)).collect();
    Ok((errors, report.passed()))
}
