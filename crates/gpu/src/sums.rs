//! The second phase of sums over tokens, put off to the end of the backward pass: all weights' sums in one launch instead of one each.
//!
//! Kernels leave partial sums side by side in one buffer; each sum is a segment of a table. A launch costs as long as a small
//! sum itself, so that this saves a fifth of a small model's step.

use crate::kernel::{Access, Dispatch, Header, Limits, Output, Region, WORKGROUP, fold};
use crate::ops::text;
use palimpsest_plan::{PARAMETER_ALIGN, Plan, TensorId};
use std::collections::HashMap;

/// Floats of partial sums that may wait; more are summed in several launches.
const ROOM: usize = 1 << 24;
/// Words of a segment, as `sums.wgsl` reads them.
const SEGMENT_WORDS: usize = 11;
/// Terms of a sum that one invocation adds, about; the rest of the workgroup shares in longer sums.
const TERMS: usize = 16;
/// Most numbers of a workgroup: neighbours read neighbours.
const NUMBERS: usize = 32;

/// Sums that wait, and the tables of those that were recorded.
#[derive(Debug)]
pub(crate) struct Sums {
    /// How many operands each parameter is.
    uses: HashMap<TensorId, usize>,
    /// First float that is free.
    free: usize,
    floats: usize,
    waiting: Vec<u32>,
    groups: u32,
    segments: Vec<Vec<u32>>,
}

impl Sums {
    /// No sum yet.
    pub(crate) fn new(plan: &Plan) -> Sums {
        let mut uses = HashMap::new();
        let operands = plan.forward.iter().flat_map(|op| op.operands());
        operands.for_each(|operand| *uses.entry(operand.tensor()).or_default() += 1);
        Sums { uses, free: 0, floats: 0, waiting: Vec::new(), groups: 0, segments: Vec::new() }
    }

    /// Floats of the buffer of partial sums.
    pub(crate) fn floats(&self) -> usize {
        self.floats
    }

    /// Table of each launch.
    pub(crate) fn segments(&self) -> &[Vec<u32>] {
        &self.segments
    }

    /// Whether so many more floats must wait until those there are summed.
    pub(crate) fn is_full(&self, floats: usize) -> bool {
        self.free > 0 && self.free + floats > ROOM
    }

    /// First of so many free floats, or `None` when they never fit.
    pub(crate) fn place(&mut self, floats: usize) -> Option<usize> {
        let first = self.free;
        if first + floats > ROOM {
            return None;
        }
        self.free = (first + floats).next_multiple_of(PARAMETER_ALIGN);
        self.floats = self.floats.max(self.free);
        Some(first)
    }

    /// Takes up a sum; false when it cannot wait.
    pub(crate) fn later(&mut self, plan: &Plan, partial: Region, rows: usize, stride: usize, outputs: &[Output]) -> bool {
        let Region::Partial { first, .. } = partial else { return false };
        // A parameter of several operations gets its gradients in their order.
        let offset = |output: &Output| match output.region {
            Region::Gradient(id) if !output.add && self.uses.get(&id) == Some(&1) => plan.parameter_offset(id),
            _ => None,
        };
        let Some(offsets) = outputs.iter().map(offset).collect::<Option<Vec<usize>>>() else { return false };
        for (output, offset) in outputs.iter().zip(offsets) {
            let numbers = [offset, output.count, output.group, output.group_stride, output.first, output.width];
            self.waiting.extend([self.groups, first as u32, rows as u32, stride as u32]);
            self.waiting.extend(numbers.map(|number| number as u32));
            let per_group = numbers_of_a_group(rows * output.width);
            self.waiting.push(per_group as u32);
            self.groups += output.count.div_ceil(per_group) as u32;
        }
        true
    }

    /// The launch of all that waits, if anything does; its partial sums are free after it.
    pub(crate) fn flush(&mut self, limits: &Limits) -> Option<Dispatch> {
        self.free = 0;
        if self.waiting.is_empty() {
            return None;
        }
        let table = std::mem::take(&mut self.waiting);
        let groups = std::mem::take(&mut self.groups);
        let header = Header::new()
            .size("WORKGROUP", WORKGROUP)
            .size("WORDS", SEGMENT_WORDS)
            .size("SEGMENTS", table.len() / SEGMENT_WORDS)
            .size("GROUPS", groups);
        let segments = Region::Segments(self.segments.len());
        self.segments.push(table);
        Some(Dispatch {
            label: "sums",
            source: header.source(&[text::INDEX, include_str!("../../../shaders/kernels/sums.wgsl")]),
            bindings: vec![(segments, Access::Read), (Region::Partials, Access::Read), (Region::Gradients, Access::ReadWrite)],
            groups: fold(groups as usize, limits),
        })
    }
}

/// How many sums of so many terms a workgroup makes, a power of two.
fn numbers_of_a_group(terms: usize) -> usize {
    (WORKGROUP as usize / terms.div_ceil(TERMS).next_power_of_two()).clamp(1, NUMBERS)
}
