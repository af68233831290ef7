//! `cargo xtask serve | test | dist`: sets up what the task needs, then does it.
//!
//! Exit codes: 0 done, 1 something failed, 2 a person must act first (a busy port, packages to install).

mod error;
mod serve;
mod setup;
mod shell;
mod site;
mod test;
mod version;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Result;
use crate::shell::Shell;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Serve the page, test everything, or make the static site")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the page in release and serve it, building again when a file changes
    Serve(serve::Serve),
    /// Run every test: formatting, clippy, native tests, golden files, the page in Chromium
    Test(test::Test),
    /// Make the static site in dist/, servable from any folder of a web server
    Dist,
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !matches!(error, error::Error::Told) {
                eprintln!("{error}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(task: Task) -> Result<()> {
    let shell = Shell::new()?;
    match task {
        Task::Serve(serve) => serve.run(&shell),
        Task::Test(test) => test.run(&shell),
        Task::Dist => site::dist(&shell),
    }
}
