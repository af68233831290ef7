//! What was changed in settings that a person gave.

use crate::kind::near;
use crate::settings::rows_with;
use crate::{Settings, VERSION, Value};
use palimpsest_rules::quoted;
use palimpsest_tasks::tasks;
use std::fmt;

/// One change to what was asked for, as a plain sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The setting it is about; a word that is none, made printable; or empty for the link as a whole.
    pub key: String,
    /// The sentence, as `pairs=900 is out of range 1 to 16 for length 64: using 16`.
    pub sentence: String,
    /// The same where nothing is corrected, as `pairs=900 is out of range 1 to 16 for length 64: nearest valid: 16`.
    pub refusal: String,
}

impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Correction {}

impl Correction {
    /// What is wrong, what is done about it, and what to do when nothing is.
    fn new(key: &str, fault: &str, done: &str, advice: &str) -> Correction {
        Correction { key: quoted(key), sentence: format!("{fault}: {done}"), refusal: format!("{fault}: {advice}") }
    }

    /// A value moved to the nearest valid one; `wrong` follows "is".
    pub(crate) fn moved(key: &str, given: &str, wrong: &str, used: &Value) -> Correction {
        let used = shown(used);
        let fault = format!("{}={} is {wrong}", quoted(key), quoted(given));
        Correction::new(key, &fault, &format!("using {used}"), &format!("nearest valid: {used}"))
    }

    /// A value that says nothing, so that none is near; `wrong` follows "is".
    pub(crate) fn meaningless(key: &str, given: &str, wrong: &str, used: &Value) -> Correction {
        let used = shown(used);
        let fault = format!("{}={} is {wrong}", quoted(key), quoted(given));
        Correction::new(key, &fault, &format!("using {used}"), &format!("valid is {used}, for one"))
    }

    /// A value that was not given and does not fit those that were.
    pub(crate) fn moved_default(key: &str, default: &Value, wrong: &str, used: &Value) -> Correction {
        let fault = format!("{key}={default}, the default, is {wrong}");
        Correction::new(key, &fault, &format!("using {used}"), &format!("nearest valid: {used}"))
    }

    /// A name that is close to a setting's.
    pub(crate) fn misspelt(key: &str, meant: &str) -> Correction {
        let fault = format!("{} is not a setting", quoted(key));
        Correction::new(key, &fault, &format!("read as {meant}"), &format!("did you mean {meant}?"))
    }

    /// A name that is no setting of the chosen task.
    pub(crate) fn unknown(key: &str, settings: &Settings) -> Correction {
        let name = quoted(key);
        let owner = tasks().iter().find(|task| task.settings().iter().any(|setting| setting.key == key));
        let rows = settings.rows();
        let none = format!("{name} is not a setting");
        match (owner, near(key, rows.iter().map(|row| row.key))) {
            (Some(owner), _) => {
                let fault = format!("{name} is a setting of task={}, not of task={}", owner.slug(), settings.task.slug());
                Correction::new(key, &fault, "ignored", "leave it out")
            }
            (None, Some(meant)) => {
                let question = format!("did you mean {meant}?");
                Correction::new(key, &none, &format!("ignored, {question}"), &question)
            }
            (None, None) if name.is_empty() => Correction::new(key, "a value without a name", "ignored", "write name=value"),
            (None, None) => Correction::new(key, &none, "ignored", "leave it out"),
        }
    }

    /// A key given more than once.
    pub(crate) fn repeated(key: &str, times: usize, last: &str) -> Correction {
        let fault = format!("{} is given {times} times", quoted(key));
        Correction::new(key, &fault, &format!("using the last, {}", quoted(last)), "give it once")
    }

    /// A version other than the one known.
    pub(crate) fn version(given: &str) -> Correction {
        let newer = given.parse::<f64>().is_ok_and(|number| number > f64::from(VERSION));
        let wrong = if newer { "newer than the version known here" } else { "not a known version" };
        let fault = format!("v={} is {wrong}", quoted(given));
        Correction::new("v", &fault, &format!("reading it as v={VERSION}"), &format!("the known version is {VERSION}"))
    }

    /// A text too long to read.
    pub(crate) fn too_long(length: usize, read: usize) -> Correction {
        let fault = format!("the settings are {length} bytes long");
        Correction::new("", &fault, &format!("only the first {read} are read"), "leave out what has its default")
    }

    /// More corrections than anyone reads.
    pub(crate) fn more(count: usize) -> Correction {
        let sentence = format!("{count} more parts are wrong too");
        Correction { key: String::new(), refusal: sentence.clone(), sentence }
    }
}

/// A value in a sentence.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.is_empty() { "none".to_owned() } else { text }
}

/// Every key of the table and of all tasks.
pub(crate) fn is_known_somewhere(key: &str) -> bool {
    tasks().iter().any(|task| rows_with(*task).iter().any(|row| row.key == key))
}
