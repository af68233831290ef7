//! One sequence with what is asked of it.

use serde::{Deserialize, Serialize};

/// What a token is for. Haystack and padding are filler; special symbols that structure a sequence are markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A key being written.
    Key,
    /// A value, right after its key.
    Value,
    /// A key being asked for.
    Query,
    /// A token that carries nothing.
    Filler,
    /// A special symbol.
    Marker,
}

/// A position at which the model must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Token index in the sequence, from 0. The answer is read from the model's output here.
    pub position: u32,
    /// Token id of the right answer.
    pub target: u32,
    /// Tokens since the answer was last written: `position` minus the position of its value token.
    pub lag: u32,
    /// How often the asked key was written before, 1 or more. All but the last write are stale.
    pub writes: u32,
}

/// A sequence, the role of each token, and its labels by position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// `[T]` token ids.
    pub tokens: Vec<u32>,
    /// `[T]` roles.
    pub roles: Vec<Role>,
    /// `[L]`, positions increasing. L is the same for every example of the same settings.
    pub labels: Vec<Label>,
}

impl Example {
    /// `length` tokens of filler with id `token`, no labels.
    pub(crate) fn filled(length: usize, token: u32) -> Example {
        Example { tokens: vec![token; length], roles: vec![Role::Filler; length], labels: Vec::new() }
    }

    /// Writes one token with its role.
    pub(crate) fn put(&mut self, position: usize, token: u32, role: Role) {
        self.tokens[position] = token;
        self.roles[position] = role;
    }
}
