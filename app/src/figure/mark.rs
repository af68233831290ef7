//! How a curve looks: its colour and its dash.

use serde::{Deserialize, Serialize};

/// Colours that the style sheet has for curves.
pub(crate) const COLOURS: usize = 7;
/// Dashes that it has.
const DASHES: usize = 4;

/// Colour and dash of a curve, by index; beyond what the style sheet has they come round again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Tells the rule.
    pub(crate) colour: usize,
    /// Tells curves of one rule apart.
    pub(crate) dash: usize,
}

impl Mark {
    /// Classes of the style sheet.
    pub(crate) fn class(self) -> String {
        format!("curve run-{} dash-{}", self.colour % COLOURS, self.dash % DASHES)
    }
}
