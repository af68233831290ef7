//! How the kernels that go token by token share the columns of a state out: columns need nothing of each other.

use super::WORKGROUP_BYTES;
use super::declare::Kernel;
use palimpsest_plan::Scan;

/// Columns of a workgroup: a subgroup's width on most GPUs.
const COLUMNS: usize = 32;
/// Fewest vec4s of a column that a thread holds, and most threads of a workgroup: a column is split over threads within both
/// (83 us at B 64, T 256, H 2, K = V = 32 on an H200; 104 with twice the keys, 95 with half).
const KEYS4: usize = 2;
const THREADS: usize = 128;
/// Most tokens staged at once.
const TILE: usize = 16;
/// The same where chunks are many: what counts is how many workgroups fit beside each other, and exchanges cost more than they
/// save (0.39 ms at B 8, T 2048, H 4, K = V = 64, C 128 on an H200; 0.54 with the sizes above).
const KEYS4_OF_MANY: usize = 8;
const TILE_OF_MANY: usize = 4;
/// Tokens between checkpoints: checkpoints take K V / EVERY floats a token, the steps about 5 K. Fewer tokens need a shorter tape,
/// so that more workgroups go backward at once (0.30 ms forward and backward at B 64, T 256, H 2, K = V = 32 on an H200; 0.31 with 16).
pub(super) const EVERY: usize = 8;

/// A sequence in chunks that need nothing of each other once it is known what each starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunks {
    /// Tokens of a chunk; a multiple of [`EVERY`] when there are several.
    pub(super) length: usize,
    /// Chunks of a sequence.
    pub(super) count: usize,
}

impl Chunks {
    /// The whole sequence as one.
    pub(super) fn whole(op: &Scan) -> Chunks {
        Chunks { length: op.shape.time, count: 1 }
    }

    /// Chunks of about so many tokens.
    pub(super) fn of(op: &Scan, tokens: usize) -> Chunks {
        let length = tokens.next_multiple_of(EVERY);
        if length >= op.shape.time { Chunks::whole(op) } else { Chunks { length, count: op.shape.time.div_ceil(length) } }
    }
}

/// How the columns of S are shared out.
pub(super) struct Columns {
    chunks: Chunks,
    /// Columns of a workgroup.
    pub(super) count: usize,
    /// Threads that share a column.
    split: usize,
    /// Workgroups that share the columns of a chunk.
    slices: usize,
    /// Tokens staged at once.
    pub(super) tile: usize,
    /// Places for what threads of a column exchange, in two turns; only where a column is split.
    exchange: usize,
}

impl Columns {
    /// Of a state of `width` columns, for a kernel that stages the steps and `staged` floats a column and token, and whose threads
    /// exchange `floats` each.
    pub(super) fn new(op: &Scan, chunks: Chunks, width: usize, staged: usize, floats: usize) -> Columns {
        let count = COLUMNS.min(width);
        let (least_keys4, most_tokens) = if chunks.count > 1 { (KEYS4_OF_MANY, TILE_OF_MANY) } else { (KEYS4, TILE) };
        let split = split(op.shape.key / 4, count, least_keys4);
        let exchange = if split > 1 { 2 * count * split } else { 1 };
        let room = WORKGROUP_BYTES - 4 * exchange * floats;
        let tile = (room / (4 * (op.layout.stride + staged * count))).clamp(1, most_tokens);
        Columns { chunks, count, split, slices: width.div_ceil(count), tile, exchange }
    }

    /// Threads of a workgroup.
    pub(super) fn threads(&self) -> usize {
        self.count * self.split
    }

    /// A kernel over these columns.
    pub(super) fn kernel(&self, label: &'static str, op: &Scan) -> Kernel {
        Kernel::new(label, op)
            .size("WG", self.threads())
            .size("COLS", self.count)
            .size("SPLIT", self.split)
            .size("KEYS4", op.shape.key / 4 / self.split)
            .size("SLICES", self.slices)
            .size("TILE", self.tile)
            .size("AHEAD", (self.tile * op.layout.stride / 4).div_ceil(self.threads()))
            .size("PARTS", self.exchange)
            .size("LENGTH", self.chunks.length)
            .size("CHUNKS", self.chunks.count)
            .size("EVERY", every(op))
            .size("CHECKPOINTS", op.shape.time.div_ceil(every(op)))
    }

    /// Workgroups of the kernel.
    pub(super) fn groups(&self, op: &Scan) -> usize {
        op.shape.batch * op.shape.heads * self.chunks.count * self.slices
    }
}

/// Tokens between checkpoints.
pub(super) fn every(op: &Scan) -> usize {
    EVERY.min(op.shape.time)
}

/// Threads that share a column of `keys4` vec4s, each with `least` of them or more.
fn split(keys4: usize, columns: usize, least: usize) -> usize {
    let fits = |&split: &usize| keys4.is_multiple_of(split) && (keys4 / split >= least || split == 1) && columns * split <= THREADS;
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::{KEYS4, KEYS4_OF_MANY, split};

    #[test]
    fn a_column_is_split_evenly() {
        for keys4 in 1..=32 {
            for least in [KEYS4, KEYS4_OF_MANY] {
                assert_eq!(keys4 % split(keys4, 32, least), 0, "{keys4}");
            }
        }
    }
}
