//! The trace: one head's state, moment by moment, over a window of tokens.

use super::declare::Kernel;
use crate::kernel::{Access, Recorder, Region, ScratchId};
use palimpsest_plan::{Moment, Scan};

const TRACE: &str = include_str!("../../../../shaders/kernels/scan_trace.wgsl");

/// Buffers of windows of up to 1, 4, 16 .. tokens, the last of any: a name per size, since a buffer keeps the size first asked for.
const STATES: [&str; 8] = ["states 1", "states 4", "states 16", "states 64", "states 256", "states 1024", "states 4096", "states"];
const READS: [&str; 8] = ["reads 1", "reads 4", "reads 16", "reads 64", "reads 256", "reads 1024", "reads 4096", "reads"];

/// Records the trace of `tokens` tokens of the sequence, head and first token in [`Region::Arguments`].
/// Returns states `[tokens, steps, 3, K, V]` and reads `[tokens, V]`.
pub(crate) fn trace(op: &Scan, tokens: usize, r: &mut impl Recorder) -> (ScratchId, ScratchId) {
    let shape = op.shape;
    let last = STATES.len() - 1;
    let class = (0..last).find(|class| tokens <= 1 << (2 * class)).unwrap_or(last);
    let room = if class == last { shape.time } else { (1 << (2 * class)).min(shape.time) };
    let per_token = op.layout.steps.len() * Moment::ALL.len() * shape.key * shape.value;
    let states = r.saved(op.o, STATES[class], room * per_token);
    let reads = r.saved(op.o, READS[class], room * shape.value);
    Kernel::new("scan.trace", op)
        .size("TOKENS", tokens)
        .bind("arguments", "u32", Region::Arguments, Access::Read)
        .read_or_zero("initial_at", "f32", op.initial.map(Region::Tensor))
        .bind("states", "f32", Region::Scratch(states), Access::ReadWrite)
        .bind("reads", "f32", Region::Scratch(reads), Access::ReadWrite)
        .dispatch(&[TRACE], 1, r);
    (states, reads)
}
