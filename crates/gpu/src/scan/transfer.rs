//! Long chunks: what the tokens of a chunk do to any first state is one matrix M and one addition N, `S_last = M S_first + N`.
//!
//! The recurrent kernel makes [M | N] of all chunks beside each other (K columns from the unit matrix, V columns from zero), one
//! kernel carries the state from chunk to chunk, and the recurrent kernel goes through all chunks again, each from its own first
//! state. That is three times the recurrence's work, and as many times as parallel as there are chunks. Backward likewise with M^T.

use super::columns::Chunks;
use super::declare::{Kernel, kept};
use crate::kernel::{Recorder, Region};
use palimpsest_plan::Scan;

const TRANSFER: &str = include_str!("../../../../shaders/kernels/scan_transfer.wgsl");

/// Columns of V, in vec4s, of a workgroup that carries the state on.
const COLUMNS4: usize = 4;
/// Most invocations of it.
const THREADS: usize = 256;

/// [M | N] of every chunk, `[B, H, chunks, K, K + V]`.
pub(super) fn transfers(op: &Scan, chunks: Chunks, r: &mut impl Recorder) -> Region {
    let shape = op.shape;
    kept(op, "scan.transfers", shape.batch * shape.heads * chunks.count * shape.key * (shape.key + shape.value), r)
}

/// N of every chunk in the reverse pass, `[B, H, chunks, K, V]`.
pub(super) fn additions(op: &Scan, chunks: Chunks, r: &mut impl Recorder) -> Region {
    Region::Scratch(r.scratch("scan.additions", borders(op, chunks)))
}

fn borders(op: &Scan, chunks: Chunks) -> usize {
    op.shape.batch * op.shape.heads * chunks.count * op.shape.key * op.shape.value
}

/// Records the way from chunk to chunk and returns what each starts from, `[B, H, chunks, K, V]`: its first state, or in `reverse`
/// the gradient of its last one. `first` is where the way starts; the additions are the transfers' own where none are given.
pub(super) fn carry(
    op: &Scan,
    chunks: Chunks,
    reverse: bool,
    first: Option<Region>,
    additions: Option<Region>,
    r: &mut impl Recorder,
) -> Region {
    let shape = op.shape;
    let columns4 = COLUMNS4.min(shape.value / 4);
    let slices = (shape.value / 4).div_ceil(columns4);
    let transfers = transfers(op, chunks, r);
    let starts = Region::Scratch(r.scratch("scan.borders", borders(op, chunks)));
    let kernel = Kernel::new(if reverse { "scan.carry.reverse" } else { "scan.carry" }, op)
        .size("WG", (shape.key * columns4).next_multiple_of(32).min(THREADS))
        .size("COLS4", columns4)
        .size("SLICES", slices)
        .size("CHUNKS", chunks.count)
        .flag("REVERSE", reverse)
        .read("transfers", transfers)
        .write("borders", starts)
        .read_or_zero("initial_at", "vec4<f32>", first);
    let (kernel, addition) = match additions {
        Some(region) => (kernel.read("additions", region), "additions[(chunk * K + k) * V4 + v4]"),
        None => (kernel, "transfers[(chunk * K + k) * (K4 + V4) + K4 + v4]"),
    };
    let addition = format!("fn addition_at(chunk: u32, k: u32, v4: u32) -> vec4<f32> {{ return {addition}; }}\n");
    kernel.dispatch(&[&addition, TRANSFER], shape.batch * shape.heads * slices, r);
    starts
}
