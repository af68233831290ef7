//! Running the stages one after another and telling how each went.

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::shell;
use crate::test::closing::Runner;

enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

struct Stage {
    name: String,
    outcome: Outcome,
    time: Duration,
    closing: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Stages {
    done: Vec<Stage>,
}

impl Stages {
    /// Runs a stage and tells whether it passed.
    pub(crate) fn run(&mut self, name: &str, runner: Runner, command: Command) -> bool {
        println!("\n== {name}: {}", abridged(&shell::shown(&command)));
        let start = Instant::now();
        let mut closing = Vec::new();
        let result = shell::run_watched(command, |line| {
            if runner.closes_with(line) {
                closing.push(line.to_owned());
            }
        });
        let outcome = match result {
            Ok(()) if runner.must_close() && closing.is_empty() => Outcome::Failed("no result line: nothing was tested".into()),
            Ok(()) => Outcome::Passed,
            Err(error) => Outcome::Failed(abridged(&error.to_string())),
        };
        let time = start.elapsed();
        let passed = matches!(outcome, Outcome::Passed);
        println!("== {name}: {} in {}", if passed { "passed" } else { "FAILED" }, shell::took(time));
        self.done.push(Stage { name: name.to_owned(), outcome, time, closing });
        passed
    }

    /// Notes a stage that cannot run.
    pub(crate) fn skip(&mut self, name: &str, reason: &str) {
        println!("\n== {name}: skipped, {reason}");
        self.done.push(Stage {
            name: name.to_owned(),
            outcome: Outcome::Skipped(reason.to_owned()),
            time: Duration::ZERO,
            closing: Vec::new(),
        });
    }

    /// Prints how all went, the runners' own lines last. An error if a stage failed.
    pub(crate) fn close(&self) -> Result<()> {
        print!("{}", self.summary());
        if self.not_passed() == 0 { Ok(()) } else { Err(Error::Told) }
    }

    /// A skipped stage stands behind a failed one: both leave something untested.
    fn not_passed(&self) -> usize {
        self.done.iter().filter(|stage| !matches!(stage.outcome, Outcome::Passed)).count()
    }

    fn summary(&self) -> String {
        let width = self.done.iter().map(|stage| stage.name.len()).max().unwrap_or(0);
        let mut text = String::from("\n== Summary\n");
        for Stage { name, outcome, time, .. } in &self.done {
            let (word, reason) = match outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::Failed(reason) => ("FAILED", reason.as_str()),
                Outcome::Skipped(reason) => ("skipped", reason.as_str()),
            };
            let line = format!("{word:<8} {name:<width$} {:>12}  {reason}", shell::took(*time));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let _ = match self.not_passed() {
            0 => writeln!(text, "all {} stages passed", self.done.len()),
            count => writeln!(text, "{count} of {} stages did not pass", self.done.len()),
        };
        let closed = self.done.iter().filter(|stage| !stage.closing.is_empty());
        for (index, stage) in closed.enumerate() {
            if index == 0 {
                text += "\n== Result lines of the runners\n";
            }
            let _ = writeln!(text, "{}:", stage.name);
            for line in &stage.closing {
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }
}

/// A command with dozens of files, cut to what a heading can show.
fn abridged(command: &str) -> String {
    const MOST: usize = 160;
    match command.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &command[..end]),
        None => command.to_owned(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failing_stage_fails_the_whole_and_hides_no_later_one() {
        let mut stages = Stages::default();
        assert!(!stages.run("first", Runner::Silent, sh("exit 3")));
        assert!(stages.run("second", Runner::Verify, sh("echo '2 passed, 0 failed'")));
        stages.skip("third", "the first failed");
        assert_eq!(stages.close().unwrap_err().exit_code(), 1);
        let summary = stages.summary();
        assert!(summary.contains("\n2 of 3 stages did not pass\n"), "{summary}");
        assert!(
            summary.contains("FAILED   first") && summary.contains("passed   second") && summary.contains("skipped  third"),
            "{summary}"
        );
        assert!(summary.ends_with("second:\n2 passed, 0 failed\n"), "{summary}");
    }

    #[test]
    fn stages_that_all_pass_are_no_error() {
        let mut stages = Stages::default();
        assert!(stages.run("only", Runner::Silent, sh("true")));
        assert!(stages.close().is_ok());
    }

    #[test]
    fn a_runner_that_tests_nothing_has_not_passed() {
        let mut stages = Stages::default();
        assert!(!stages.run("verify", Runner::Verify, sh("exit 0")));
        assert!(stages.close().is_err());
    }

    #[test]
    fn a_long_command_is_cut_between_characters() {
        assert_eq!(abridged("cargo fmt"), "cargo fmt");
        assert_eq!(abridged(&"ä".repeat(200)), format!("{}...", "ä".repeat(160)));
    }
}
