//! What commands print alike.

use palimpsest_spec::{Correction, Settings};
use serde::Serialize;
use std::io::{Write, stdout};
use std::process::exit;

/// One line on standard output. When its reader has gone, as in `| head`, there is nobody left to tell: the command ends unfinished.
pub(crate) fn say(line: &str) {
    if writeln!(stdout().lock(), "{line}").is_err() {
        exit(1);
    }
}

/// One line of JSON on standard output.
pub(crate) fn print_json(line: &impl Serialize) {
    match serde_json::to_string(line) {
        Ok(line) => say(&line),
        Err(error) => eprintln!("error: a line of JSON could not be written: {error}"),
    }
}

/// Settings as a command got them, or one line of all that is wrong with them.
pub(crate) fn read_settings(text: &str) -> Result<Settings, String> {
    let all = |corrections: Vec<Correction>| corrections.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    Settings::from_text_strict(text).map_err(all)
}
