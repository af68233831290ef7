//! What commands print alike.

use palimpsest_spec::{Correction, Settings};
use serde::Serialize;
use std::io::{self, ErrorKind, Write, stdout};
use std::process::exit;

/// One line on standard output. What cannot be written ends the command.
pub(crate) fn say(line: &str) {
    written(writeln!(stdout().lock(), "{line}"));
}

/// Ends the command when standard output takes nothing more: in silence when its reader has gone, as in `| head`, for then
/// there is nobody left to tell.
pub(crate) fn written(result: io::Result<()>) {
    if let Err(error) = result {
        if error.kind() != ErrorKind::BrokenPipe {
            eprintln!("error: standard output cannot be written: {error}");
        }
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
    let all = |corrections: Vec<Correction>| {
        let wrong: Vec<&str> = corrections.iter().map(|correction| correction.refusal.as_str()).collect();
        format!("{} (palimpsest train --settings lists all)", wrong.join("; "))
    };
    Settings::from_text_strict(text).map_err(all)
}
