//! Examples packed for the model.

use crate::Example;
use std::borrow::Borrow;

/// B examples of T tokens and L labels each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// `[B * T]` token ids.
    pub tokens: Vec<u32>,
    /// `[B * L]` row `b * T + position` of each label.
    pub rows: Vec<u32>,
    /// `[B * L]` token id of each right answer.
    pub targets: Vec<u32>,
}

impl Batch {
    /// Packs examples of equal length, owned or borrowed.
    pub fn pack<E: Borrow<Example>>(examples: impl IntoIterator<Item = E>) -> Batch {
        let mut batch = Batch::default();
        for example in examples {
            let example = example.borrow();
            let start = batch.tokens.len() as u32;
            batch.tokens.extend_from_slice(&example.tokens);
            batch.rows.extend(example.labels.iter().map(|label| start + label.position));
            batch.targets.extend(example.labels.iter().map(|label| label.target));
        }
        batch
    }
}
