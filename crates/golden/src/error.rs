//! What can be wrong with a golden file.

use palimpsest_rules::{clipped, quoted};
use std::fmt;

/// Most characters of a shape in a message.
const SHAPE: usize = 80;
/// Most characters of a parser's words, which may repeat a text of the file.
const WORDS: usize = 120;

/// Why a file is not a golden file. One line: what, where, and what would be valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoldenError {
    /// Not the format at all.
    #[error("not a golden file: {0}; it must be JSON, its numbers finite decimals")]
    Json(String),
    /// A rule that is not in the registry.
    #[error("unknown rule '{}'; the rules are {valid}", quoted(slug))]
    Rule {
        /// What the file names.
        slug: String,
        /// All slugs.
        valid: String,
    },
    /// A size that no scan takes.
    #[error("{name} is {found}; it must be {valid}")]
    Dims {
        /// B, T, H, K or V.
        name: &'static str,
        /// What the file has.
        found: usize,
        /// What it may be.
        valid: &'static str,
    },
    /// An array that the rule needs.
    #[error("'{array}' is missing from {section}; it must have shape {expected:?}")]
    Missing {
        /// As `input_grads`.
        section: &'static str,
        /// The array's name.
        array: String,
        /// Its shape.
        expected: Vec<usize>,
    },
    /// An array that the rule does not know, or for which no gradient flows.
    #[error("'{}' in {section} does not belong to rule '{rule}', which has {valid}", quoted(array))]
    Unexpected {
        /// As `inputs`.
        section: &'static str,
        /// The array's name.
        array: String,
        /// The rule's slug.
        rule: String,
        /// The names there may be.
        valid: String,
    },
    /// Symbols that the rule cannot take from outside.
    #[error("rule '{rule}' cannot take its inputs from this file: {message}")]
    Cut {
        /// The rule's slug.
        rule: String,
        /// The rule's words.
        message: String,
    },
    /// A wrong shape.
    #[error("'{array}' in {section} has shape {}; it must be {expected:?}", clipped(&format!("{found:?}"), SHAPE))]
    Shape {
        /// As `outputs`.
        section: &'static str,
        /// The array's name.
        array: String,
        /// What the file has.
        found: Vec<usize>,
        /// What the sizes and the rule ask for.
        expected: Vec<usize>,
    },
    /// A shape that its data does not fill.
    #[error("'{array}' in {section} has {found} numbers; its shape {shape:?} needs {needed}")]
    Length {
        /// As `outputs`.
        section: &'static str,
        /// The array's name.
        array: String,
        /// Numbers in the file.
        found: usize,
        /// Its shape.
        shape: Vec<usize>,
        /// Numbers that the shape has.
        needed: usize,
    },
    /// A number beyond single precision.
    #[error("'{array}' in {section} holds {value} at {index}; every number must be finite in single precision")]
    NotFinite {
        /// As `inputs`.
        section: &'static str,
        /// The array's name.
        array: String,
        /// Where in the data.
        index: usize,
        /// The number as text.
        value: String,
    },
    /// The blob that was built in is damaged.
    #[error("the built-in files cannot be read: {0}")]
    Subset(String),
}

impl GoldenError {
    /// A parser's error: its words cut short, its place whole.
    pub(crate) fn json(error: &serde_json::Error) -> GoldenError {
        let (all, place) = (error.to_string(), format!(" at line {} column {}", error.line(), error.column()));
        GoldenError::Json(match all.strip_suffix(&place) {
            Some(words) => clipped(words, WORDS) + &place,
            None => clipped(&all, WORDS),
        })
    }
}

/// Names in a row, for messages.
pub(crate) fn list<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
