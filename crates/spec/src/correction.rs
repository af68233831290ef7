//! What was changed in settings that a person gave.

use crate::kind::near;
use crate::settings::rows_with;
use crate::{Settings, VERSION, Value};
use palimpsest_tasks::tasks;
use std::fmt;

/// One change to what was asked for, as a plain sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The setting it is about; a word that is none, made printable; or empty for the link as a whole.
    pub key: String,
    /// The sentence, as `pairs=900 is out of range 1 to 16 for length 64: using 16`.
    pub sentence: String,
}

impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Correction {}

impl Correction {
    fn new(key: &str, sentence: String) -> Correction {
        Correction { key: printable(key), sentence }
    }

    /// A value moved to the nearest valid one; `wrong` follows "is".
    pub(crate) fn moved(key: &str, given: &str, wrong: &str, used: &Value) -> Correction {
        let used = used.to_string();
        let used = if used.is_empty() { "none" } else { &used };
        Correction::new(key, format!("{}={} is {wrong}: using {used}", printable(key), printable(given)))
    }

    /// A value that was not given and does not fit those that were.
    pub(crate) fn moved_default(key: &str, default: &Value, wrong: &str, used: &Value) -> Correction {
        Correction::new(key, format!("{key}={default}, the default, is {wrong}: using {used}"))
    }

    /// A name that is close to a setting's.
    pub(crate) fn misspelt(key: &str, meant: &str) -> Correction {
        Correction::new(key, format!("{} is not a setting: read as {meant}", printable(key)))
    }

    /// A name that is no setting of the chosen task.
    pub(crate) fn unknown(key: &str, settings: &Settings) -> Correction {
        let name = printable(key);
        let owner = tasks().iter().find(|task| task.settings().iter().any(|setting| setting.key == key));
        let rows = settings.rows();
        let sentence = match (owner, near(key, rows.iter().map(|row| row.key))) {
            (Some(owner), _) => format!("{name} is a setting of task={}, not of task={}: ignored", owner.slug(), settings.task.slug()),
            (None, Some(meant)) => format!("{name} is not a setting: ignored, did you mean {meant}?"),
            (None, None) if name.is_empty() => "a value without a name: ignored".to_owned(),
            (None, None) => format!("{name} is not a setting: ignored"),
        };
        Correction::new(key, sentence)
    }

    /// A key given more than once.
    pub(crate) fn repeated(key: &str, times: usize, last: &str) -> Correction {
        Correction::new(key, format!("{} is given {times} times: using the last, {}", printable(key), printable(last)))
    }

    /// A version other than the one known.
    pub(crate) fn version(given: &str) -> Correction {
        let newer = given.parse::<f64>().is_ok_and(|number| number > f64::from(VERSION));
        let wrong = if newer { "newer than the version known here" } else { "not a known version" };
        Correction::new("v", format!("v={} is {wrong}: reading it as v={VERSION}", printable(given)))
    }

    /// A text too long to read.
    pub(crate) fn too_long(length: usize, read: usize) -> Correction {
        Correction::new("", format!("the settings are {length} bytes long: only the first {read} are read"))
    }

    /// More corrections than anyone reads.
    pub(crate) fn more(count: usize) -> Correction {
        Correction::new("", format!("{count} more parts are wrong too"))
    }
}

/// Longest word quoted in a sentence, in characters.
const LONGEST: usize = 40;

/// A word as it can be shown: cut short, and without characters that steer a terminal or turn the text around.
fn printable(word: &str) -> String {
    let shown = |c: char| if c.is_control() || is_format(c) { '\u{fffd}' } else { c };
    let mut text: String = word.chars().take(LONGEST).map(shown).collect();
    if word.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    text
}

/// Invisible characters that change direction or join others.
fn is_format(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Every key of the table and of all tasks.
pub(crate) fn is_known_somewhere(key: &str) -> bool {
    tasks().iter().any(|task| rows_with(*task).iter().any(|row| row.key == key))
}
