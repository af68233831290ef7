//! The memory of one head over one sequence, moment by moment.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What has just happened to the state within a token's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moment {
    /// `S' = Diag(exp g) S`
    Decay,
    /// `S' - k (S'^T a)^T`
    Erase,
    /// `S' + k (u - S'^T a)^T`
    Write,
}

impl Moment {
    /// All moments of a step, in order.
    pub const ALL: [Moment; 3] = [Moment::Decay, Moment::Erase, Moment::Write];
}

/// What to trace: the states of one scan, sequence and head over some tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceWindow {
    /// Which [`crate::Op::Scan`] of the plan, in the order of its forward operations, from 0.
    pub scan: usize,
    /// Sequence of the batch, below B.
    pub row: usize,
    /// Head, below H.
    pub head: usize,
    /// Tokens, below T.
    pub tokens: Range<usize>,
}

/// States of one layer, head and sequence over a window of tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// First token of the window.
    pub first: usize,
    /// Tokens in the window.
    pub tokens: usize,
    /// Rank-one steps per token.
    pub steps: usize,
    /// Rows of the state.
    pub key: usize,
    /// Columns of the state.
    pub value: usize,
    /// `[tokens, steps, 3, K, V]`: after decay, erase and write.
    pub states: Vec<f32>,
    /// `[tokens, V]`: `o = S^T q` after the token's last step.
    pub reads: Vec<f32>,
}

impl Trace {
    /// The state `[K, V]` after a moment of a step of the window's `token`-th token, or `None` outside the window.
    pub fn state(&self, token: usize, step: usize, moment: Moment) -> Option<&[f32]> {
        if token >= self.tokens || step >= self.steps {
            return None;
        }
        let size = self.key * self.value;
        let index = (token * self.steps + step) * Moment::ALL.len() + moment as usize;
        self.states.get(index * size..(index + 1) * size)
    }
}
