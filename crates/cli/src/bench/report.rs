//! Rows as JSON lines or as an aligned table.

use crate::output::{print_json, say};
use palimpsest_bench::{KernelTime, REVISION, RunTimes};
use palimpsest_plan::Adapter;
use palimpsest_protocol::{BenchRow, Evaluation, Pass, Rates, Timing};
use palimpsest_rules::{Rule, rules};
use palimpsest_spec::Settings;
use serde::Serialize;

/// One line of `--json`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line<'a> {
    Start {
        adapter: &'a Adapter,
        /// Empty when it was not built from a repository.
        revision: &'static str,
        rates: Rates,
    },
    Settings {
        settings: String,
    },
    Row(Row<'a>),
    Kernel {
        kernel: &'static str,
        launches: u32,
        seconds: f64,
    },
    Evaluation {
        evaluation: &'a Evaluation,
    },
    Run {
        steps: u32,
        seconds: f64,
        steps_to_99: Option<u32>,
        seconds_to_99: Option<f64>,
        steps_per_second: f64,
        tokens_per_second: f64,
        evaluation: &'a Evaluation,
    },
}

/// A row with its case's sizes beside its numbers.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    row: &'a BenchRow,
    /// Of whichever rate is the nearer limit.
    ceiling_share: f64,
}

/// Prints what is measured as it comes.
pub(super) struct Report {
    json: bool,
    /// Of the longest rule's slug.
    width: usize,
}

impl Report {
    /// Says on what is measured, and what that can do at most.
    pub(super) fn begin(json: bool, adapter: &Adapter, rates: Rates) -> Report {
        let width = rules().iter().map(|rule: &Rule| rule.slug().len()).max().unwrap_or(0);
        if json {
            print_json(&Line::Start { adapter, revision: REVISION, rates });
        } else {
            let revision = if REVISION.is_empty() { "no revision" } else { REVISION };
            say(&format!("{} ({}), {revision}", adapter.name, adapter.interface));
            let clock = if rates.timestamps { "GPU timestamps" } else { "wall clock" };
            say(&format!(
                "copies {} GB/s, multiplies and adds {} GFLOP/s ({clock})",
                short(rates.copy_bytes_per_second / 1e9),
                short(rates.fma_flops_per_second / 1e9)
            ));
        }
        Report { json, width }
    }

    /// The settings that are measured.
    pub(super) fn settings(&self, settings: &Settings) {
        let settings = settings.to_link();
        if self.json {
            print_json(&Line::Settings { settings });
        } else {
            say(&settings);
        }
    }

    /// One measurement. The first one's columns are named above it.
    pub(super) fn row(&self, row: &BenchRow, first: bool) {
        if self.json {
            print_json(&Line::Row(Row { row, ceiling_share: row.ceiling_share() }));
            return;
        }
        if first {
            say(&format!(
                "\n{:<width$} {:>9} {:>6} {:>8} {:>27} {:>10} {:>9} {:>8} {:>6} {:>9} {:>6} {:>6} {:>10}",
                "rule",
                "form",
                "T",
                "pass",
                "GPU ms (min-max)",
                "wall ms",
                "ns/token",
                "GB/s",
                "share",
                "GFLOP/s",
                "share",
                "state",
                "dispatches",
                width = self.width
            ));
        }
        let case = &row.case;
        let form = case.chunk.map_or_else(|| case.form.clone(), |chunk| format!("chunk {chunk}"));
        let pass = match case.pass {
            Pass::Forward => "forward",
            Pass::ForwardBackward => "both",
            Pass::Step => "step",
        };
        say(&format!(
            "{:<width$} {form:>9} {:>6} {pass:>8} {:>27} {:>10} {:>9} {:>8} {:>6} {:>9} {:>6} {:>6} {:>10}",
            case.rule,
            case.time,
            row.gpu.map_or_else(|| "none".to_owned(), span),
            short(row.wall.median * 1e3),
            short(row.nanoseconds_per_token),
            short(row.bytes_per_second / 1e9),
            percent(row.copy_share),
            short(row.flops_per_second / 1e9),
            percent(row.fma_share),
            row.state,
            row.dispatches,
            width = self.width
        ));
    }

    /// GPU time of one step by kernel.
    pub(super) fn kernels(&self, kernels: &[KernelTime]) {
        if !self.json {
            let all: f64 = kernels.iter().map(|kernel| kernel.seconds).sum();
            say(&format!("\nGPU time of one step, each launch timed alone: {} us", short(all * 1e6)));
        }
        for &KernelTime { kernel, launches, seconds } in kernels {
            if self.json {
                print_json(&Line::Kernel { kernel, launches, seconds });
            } else {
                say(&format!("{:>10} us {launches:>4} x {kernel}", short(seconds * 1e6)));
            }
        }
    }

    /// An evaluation on the way.
    pub(super) fn evaluation(&self, evaluation: &Evaluation) {
        if self.json {
            print_json(&Line::Evaluation { evaluation });
        } else {
            let Evaluation { step, seconds, accuracy, examples, .. } = evaluation;
            say(&format!("step {step:>6}  {seconds:>8.2} s  held-out accuracy {:.1} % (n = {examples})", accuracy * 100.0));
        }
    }

    /// A whole run.
    pub(super) fn run(&self, times: &RunTimes) {
        let RunTimes { steps, seconds, reached_99, steps_per_second, tokens_per_second, evaluation } = times;
        if self.json {
            print_json(&Line::Run {
                steps: *steps,
                seconds: *seconds,
                steps_to_99: reached_99.map(|(step, _)| step),
                seconds_to_99: reached_99.map(|(_, seconds)| seconds),
                steps_per_second: *steps_per_second,
                tokens_per_second: *tokens_per_second,
                evaluation,
            });
            return;
        }
        match reached_99 {
            Some((step, seconds)) => say(&format!("99 % held-out accuracy after {step} steps, {seconds:.2} s of training")),
            None => say(&format!("99 % held-out accuracy not reached in {steps} steps, {seconds:.2} s of training")),
        }
        say(&format!("{} steps/s, {} tokens/s", short(*steps_per_second), short(*tokens_per_second)));
    }
}

/// `0.271 (0.268-0.280)` of milliseconds.
fn span(timing: Timing) -> String {
    let [median, min, max] = [timing.median, timing.min, timing.max].map(|seconds| short(seconds * 1e3));
    format!("{median} ({min}-{max})")
}

/// Three significant digits or more; whole from 100 on.
fn short(number: f64) -> String {
    let decimals = if number > 0.0 { (2 - number.log10().floor() as i32).clamp(0, 6) as usize } else { 0 };
    format!("{number:.decimals$}")
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let texts = [0.0001234, 0.271828, 27.18, 2718.28, 0.0].map(short);
        assert_eq!(texts, ["0.000123", "0.272", "27.2", "2718", "0"]);
        assert_eq!(span(Timing { median: 2e-3, min: 1.5e-3, max: 0.25 }), "2.00 (1.50-250)");
    }
}
