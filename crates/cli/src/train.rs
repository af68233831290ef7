//! `palimpsest train`: a run from a settings string, the same that a page's link carries.

use crate::BAD_INPUT;
use crate::backend::{self, Backend};
use crate::output::{print_json, read_settings, say};
use crate::seeds;
use indicatif::{ProgressBar, ProgressStyle};
use palimpsest_plan::{Adapter, Session};
use palimpsest_protocol::{Evaluation, Progress};
use palimpsest_spec::{MOST_SEEDS, Settings};
use palimpsest_train::{Engine, Stack, TrainError, Trainer};
use pollster::block_on;
use serde::Serialize;
use std::io::{IsTerminal, stderr};
use std::process::ExitCode;

/// Train a model, or several seeds of it together, and report the held-out accuracy
#[derive(clap::Args)]
#[command(long_about = long_about())]
pub(crate) struct Args {
    /// Settings, as key=value joined by &
    #[arg(default_value = "", value_name = "SETTINGS")]
    settings: String,
    /// What computes; the settings' own `backend` otherwise
    #[arg(long, value_enum)]
    backend: Option<Backend>,
    /// Seeds to train together, from the settings' own on; the settings' `seeds` otherwise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SEEDS)))]
    seeds: Option<u32>,
    /// Stop at the first evaluation with an accuracy of 99 % or more (of every seed)
    #[arg(long)]
    pub(crate) until_learned: bool,
    /// Print JSON, one object a line: settings, then evaluations, then the result
    #[arg(long)]
    pub(crate) json: bool,
    /// List all settings and exit
    #[arg(long = "settings", conflicts_with_all = ["settings", "backend", "seeds", "until_learned", "json"])]
    list: bool,
}

/// The help in full; the example follows the registries.
fn long_about() -> String {
    format!(
        "Train a model, or several seeds of it together, and report the held-out accuracy\n\n\
         SETTINGS is what a page's link carries after its question mark, as '{}'; what it leaves out has its default. \
         `palimpsest train --settings` lists all of them.\n\n\
         Exit code: 0 when training ended, 1 when it (or a seed) failed on the way, 2 when the settings or the device cannot be used.",
        palimpsest_spec::example()
    )
}

/// One line of `--json`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line<'a> {
    Start {
        settings: &'a str,
        adapter: &'a Adapter,
        parameters: usize,
        state: usize,
    },
    Evaluation {
        progress: Option<Progress>,
        evaluation: &'a Evaluation,
    },
    End {
        steps: u32,
        seconds: f64,
        steps_per_second: f64,
        steps_to_99: Option<u32>,
        seconds_to_99: Option<f64>,
        evaluation: &'a Evaluation,
    },
    Failed {
        message: String,
    },
}

/// Trains.
pub(crate) fn run(args: &Args) -> ExitCode {
    if args.list {
        say(&palimpsest_spec::help_text());
        return ExitCode::SUCCESS;
    }
    let settings = match read_settings(&args.settings) {
        Ok(settings) => settings,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            return ExitCode::from(BAD_INPUT);
        }
    };
    let page = settings.only_for_the_page();
    if !page.is_empty() {
        eprintln!("note: only the page uses {}: this trains rule={}", page.join(", "), settings.rule().slug());
    }
    let backend = args.backend.unwrap_or(if settings.wants_cpu() { Backend::Cpu } else { Backend::Gpu });
    let seeds = match seeds(args, &settings) {
        Ok(seeds) => seeds,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            return ExitCode::from(BAD_INPUT);
        }
    };
    let trained =
        backend::open(backend).map_err(TrainError::from).and_then(|engine| block_on(open_and_train(args, &settings, &engine, seeds)));
    match trained {
        Ok(outcome) => outcome,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// How many seeds to train: those of `--seeds`, where as many follow the settings' own seed.
fn seeds(args: &Args, settings: &Settings) -> Result<usize, String> {
    let Some(asked) = args.seeds else { return Ok(settings.seeds()) };
    let wrong = settings.clone().set("seeds", &asked.to_string()).unwrap_or_else(|wrong| vec![wrong]);
    wrong.first().map_or(Ok(asked as usize), |wrong| Err(format!("--seeds {asked}: {}", wrong.refusal)))
}

/// Trains one model or several seeds of it. An error means that training could not begin.
async fn open_and_train(args: &Args, settings: &Settings, engine: &Engine, seeds: usize) -> Result<ExitCode, TrainError> {
    let stopped = if seeds == 1 {
        let trainer = Trainer::open(engine, settings).await?;
        train(args, settings, trainer).await.map(|()| 0)
    } else {
        let stack = Stack::open(engine, settings, seeds).await?;
        seeds::train(args, settings, stack).await
    };
    Ok(match stopped {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            if args.json {
                print_json(&Line::Failed { message: error.to_string() });
            }
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    })
}

async fn train<S: Session>(args: &Args, settings: &Settings, mut trainer: Trainer<S>) -> Result<(), TrainError> {
    let link = settings.to_link();
    let (parameters, state) = (trainer.model().plan.parameter_count(), trainer.model().shape.state());
    if args.json {
        print_json(&Line::Start { settings: &link, adapter: trainer.adapter(), parameters, state });
    } else {
        let Adapter { name, interface, .. } = trainer.adapter();
        eprintln!("{} on {name} ({interface}), {parameters} parameters, state of {state} floats", trainer.model().shape.rule.name());
    }
    let bar = bar(trainer.recipe().schedule.steps, args.json);
    let mut evaluation = trainer.evaluate().await?;
    report(args, &bar, None, &evaluation);
    let mut speed = 0.0;
    let mut losses = Vec::new();
    let learned = |evaluation: &Evaluation| args.until_learned && evaluation.reached_99.is_some();
    while !trainer.is_done() && !learned(&evaluation) {
        let mut progress = trainer.advance(u32::MAX).await?;
        speed = progress.steps_per_second;
        losses.append(&mut progress.losses);
        bar.set_position(u64::from(progress.step));
        if let Some((_, loss)) = losses.last() {
            bar.set_message(format!("loss {loss:.3}, {speed:.0} steps/s"));
        }
        if trainer.evaluation_due() {
            evaluation = trainer.evaluate().await?;
            // every step's loss since the last report
            progress.losses = std::mem::take(&mut losses);
            report(args, &bar, Some(progress), &evaluation);
        }
    }
    bar.finish_and_clear();
    if args.json {
        print_json(&Line::End {
            steps: trainer.step(),
            seconds: evaluation.seconds,
            steps_per_second: speed,
            steps_to_99: evaluation.reached_99.map(|(step, _)| step),
            seconds_to_99: evaluation.reached_99.map(|(_, seconds)| seconds),
            evaluation: &evaluation,
        });
    } else {
        say(&sentence(&evaluation));
        if let Some((step, seconds)) = evaluation.reached_99 {
            say(&format!("99 % first reached at step {step}, after {seconds:.1} s of training"));
        }
    }
    Ok(())
}

/// A progress bar on a terminal, nothing elsewhere.
pub(crate) fn bar(steps: u32, json: bool) -> ProgressBar {
    if json || !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(u64::from(steps));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} steps, {eta} left, {msg}") {
        bar.set_style(style);
    }
    bar
}

fn report(args: &Args, bar: &ProgressBar, progress: Option<Progress>, evaluation: &Evaluation) {
    if args.json {
        print_json(&Line::Evaluation { progress, evaluation });
    } else {
        bar.suspend(|| say(&format!("step {:>6}  {}", evaluation.step, sentence(evaluation))));
    }
}

pub(crate) fn sentence(evaluation: &Evaluation) -> String {
    let Evaluation { accuracy, examples, interval: (low, high), loss, .. } = evaluation;
    format!(
        "held-out accuracy {:.1} % (n = {examples}, 95 % interval {:.1}-{:.1}), loss {loss:.4}",
        accuracy * 100.0,
        low * 100.0,
        high * 100.0
    )
}
