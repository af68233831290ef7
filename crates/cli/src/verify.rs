//! `palimpsest verify`: golden files against a backend.

use crate::BAD_INPUT;
use crate::backend::{self, Backend};
use crate::output::{print_json, say};
use clap::ValueEnum;
use palimpsest_golden::{Golden, Report, Row, Tolerance};
use palimpsest_plan::{Adapter, ScanForm};
use palimpsest_rules::{clipped, printable};
use palimpsest_spec::MOST_TOKENS_PER_CHUNK;
use palimpsest_train::Engine;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Compare a backend with golden files: outputs, last state and every gradient
///
/// A golden file holds inputs and float64 results of one rule (see tests/golden). One line is printed for each file,
/// with the relative error ||x - truth|| / ||truth|| of every array: outputs by name, gradients as d and the input's name.
/// The last line counts the files that passed and failed.
///
/// Exit code: 0 when all passed, 1 when one failed, 2 when a file cannot be read or an argument is wrong.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Golden files, as tests/golden/*.json
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What computes
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    backend: Backend,
    /// How scans run
    #[arg(long, value_enum, default_value_t = Form::Recurrent)]
    form: Form,
    #[arg(long, value_name = "N", help = backend::chunk_help(""), value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_TOKENS_PER_CHUNK)))]
    chunk: Option<u16>,
    /// Print one JSON object a line: a report for each file, then the counts
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Token by token
    Recurrent,
    /// In chunks, parallel within a chunk
    Chunked,
}

impl Args {
    fn form(&self) -> ScanForm {
        match self.form {
            Form::Recurrent => ScanForm::Recurrent,
            Form::Chunked => ScanForm::Chunked(self.chunk.map_or_else(backend::default_chunk, usize::from)),
        }
    }
}

/// Most characters of a file's name in a message.
const PATH: usize = 400;

/// One file's line in JSON.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    backend: &'a str,
    form: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    adapter: Option<Adapter>,
    passed: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    report: Option<Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// The last line in JSON.
#[derive(Serialize)]
struct Counts {
    passed: usize,
    failed: usize,
}

/// What became of a file.
enum Outcome {
    Compared(Report, Adapter),
    /// The file is not usable.
    Unreadable(String),
    /// The backend could not run it.
    Refused(String),
}

/// Checks all files; a bad one does not hide the others.
pub(crate) fn run(args: &Args) -> ExitCode {
    if let (Some(tokens), Form::Recurrent) = (args.chunk, args.form) {
        eprintln!("error: --chunk {tokens} goes with --form chunked, and the form is recurrent");
        return ExitCode::from(BAD_INPUT);
    }
    let engine = match backend::open(args.backend) {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(BAD_INPUT);
        }
    };
    backend::tell_form(&engine, args.form());
    let (mut passed, mut failed, mut unreadable) = (0usize, 0usize, false);
    for path in &args.files {
        let outcome = check(path, args, &engine);
        match &outcome {
            Outcome::Compared(report, _) if report.passed() => passed += 1,
            Outcome::Compared(..) | Outcome::Refused(_) => failed += 1,
            Outcome::Unreadable(_) => (failed, unreadable) = (failed + 1, true),
        }
        print(path, args, outcome);
    }
    if args.json {
        print_json(&Counts { passed, failed });
    } else {
        say(&format!("{passed} passed, {failed} failed"));
    }
    ExitCode::from(match (unreadable, failed) {
        (true, _) => BAD_INPUT,
        (false, 0) => 0,
        (false, _) => 1,
    })
}

fn check(path: &Path, args: &Args, engine: &Engine) -> Outcome {
    let golden = match read(path) {
        Ok(golden) => golden,
        Err(message) => return Outcome::Unreadable(message),
    };
    match backend::verify(engine, &golden, args.form(), Tolerance::of(engine.kind(), args.form())) {
        Ok((report, adapter)) => Outcome::Compared(report, adapter),
        // A driver's words may be many lines.
        Err(error) => Outcome::Refused(error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

fn read(path: &Path) -> Result<Golden, String> {
    if path.is_dir() {
        return Err("is a folder; name the golden files in it, as *.json".to_owned());
    }
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    })?;
    let text =
        String::from_utf8(bytes).map_err(|error| format!("not a golden file: no text after {} bytes", error.utf8_error().valid_up_to()))?;
    Golden::parse(&text).map_err(|error| error.to_string())
}

fn print(path: &Path, args: &Args, outcome: Outcome) {
    let file = path.display().to_string();
    let (backend, form) = (name(args.backend), name(args.form));
    let (error, report, adapter) = match outcome {
        Outcome::Compared(report, adapter) => (None, Some(report), Some(adapter)),
        Outcome::Unreadable(message) | Outcome::Refused(message) => (Some(message), None, None),
    };
    if let Some(message) = &error {
        eprintln!("error: {}: {}", clipped(&file, PATH), printable(message));
    }
    if args.json {
        let passed = report.as_ref().is_some_and(Report::passed);
        print_json(&Line { file: &file, backend: &backend, form: &form, adapter, passed, report, error: error.as_deref() });
    } else if let Some(report) = report {
        let verdict = if report.passed() { "ok    " } else { "FAILED" };
        let rows: Vec<String> = report.rows.iter().map(row).collect();
        say(&format!("{verdict} {}  {}", printable(&file), rows.join("  ")));
    }
}

/// `dk 1.2e-7`, with the tolerance where it failed.
fn row(row: &Row) -> String {
    let verdict = if row.passed { String::new() } else { format!(" (> {:.0e})", row.tolerance) };
    format!("{} {:.1e}{verdict}", row.label(), row.error)
}

/// The name under which the command line knows a value.
fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
