//! The benchmark: scans at the sizes of some settings, one case at a time.

use palimpsest_bench::{BenchError, Effort, REVISION, ScanCase, ScanChoice, rates};
use palimpsest_plan::{Adapter, BackendError};
use palimpsest_protocol::{Event, Rates};
use palimpsest_spec::Settings;
use palimpsest_train::{Engine, TrainError};
use std::collections::VecDeque;

/// A case takes about a second, so that a person sees rows come and can stop between them.
const EFFORT: Effort = Effort { samples: 5, sample_seconds: 0.02, case_seconds: 1.0 };

/// A benchmark under way.
pub(crate) struct Bench {
    engine: Engine,
    adapter: Adapter,
    left: VecDeque<ScanCase>,
    /// Measured first.
    rates: Option<Rates>,
}

impl Bench {
    /// What settings say, on an engine; `adapter` is what the page calls it.
    pub(crate) fn new(engine: Engine, adapter: Adapter, settings: &Settings) -> Bench {
        let left = ScanChoice::from_settings(settings).cases(engine.kind()).into();
        Bench { engine, adapter, left, rates: None }
    }

    /// The device's rates, then case by case. The benchmark has ended with [`Event::BenchDone`].
    ///
    /// # Errors
    /// [`BackendError::DeviceLost`]: nothing more can be measured.
    pub(crate) async fn advance(&mut self) -> Result<Event, TrainError> {
        let Some(rates) = self.rates else {
            return match rates(&self.engine, EFFORT).await {
                Ok(rates) => {
                    self.rates = Some(rates);
                    let (adapter, rows) = (self.adapter.clone(), self.left.len() as u32);
                    Ok(Event::BenchBegun { adapter, rates, revision: REVISION.to_owned(), rows })
                }
                Err(error) => lost(&error).map(|()| Event::BenchDone { cut: Some(error.to_string()) }),
            };
        };
        let Some(case) = self.left.pop_front() else { return Ok(Event::BenchDone { cut: None }) };
        match case.measure(&self.engine, rates, EFFORT).await {
            Ok(row) => Ok(Event::Benched(row)),
            Err(error) => lost(&error).map(|()| Event::BenchSkipped { case: case.case(), reason: error.to_string() }),
        }
    }
}

/// An error when the device is gone.
fn lost(error: &BenchError) -> Result<(), TrainError> {
    let reason = error.device_lost().map(str::to_owned);
    reason.map_or(Ok(()), |reason| Err(BackendError::DeviceLost(reason).into()))
}
