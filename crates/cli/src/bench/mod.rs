//! `palimpsest bench`: what scans, training steps and whole runs cost on this device.

mod report;
mod scan;

use crate::BAD_INPUT;
use crate::backend::{self, Backend};
use crate::output::read_settings;
use palimpsest_bench::{BenchError, Effort, StepBench, rates, train};
use palimpsest_plan::BackendError;
use palimpsest_spec::Settings;
use palimpsest_train::{Engine, TrainError, Trainer};
use pollster::block_on;
use report::Report;
use std::process::ExitCode;

/// Seconds that a sample takes at least.
const SAMPLE_SECONDS: f64 = 0.02;
/// Seconds after which a case gets no further sample.
const CASE_SECONDS: f64 = 20.0;

/// Measure what scans, training steps and whole runs cost
///
/// Each measurement warms up, then times samples of many passes each: GPU time by one pair of timestamps around all passes of a
/// sample where the adapter has them, and wall time beside it. Median, min and max are of one pass.
///
/// Bytes and floating-point operations are counted from the shapes: operands read once, results written once (gradients
/// likewise); products and sums of scans, matrix products, convolutions and attention, each once. They are given as shares of the
/// copy bandwidth and of the multiply-and-add rate that two small kernels reach on the same device at the start of the run.
/// A share above 1 means that caches hold what is counted as moved.
///
/// Exit code: 0 when all was measured, 1 when it failed on the way, 2 when arguments, sizes or the device cannot be used.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    /// What computes; for step and train, the settings' own `backend` otherwise
    #[arg(long, value_enum, global = true)]
    backend: Option<Backend>,
    /// Samples
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000), global = true)]
    samples: u32,
    /// Print one JSON object a line: the device and its rates, then a row for each measurement
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum What {
    /// Scans: rules x forms x lengths, forward and with the gradient
    Scan(scan::Args),
    /// A training step of a model: upload, forward, backward, update
    Step {
        /// Settings, as key=value joined by &
        #[arg(default_value = "", value_name = "SETTINGS")]
        settings: String,
        /// Also print GPU time by kernel; each launch is timed alone, so that the sum exceeds a step's time
        #[arg(long)]
        kernels: bool,
    },
    /// A whole run, until 99 % held-out accuracy or its last step
    Train {
        /// Settings, as key=value joined by &
        #[arg(default_value = "", value_name = "SETTINGS")]
        settings: String,
    },
}

/// Why a benchmark ended early, and with which exit code.
enum Stop {
    /// Arguments, sizes or a device that cannot be used.
    Input(String),
    /// Failed on the way.
    Failed(String),
}

impl From<BenchError> for Stop {
    fn from(error: BenchError) -> Stop {
        match error {
            BenchError::Shape { .. } => Stop::Input(error.to_string()),
            BenchError::Train(error) if cannot_be(&error) => Stop::Input(error.to_string()),
            error => Stop::Failed(error.to_string()),
        }
    }
}

impl From<TrainError> for Stop {
    fn from(error: TrainError) -> Stop {
        BenchError::from(error).into()
    }
}

/// Whether the sizes asked for are wrong, or too large for this device: nothing failed on the way.
fn cannot_be(error: &TrainError) -> bool {
    use BackendError::{Input, Limit, Memory};
    matches!(error, TrainError::Backend(Limit { .. } | Memory { .. } | Input(_)) | TrainError::Plan(_) | TrainError::NoExample)
}

/// Measures.
pub(crate) fn run(args: &Args) -> ExitCode {
    let outcome = match &args.what {
        What::Scan(scan) => scan::run(args, scan),
        What::Step { settings, kernels } => with_settings(args, settings, |engine, settings| step(args, engine, settings, *kernels)),
        What::Train { settings } => with_settings(args, settings, |engine, settings| whole_run(args, engine, settings)),
    };
    let (code, message) = match outcome {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Stop::Input(message)) => (BAD_INPUT, message),
        Err(Stop::Failed(message)) => (1, message),
    };
    // A driver's words may be many lines.
    eprintln!("error: {}", message.split_whitespace().collect::<Vec<_>>().join(" "));
    ExitCode::from(code)
}

impl Args {
    fn open(&self, otherwise: Backend) -> Result<Engine, Stop> {
        backend::open(self.backend.unwrap_or(otherwise)).map_err(|error| Stop::Input(error.to_string()))
    }

    fn effort(&self) -> Effort {
        Effort { samples: self.samples, sample_seconds: SAMPLE_SECONDS, case_seconds: CASE_SECONDS }
    }
}

fn with_settings(args: &Args, text: &str, act: impl FnOnce(&Engine, &Settings) -> Result<(), Stop>) -> Result<(), Stop> {
    let settings = read_settings(text).map_err(Stop::Input)?;
    let engine = args.open(if settings.wants_cpu() { Backend::Cpu } else { Backend::Gpu })?;
    act(&engine, &settings)
}

fn step(args: &Args, engine: &Engine, settings: &Settings, kernels: bool) -> Result<(), Stop> {
    if kernels && matches!(engine, Engine::Cpu) {
        return Err(Stop::Input("--kernels needs the GPU: the CPU has no kernels to time one by one".to_owned()));
    }
    let mut bench = block_on(StepBench::open(engine, settings))?;
    let rates = block_on(rates(engine, args.effort()))?;
    let report = Report::begin(args.json, bench.adapter(), rates);
    report.settings(settings);
    report.row(&block_on(bench.measure(rates, args.effort()))?, true);
    if kernels {
        report.kernels(&block_on(bench.kernels())?);
    }
    Ok(())
}

fn whole_run(args: &Args, engine: &Engine, settings: &Settings) -> Result<(), Stop> {
    let mut trainer = block_on(Trainer::open(engine, settings))?;
    let rates = block_on(rates(engine, args.effort()))?;
    let report = Report::begin(args.json, trainer.adapter(), rates);
    report.settings(settings);
    let times = block_on(train(&mut trainer, |evaluation| report.evaluation(evaluation)))?;
    report.run(&times);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_bad_input_and_a_lost_device_is_not() {
        let input = |error: BackendError| matches!(Stop::from(TrainError::from(error)), Stop::Input(_));
        assert!(input(BackendError::Limit { what: "a buffer".into(), needed: 9, limit: 8 }));
        assert!(input(BackendError::Memory { needed: 9, limit: Some(8) }) && input(BackendError::Input("no element".into())));
        assert!(!input(BackendError::DeviceLost("gone".into())) && !input(BackendError::Refused("busy".into())));
    }
}
