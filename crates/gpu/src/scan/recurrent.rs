//! The recurrent form: token by token, S in registers.

use super::declare::{Kernel, gradient, kept};
use super::{VEC4, WORKGROUP_BYTES};
use crate::kernel::{Access, Recorder, Region, ScratchId};
use palimpsest_plan::Scan;

const FORWARD: &str = include_str!("../../../../shaders/kernels/scan_recurrent.wgsl");
const REVERSE: &str = include_str!("../../../../shaders/kernels/scan_recurrent_reverse.wgsl");
const BACKWARD: &str = include_str!("../../../../shaders/kernels/scan_recurrent_backward.wgsl");

/// Columns of V of a forward workgroup: a subgroup's width on most GPUs.
const COLUMNS: usize = 32;
/// Fewest vec4s of a column that a forward thread holds, and most threads of a workgroup: a column is split over threads within
/// both (83 us at B 64, T 256, H 2, K = V = 32 on an H200; 104 with twice the keys, 95 with half).
const KEYS4: usize = 2;
const THREADS: usize = 128;
/// Most tokens staged at once.
const TILE: usize = 16;
/// Tokens between checkpoints: checkpoints take K V / EVERY floats a token, the steps about 5 K.
const EVERY: usize = 16;
/// Bytes of the tape that all backward workgroups share, so that it stays in the cache of a large GPU.
const TAPE_BYTES: usize = 32 << 20;
/// Fewest workgroups of a backward pass, whatever tape they need.
const FEWEST_GROUPS: usize = 128;
/// Floats of the state that a backward thread holds at most, twice.
const BLOCK: usize = 64;

/// How the columns of S are shared out in the kernels that go token by token.
struct Columns {
    /// Columns of V of a workgroup.
    count: usize,
    /// Threads that share a column.
    split: usize,
    /// Workgroups that share the columns of a head.
    slices: usize,
    /// Tokens staged at once.
    tile: usize,
    /// Floats of a turn in which threads of a column exchange `floats` each: two turns, only where a column is split.
    exchange: usize,
}

impl Columns {
    /// For a kernel that stages the steps and `staged` floats a column and token, and exchanges values of so many `floats`.
    fn new(op: &Scan, staged: usize, floats: usize) -> Columns {
        let count = COLUMNS.min(op.shape.value);
        let split = split(op.shape.key / 4, count);
        let exchange = if split > 1 { 2 * count * split } else { 1 };
        let room = WORKGROUP_BYTES - 4 * exchange * floats;
        let tile = (room / (4 * (op.layout.stride + staged * count))).clamp(1, TILE);
        Columns { count, split, slices: op.shape.value.div_ceil(count), tile, exchange }
    }

    fn threads(&self) -> usize {
        self.count * self.split
    }

    fn kernel(&self, label: &'static str, op: &Scan) -> Kernel {
        let every = every(op);
        Kernel::new(label, op)
            .size("WG", self.threads())
            .size("COLS", self.count)
            .size("SPLIT", self.split)
            .size("KEYS4", op.shape.key / 4 / self.split)
            .size("SLICES", self.slices)
            .size("TILE", self.tile)
            .size("AHEAD", (self.tile * op.layout.stride / 4).div_ceil(self.threads()))
            .size("PARTS", self.exchange)
            .size("EVERY", every)
            .size("CHECKPOINTS", op.shape.time.div_ceil(every))
    }

    fn groups(&self, op: &Scan) -> usize {
        op.shape.batch * op.shape.heads * self.slices
    }
}

/// Records `o`, the last state, and checkpoints `[B, H, ceil(T / EVERY), K, V]` when a backward pass follows.
pub(super) fn forward(op: &Scan, r: &mut impl Recorder) {
    let columns = Columns::new(op, 0, 2);
    let saves = !r.plan().backward.is_empty();
    let checkpoints = saves.then(|| kept(op, "scan.checkpoints", states(op), r));
    columns
        .kernel("scan.recurrent", op)
        .flag("SAVES", saves)
        .bind("o", "f32", Region::Tensor(op.o), Access::ReadWrite)
        .read_or_zero("initial_at", "f32", op.initial.map(Region::Tensor))
        .write_or_drop("last_put", "f32", op.last.map(Region::Tensor), false)
        .write_or_drop("save", "f32", checkpoints, false)
        .dispatch(&[FORWARD], columns.groups(op), r);
}

/// Records the gradients of the steps and of the initial state: first the state's gradient token by token, then all others, EVERY
/// tokens beside each other. Slices of V follow each other and add up: sums over V stay in order.
pub(super) fn backward(op: &Scan, adds: &[bool], r: &mut impl Recorder) {
    let shape = op.shape;
    let every = every(op);
    let checkpoints = kept(op, "scan.checkpoints", states(op), r);
    let d_states = Region::Scratch(r.scratch("scan.d_states", states(op)));
    let last_gradient = gradient(r.plan(), op.last);
    let initial_gradient = gradient(r.plan(), op.initial);
    let adds_initial = adds.get(1).copied().unwrap_or(false);
    let columns = Columns::new(op, 1, 1);
    columns
        .kernel("scan.recurrent.reverse", op)
        .size("AHEAD_READS", (columns.tile * columns.count).div_ceil(columns.threads()))
        .bind("d_o", "f32", Region::Gradient(op.o), Access::Read)
        .bind("d_states", "f32", d_states, Access::ReadWrite)
        .read_or_zero("last_gradient_at", "f32", last_gradient)
        .write_or_drop("initial_gradient_put", "f32", initial_gradient, adds_initial)
        .dispatch(&[REVERSE], columns.groups(op), r);
    let items = shape.batch * shape.heads * shape.time.div_ceil(every);
    for slice in slices(shape.key, shape.value) {
        let tape = every * op.layout.steps.len() * slice.tape() * slice.threads(shape.key);
        let groups = (TAPE_BYTES / (4 * tape)).max(FEWEST_GROUPS).min(items);
        let tape: ScratchId = r.scratch("scan.tape", groups * tape);
        Kernel::new("scan.recurrent.backward", op)
            .size("WG", slice.threads(shape.key))
            .size("GROUPS", groups)
            .size("KX", shape.key / slice.keys)
            .size("VX", slice.columns / slice.values)
            .size("KEYS", slice.keys)
            .size("KEYS4", slice.keys / 4)
            .size("BLOCK4", slice.keys * slice.values / 4)
            .size("VALUES4", slice.values / 4)
            .size("FIRST4", slice.first / 4)
            .size("COLS4", slice.columns / 4)
            .size("EVERY", every)
            .size("CHECKPOINTS", shape.time.div_ceil(every))
            .flag("ADDS", adds[0])
            .flag("ROWS_ADD", adds[0] || slice.first > 0)
            .read("checkpoints", checkpoints)
            .read("d_states", d_states)
            .write("tape", Region::Scratch(tape))
            .read("d_o", Region::Gradient(op.o))
            .write("d_steps", Region::Gradient(op.steps))
            .dispatch(&[BACKWARD], groups, r);
    }
}

/// Threads that share a column of `keys4` vec4s.
fn split(keys4: usize, columns: usize) -> usize {
    let fits = |&split: &usize| keys4.is_multiple_of(split) && (keys4 / split >= KEYS4 || split == 1) && columns * split <= THREADS;
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

/// Tokens between checkpoints.
fn every(op: &Scan) -> usize {
    EVERY.min(op.shape.time)
}

/// Floats of the states between every so many tokens `[B, H, ceil(T / EVERY), K, V]`.
fn states(op: &Scan) -> usize {
    let shape = op.shape;
    shape.batch * shape.heads * shape.time.div_ceil(every(op)) * shape.key * shape.value
}

/// Columns of V that one backward dispatch takes, and the block of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    first: usize,
    columns: usize,
    /// Keys of a thread's block.
    keys: usize,
    /// Columns of a thread's block.
    values: usize,
}

impl Slice {
    fn threads(self, key: usize) -> usize {
        (key / self.keys) * (self.columns / self.values)
    }

    /// Floats on a thread's tape per step: its block of S' and its part of r.
    fn tape(self) -> usize {
        (self.keys + 1) * self.values
    }

    /// Workgroup memory: column sums of two turns, and four row sums.
    fn bytes(self, key: usize) -> usize {
        let columns = 2 * (key / self.keys) * (self.columns / 4);
        let rows = 4 * (self.columns / self.values) * (key / 4);
        (columns + rows) * VEC4
    }
}

/// The fewest slices of V that fit a workgroup, each with the smallest blocks that do.
fn slices(key: usize, value: usize) -> Vec<Slice> {
    let sizes = [4, 8, 16];
    let mut slices = Vec::new();
    let mut first = 0;
    while first < value {
        let widths = (4..=value - first).rev().step_by(4);
        let blocks = widths.flat_map(|columns| sizes.into_iter().flat_map(move |keys| sizes.map(|values| (columns, keys, values))));
        let candidates = blocks.map(|(columns, keys, values)| Slice { first, columns, keys, values }).filter(|slice| {
            let whole = key.is_multiple_of(slice.keys) && slice.columns.is_multiple_of(slice.values);
            whole && slice.keys * slice.values <= BLOCK && slice.threads(key) <= 256 && slice.bytes(key) <= WORKGROUP_BYTES
        });
        // Four columns and blocks of 4 x 4 always fit.
        let narrowest = Slice { first, columns: 4, keys: 4, values: 4 };
        let slice = candidates.max_by_key(|slice| (slice.columns, BLOCK - slice.keys * slice.values)).unwrap_or(narrowest);
        first += slice.columns;
        slices.push(slice);
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::{slices, split};
    use crate::scan::WORKGROUP_BYTES;

    #[test]
    fn slices_cover_every_width_and_fit() {
        for key in (4..=128).step_by(4) {
            for value in (4..=128).step_by(4) {
                let slices = slices(key, value);
                assert_eq!(slices.iter().map(|slice| slice.columns).sum::<usize>(), value, "K {key}, V {value}");
                for slice in slices {
                    assert!(slice.threads(key) <= 256 && slice.bytes(key) <= WORKGROUP_BYTES, "K {key}, V {value}: {slice:?}");
                }
            }
        }
    }

    #[test]
    fn a_column_is_split_evenly() {
        for keys4 in 1..=32 {
            assert_eq!(keys4 % split(keys4, 32), 0, "{keys4}");
        }
    }
}
