//! `palimpsest train --seeds`: several seeds of the same settings, trained together.

mod summary;

use crate::output::{print_json, say};
use crate::train::{Args, bar, sentence};
use indicatif::ProgressBar;
use palimpsest_plan::{Adapter, Stacked};
use palimpsest_protocol::{Evaluation, Progress};
use palimpsest_spec::Settings;
use palimpsest_train::{PerRun, Stack, TrainError};
use serde::Serialize;
use summary::Summary;

/// One line of `--json`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line<'a> {
    Start {
        settings: &'a str,
        seeds: Vec<u64>,
        adapter: &'a Adapter,
        parameters: usize,
        state: usize,
    },
    Evaluation {
        seed: u64,
        progress: Option<Progress>,
        evaluation: &'a Evaluation,
    },
    /// A seed that does not go on.
    Stopped {
        seed: u64,
        message: &'a str,
    },
    End {
        /// Steps of each seed.
        steps: u32,
        seconds: f64,
        /// Steps that every seed takes in a second.
        steps_per_second: f64,
        #[serde(flatten)]
        summary: Summary,
        seeds: Vec<Outcome<'a>>,
    },
}

/// How a seed ended: with its last evaluation, or with why it stopped.
#[derive(Serialize)]
struct Outcome<'a> {
    seed: u64,
    steps_to_99: Option<u32>,
    seconds_to_99: Option<f64>,
    evaluation: Option<&'a Evaluation>,
    stopped: Option<&'a str>,
}

/// Where one seed stands.
struct Seed {
    seed: u64,
    last: Option<Evaluation>,
    /// Why it does not go on. What it scored before counts no more.
    stopped: Option<String>,
    /// Since the last report.
    losses: Vec<(u32, f32)>,
}

impl Seed {
    fn evaluation(&self) -> Option<&Evaluation> {
        self.last.as_ref().filter(|_| self.stopped.is_none())
    }

    fn reached_99(&self) -> Option<(u32, f64)> {
        self.evaluation().and_then(|evaluation| evaluation.reached_99)
    }

    fn outcome(&self) -> Outcome<'_> {
        Outcome {
            seed: self.seed,
            steps_to_99: self.reached_99().map(|(step, _)| step),
            seconds_to_99: self.reached_99().map(|(_, seconds)| seconds),
            evaluation: self.evaluation(),
            stopped: self.stopped.as_deref(),
        }
    }

    fn sentence(&self) -> String {
        let seed = self.seed;
        match (&self.stopped, self.evaluation(), self.reached_99()) {
            (Some(message), ..) => format!("seed {seed}  stopped: {message}"),
            (_, Some(evaluation), Some((step, seconds))) => {
                format!("seed {seed}  {}; 99 % first reached at step {step}, after {seconds:.1} s", sentence(evaluation))
            }
            (_, Some(evaluation), None) => format!("seed {seed}  {}", sentence(evaluation)),
            (None, None, _) => format!("seed {seed}  was not evaluated"),
        }
    }
}

/// Tells of seeds as they go.
struct Reporter<'a> {
    args: &'a Args,
    bar: ProgressBar,
    seeds: Vec<Seed>,
}

impl Reporter<'_> {
    /// What the seeds report that go on; tells of those that have just stopped.
    fn going_on<T>(&mut self, reports: PerRun<T>) -> Vec<Option<T>> {
        let mut going_on = Vec::new();
        for (seed, report) in self.seeds.iter_mut().zip(reports) {
            let stopped = report.as_ref().err().filter(|_| seed.stopped.is_none()).map(TrainError::to_string);
            if let Some(message) = stopped {
                if self.args.json {
                    print_json(&Line::Stopped { seed: seed.seed, message: &message });
                }
                seed.stopped = Some(message);
                if !self.args.json {
                    self.bar.suspend(|| say(&seed.sentence()));
                }
            }
            going_on.push(report.ok());
        }
        going_on
    }

    /// Takes up a burst; gives its progress, which is alike for all seeds but for their losses, or `None` when none goes on.
    fn advanced(&mut self, reports: PerRun<Progress>) -> Option<Progress> {
        let mut latest = None;
        for (index, progress) in self.going_on(reports).into_iter().enumerate() {
            let Some(mut progress) = progress else { continue };
            self.seeds[index].losses.append(&mut progress.losses);
            latest = Some(progress);
        }
        latest
    }

    fn evaluated(&mut self, reports: PerRun<Evaluation>, progress: Option<&Progress>) {
        for (index, evaluation) in self.going_on(reports).into_iter().enumerate() {
            let seed = &mut self.seeds[index];
            let losses = std::mem::take(&mut seed.losses);
            let Some(evaluation) = evaluation else { continue };
            if self.args.json {
                let progress = progress.map(|progress| Progress { losses, ..progress.clone() });
                print_json(&Line::Evaluation { seed: seed.seed, progress, evaluation: &evaluation });
            } else {
                let line = format!("step {:>6}  seed {}  {}", evaluation.step, seed.seed, sentence(&evaluation));
                self.bar.suspend(|| say(&line));
            }
            seed.last = Some(evaluation);
        }
    }

    fn all_learned(&self) -> bool {
        self.seeds.iter().all(|seed| seed.stopped.is_some() || seed.reached_99().is_some())
    }

    fn end(&self, steps: u32, seconds: f64, steps_per_second: f64) {
        self.bar.finish_and_clear();
        let summary = Summary::new(&self.seeds);
        if self.args.json {
            let seeds = self.seeds.iter().map(Seed::outcome).collect();
            return print_json(&Line::End { steps, seconds, steps_per_second, summary, seeds });
        }
        self.seeds.iter().for_each(|seed| say(&seed.sentence()));
        say(&format!("{}; {steps} steps in {seconds:.1} s of training", summary.sentence(self.seeds.len())));
    }
}

/// Trains all seeds of a stack; gives how many stopped on the way.
pub(crate) async fn train<S: Stacked>(args: &Args, settings: &Settings, mut stack: Stack<S>) -> Result<usize, TrainError> {
    let (parameters, state) = (stack.model().plan.parameter_count(), stack.model().shape.state());
    let seeds: Vec<u64> = stack.seeds().collect();
    let adapter = stack.adapter();
    if args.json {
        print_json(&Line::Start { settings: &settings.to_link(), seeds: seeds.clone(), adapter, parameters, state });
    } else {
        let (rule, Adapter { name, interface, .. }) = (stack.model().shape.rule.name(), adapter);
        eprintln!("{rule} on {name} ({interface}), {} seeds of {parameters} parameters, state of {state} floats", seeds.len());
    }
    let seeds = seeds.into_iter().map(|seed| Seed { seed, last: None, stopped: None, losses: Vec::new() }).collect();
    let mut reporter = Reporter { args, bar: bar(stack.recipe().schedule.steps, args.json), seeds };
    reporter.evaluated(stack.evaluate().await?, None);
    let (mut seconds, mut speed) = (0.0, 0.0);
    loop {
        let over = stack.is_done() || stack.all_stopped();
        if over || (args.until_learned && reporter.all_learned()) {
            break;
        }
        let Some(progress) = reporter.advanced(stack.advance(u32::MAX).await?) else { break };
        (seconds, speed) = (progress.seconds, progress.steps_per_second);
        reporter.bar.set_position(u64::from(progress.step));
        reporter.bar.set_message(format!("{speed:.0} steps/s of each seed"));
        if stack.evaluation_due() {
            reporter.evaluated(stack.evaluate().await?, Some(&progress));
        }
    }
    reporter.end(stack.step(), seconds, speed);
    Ok(reporter.seeds.iter().filter(|seed| seed.stopped.is_some()).count())
}
