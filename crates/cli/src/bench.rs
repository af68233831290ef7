//! `palimpsest bench`: how long scans and training steps take on this device.

use crate::BAD_INPUT;
use crate::backend::{self, Backend};
use crate::output::{print_json, read_settings, say};
use palimpsest_plan::{AdamW, Adapter, Op, PlanBuilder, Role, Scan, ScanForm, ScanShape, Session};
use palimpsest_rules::Rule;
use palimpsest_spec::Settings;
use palimpsest_train::{Engine, TrainError, Trainer};
use pollster::block_on;
use serde::Serialize;
use std::process::ExitCode;
use std::time::Instant;

/// Measure scans or whole training steps
///
/// Times are wall times per pass: each sample queues several passes and waits once. Median, min and max of the samples follow
/// warm-up passes that are not counted.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    /// What computes
    #[arg(long, value_enum, default_value_t = Backend::Gpu, global = true)]
    backend: Backend,
    /// Samples
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000), global = true)]
    samples: u32,
    /// Print one JSON object a line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum What {
    /// The scan of every rule, in both forms, forward and with its gradient
    Scan {
        /// Sequences, B
        #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
        batch: u32,
        /// Tokens, T
        #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536))]
        time: u32,
        /// Heads, H
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
        heads: u32,
        /// Key size, K, a multiple of 4
        #[arg(long, default_value_t = 32, value_parser = size)]
        key: u32,
        /// Value size, V, a multiple of 4
        #[arg(long, default_value_t = 32, value_parser = size)]
        value: u32,
        /// Tokens per chunk in the chunked form
        #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=128))]
        chunk: u32,
    },
    /// A training step of a model, from the settings that a page's link carries
    Step {
        /// Settings, as key=value joined by &
        #[arg(default_value = "", value_name = "SETTINGS")]
        settings: String,
    },
}

/// K and V: multiples of 4 from 4 to 128.
fn size(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(size) if (4..=128).contains(&size) && size.is_multiple_of(4) => Ok(size),
        _ => Err("not a multiple of 4 from 4 to 128".to_owned()),
    }
}

/// One measurement.
#[derive(Serialize)]
struct Line<'a> {
    what: &'a str,
    rule: &'a str,
    form: &'a str,
    /// Milliseconds.
    median: f64,
    min: f64,
    max: f64,
    samples: u32,
    adapter: &'a Adapter,
}

/// Passes of one sample, so that waiting for the device weighs little.
const PASSES: u32 = 20;

/// Measures.
pub(crate) fn run(args: &Args) -> ExitCode {
    let engine = match backend::open(args.backend) {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(BAD_INPUT);
        }
    };
    let outcome = match &args.what {
        What::Scan { batch, time, heads, key, value, chunk } => {
            let [batch, time, heads, key, value] = [batch, time, heads, key, value].map(|&size| size as usize);
            let shape = ScanShape { batch, time, heads, key, value };
            let forms = [("recurrent", ScanForm::Recurrent), ("chunked", ScanForm::Chunked(*chunk as usize))];
            let all = palimpsest_rules::rules().iter().flat_map(|rule| forms.map(|form| (rule, form)));
            all.into_iter().try_for_each(|(rule, (name, form))| block_on(scan(args, &engine, rule, name, form, shape)))
        }
        What::Step { settings } => {
            let Some(settings) = read_settings(settings) else { return ExitCode::from(BAD_INPUT) };
            block_on(step(args, &engine, &settings))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn scan(args: &Args, engine: &Engine, rule: &Rule, name: &str, form: ScanForm, shape: ScanShape) -> Result<(), TrainError> {
    let layout = rule.step_layout(shape.key, shape.value);
    let mut builder = PlanBuilder::new();
    let rows = [shape.batch, shape.time, shape.heads];
    let steps = builder.tensor("steps", &[rows[0], rows[1], rows[2], layout.stride], Role::Activation);
    let o = builder.activation("read", &[rows[0], rows[1], rows[2], shape.value]);
    builder.push(Op::Scan(Scan { layout, shape, form, steps, initial: None, o, last: None }));
    let plan = builder.finish(AdamW::default())?;
    let len = plan.tensor(steps).len();
    let mut session = engine.session(plan).await?;
    // small numbers, so that no state grows: timing does not depend on them otherwise
    let values: Vec<f32> = (0..len).map(|index| -0.01 * ((index * 37 % 101) as f32 / 101.0)).collect();
    session.write(steps, &values)?;
    for backward in [false, true] {
        let mut times = Vec::new();
        for sample in 0..=args.samples {
            let start = Instant::now();
            for _ in 0..PASSES {
                session.forward(&[])?;
                if backward {
                    session.backward()?;
                }
            }
            session.read_range(o, 0..1).await?;
            // the first sample warms up
            if sample > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e3 / f64::from(PASSES));
            }
        }
        let what = if backward { "scan forward + backward" } else { "scan forward" };
        line(args, session.adapter(), what, rule.slug(), name, times);
    }
    Ok(())
}

async fn step(args: &Args, engine: &Engine, settings: &Settings) -> Result<(), TrainError> {
    let mut trainer = Trainer::open(engine, settings).await?;
    let mut times = Vec::new();
    while times.len() <= args.samples as usize && !trainer.is_done() {
        let before = trainer.step();
        let start = Instant::now();
        trainer.advance(u32::MAX).await?;
        times.push(start.elapsed().as_secs_f64() * 1e3 / f64::from((trainer.step() - before).max(1)));
    }
    // bursts grow from one step on; the early ones mostly wait
    let skip = if times.len() > 8 { times.len() / 2 } else { 0 };
    let form = format!("{:?}", trainer.model().shape.form).to_lowercase();
    let adapter = trainer.adapter().clone();
    line(args, &adapter, "training step", trainer.model().shape.rule.slug(), &form, times.split_off(skip));
    Ok(())
}

fn line(args: &Args, adapter: &Adapter, what: &str, rule: &str, form: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let (Some(&min), Some(&max)) = (times.first(), times.last()) else { return };
    let median = times[times.len() / 2];
    if args.json {
        print_json(&Line { what, rule, form, median, min, max, samples: times.len() as u32, adapter });
    } else {
        say(&format!("{what:24} {rule:18} {form:12} {median:9.3} ms (min {min:.3}, max {max:.3})  {}", adapter.name));
    }
}
