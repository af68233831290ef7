//! Errors of a rule text.

use crate::quote::clipped;
use crate::token::Span;

/// Most characters of what stands in a text that an error repeats.
const REPEATED: usize = 120;

/// What is wrong with a rule text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}.rule:{line}:{column}: found {found}, expected {expected}")]
pub struct RuleError {
    /// The rule's slug.
    pub rule: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What stands there.
    pub found: String,
    /// What would be valid.
    pub expected: String,
}

/// An error before its line is known.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) span: Span,
    pub(crate) found: String,
    pub(crate) expected: String,
}

impl Fault {
    pub(crate) fn new(span: Span, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault { span, found: found.into(), expected: expected.into() }
    }

    /// Finds the line and column in the text.
    pub(crate) fn locate(self, rule: &str, source: &str) -> RuleError {
        let before = source.get(..self.span.start).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        RuleError {
            rule: rule.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            found: clipped(&self.found, REPEATED),
            expected: self.expected,
        }
    }
}
