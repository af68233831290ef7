//! Where things lie in the packed rows that a rule reads and writes.

use crate::graph::{Kind, Scope};
use crate::rule::{Input, Rule, StepParts};

/// Slots start at multiples of this many floats, so that kernels may load four at a time.
const ALIGN: usize = 4;

/// A (token, head) row of rule inputs, and a row of gradients of head-scope inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputLayout {
    /// Floats per (token, head) row.
    pub stride: usize,
    /// Floats per row of head-scope gradients; 0 without head-scope inputs.
    pub head_stride: usize,
    slots: Vec<usize>,
}

impl InputLayout {
    pub(crate) fn new(inputs: &[Input], key: usize, value: usize) -> InputLayout {
        let mut layout = InputLayout { stride: 0, head_stride: 0, slots: Vec::new() };
        for input in inputs {
            let row = match input.scope {
                Scope::Token => &mut layout.stride,
                Scope::Head => &mut layout.head_stride,
            };
            layout.slots.push(*row);
            *row += input.kind.width(key, value).next_multiple_of(ALIGN);
        }
        layout
    }

    /// First float of an input: in the token row, or for head-scope inputs in the row of head gradients.
    pub fn slot(&self, input: usize) -> usize {
        self.slots[input]
    }
}

/// One step in a row of packed steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSlots {
    /// Log-decay: first float, and whether it is one per head (`Scalar`) or per channel (`Key`).
    pub decay: Option<(usize, Kind)>,
    /// The address of the edit, K floats.
    pub key: usize,
    /// The erase vector, K floats.
    pub erase: Option<usize>,
    /// The value to write, V floats.
    pub write: Option<usize>,
}

/// A (token, head) row of packed steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLayout {
    /// Floats per row.
    pub stride: usize,
    /// The query, K floats.
    pub query: usize,
    /// The steps in order.
    pub steps: Vec<StepSlots>,
}

impl StepLayout {
    /// Packs steps with these parts, for K and V.
    pub fn new(steps: &[StepParts], key: usize, value: usize) -> StepLayout {
        let mut stride = 0;
        let mut slot = |width: usize| {
            let first = stride;
            stride += width.next_multiple_of(ALIGN);
            first
        };
        let query = slot(key);
        let slots = steps.iter().map(|parts| StepSlots {
            decay: parts.decay.map(|kind| (slot(kind.width(key, value)), kind)),
            key: slot(key),
            erase: parts.erase.then(|| slot(key)),
            write: parts.write.then(|| slot(value)),
        });
        let steps = slots.collect();
        StepLayout { stride, query, steps }
    }
}

impl Rule {
    /// Where the inputs of one token and head lie, for K = `key` and V = `value`.
    pub fn input_layout(&self, key: usize, value: usize) -> InputLayout {
        InputLayout::new(self.inputs(), key, value)
    }

    /// Where the packed steps of one token and head lie, for K = `key` and V = `value`.
    pub fn step_layout(&self, key: usize, value: usize) -> StepLayout {
        StepLayout::new(self.steps(), key, value)
    }
}
