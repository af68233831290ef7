//! `palimpsest`: checks, trains and measures natively what the page runs in a browser.

mod backend;
mod bench;
mod output;
mod seeds;
mod train;
mod verify;

use clap::error::{ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use palimpsest_rules::clipped;
use std::io::{Write, stdout};
use std::process::ExitCode;

/// Exit code of input that cannot be used.
const BAD_INPUT: u8 = 2;

/// Most characters of an argument in a message.
const QUOTED: usize = 80;

/// Train small linear-attention models, and check the kernels that do it.
#[derive(Parser)]
#[command(name = "palimpsest", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Args),
    Train(train::Args),
    Verify(verify::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    match cli.command {
        Command::Bench(args) => bench::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Verify(args) => verify::run(&args),
    }
}

/// Prints help as it is, and what is wrong with the arguments in one line.
fn refuse(error: &clap::Error) -> ExitCode {
    let help =
        matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    if help {
        output::written(error.print().and_then(|()| stdout().flush()));
        return ExitCode::from(if error.use_stderr() { BAD_INPUT } else { 0 });
    }
    let mut text = error.to_string();
    // an argument may be as long as the system allows
    for (_, given) in error.context() {
        if let ContextValue::String(given) = given
            && given.chars().count() > QUOTED
        {
            text = text.replace(given.as_str(), &clipped(given, QUOTED));
        }
    }
    // clap sets usage and tips apart by empty lines; usage is in --help.
    let told = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let told: Vec<&str> = told.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("tip:")).collect();
    eprintln!("{} (see --help)", told.join(" "));
    ExitCode::from(BAD_INPUT)
}
