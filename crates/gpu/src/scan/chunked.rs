//! The chunked form: what each chunk needs, in parallel; the state from chunk to chunk; outputs in parallel. Backward likewise.

use super::declare::{Kernel, decays, erases, gradient, kept};
use super::{VEC4, WORKGROUP_BYTES};
use crate::kernel::{Recorder, Region};
use palimpsest_plan::Scan;

const ROWS: &str = include_str!("../../../../shaders/kernels/scan_chunk_rows.wgsl");
const FACTORS: &str = include_str!("../../../../shaders/kernels/scan_chunk_factors.wgsl");
const STATES: &str = include_str!("../../../../shaders/kernels/scan_chunk_states.wgsl");
const OUTPUTS: &str = include_str!("../../../../shaders/kernels/scan_chunk_outputs.wgsl");
const REVERSE: &str = include_str!("../../../../shaders/kernels/scan_chunk_reverse.wgsl");
const GRADIENTS: &str = include_str!("../../../../shaders/kernels/scan_chunk_gradients.wgsl");

/// Columns of V, in vec4s, that one sequential workgroup takes.
const COLUMNS4: usize = 4;
/// Columns of V, in vec4s, of a pass of the gradient kernel, padded against bank conflicts.
const PASS_STRIDE: usize = 5;
/// Threads of a kernel without workgroup memory.
const FLAT: usize = 64;

/// Sizes of the chunks of a scan. EDITS = tokens * steps per token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunks {
    tokens: usize,
    edits: usize,
    /// Chunks of a sequence.
    count: usize,
    /// Vec4s of K that the factor kernel stages at a time, and of its tile.
    tile4: usize,
    factor_tile: usize,
    gradient_tile: usize,
    /// Columns of V, in vec4s, of a sequential workgroup.
    columns4: usize,
}

impl Chunks {
    /// Chunks of at most `wanted` tokens; fewer where workgroup memory asks for it. Always a multiple of 4.
    fn new(op: &Scan, wanted: usize) -> Chunks {
        let longest = wanted.min(op.shape.time.next_multiple_of(4)).max(4) / 4 * 4;
        let fitting = (4..=longest).rev().step_by(4).find_map(|tokens| Chunks::fitting(op, tokens));
        // Four tokens fit every shape up to K = 128 and four steps per token.
        fitting.unwrap_or_else(|| Chunks::sized(op, 4, 1))
    }

    fn sized(op: &Scan, tokens: usize, tile4: usize) -> Chunks {
        let (key4, edits) = (op.shape.key / 4, tokens * op.layout.steps.len());
        let edits4 = edits / 4;
        let mut columns4 = COLUMNS4.min(op.shape.value / 4);
        while columns4 > 1 && (op.shape.key + edits) * columns4 * VEC4 > WORKGROUP_BYTES {
            columns4 -= 1;
        }
        Chunks {
            tokens,
            edits,
            count: op.shape.time.div_ceil(tokens),
            tile4,
            factor_tile: ((3 * edits + tokens) * (tile4 + 1)).max(edits * edits4),
            gradient_tile: ((2 * edits + tokens) * PASS_STRIDE).max(edits * key4),
            columns4,
        }
    }

    fn fitting(op: &Scan, tokens: usize) -> Option<Chunks> {
        let tiles = [8, 4, 2, 1].into_iter().filter(|tile4| *tile4 == 1 || *tile4 <= op.shape.key / 4);
        tiles.map(|tile4| Chunks::sized(op, tokens, tile4)).find(|chunks| {
            let pairs = chunks.pairs4();
            let gradient = pairs + chunks.gradient_tile + op.shape.key / 4;
            (pairs + chunks.factor_tile).max(gradient) * VEC4 <= WORKGROUP_BYTES
        })
    }

    /// Vec4s of A and P.
    fn pairs4(self) -> usize {
        (self.edits + self.tokens) * (self.edits / 4)
    }

    /// Floats of what the factor kernel keeps of a chunk; the kernels' `FACTORS4` is the same sum.
    fn factors(self, op: &Scan) -> usize {
        let (key, value) = (op.shape.key, op.shape.value);
        (3 * self.edits + self.tokens + 1) * key + (self.edits + self.tokens) * self.edits + self.edits * value
    }

    fn kernel(self, label: &'static str, op: &Scan) -> Kernel {
        Kernel::new(label, op)
            .size("CHUNK", self.tokens)
            .size("CHUNKS", self.count)
            .size("EDITS", self.edits)
            .size("EDITS4", self.edits / 4)
            .flag("DECAYS", decays(op))
            .flag("ERASES", erases(op))
    }

    /// A kernel that goes from chunk to chunk, a few columns of V per workgroup.
    fn sequential(self, label: &'static str, op: &Scan) -> Kernel {
        self.kernel(label, op)
            .size("WG", (op.shape.key * self.columns4).next_multiple_of(32).min(256))
            .size("COLS4", self.columns4)
            .size("SLICES", self.slices(op))
    }

    fn slices(self, op: &Scan) -> usize {
        (op.shape.value / 4).div_ceil(self.columns4)
    }
}

/// What the forward pass leaves to the backward pass.
struct Saved {
    factors: Region,
    /// First state of every chunk and the last state `[B, H, count + 1, K, V]`.
    states: Region,
    /// R `[B, H, count, EDITS, V]`.
    edits: Region,
}

impl Saved {
    fn new(op: &Scan, chunks: Chunks, r: &mut impl Recorder) -> Saved {
        let shape = op.shape;
        let heads = shape.batch * shape.heads;
        Saved {
            factors: kept(op, "scan.factors", heads * chunks.count * chunks.factors(op), r),
            states: kept(op, "scan.states", heads * (chunks.count + 1) * shape.key * shape.value, r),
            edits: kept(op, "scan.edits", heads * chunks.count * chunks.edits * shape.value, r),
        }
    }
}

/// Threads for so many items: a half workgroup when that is enough.
fn threads(items: usize) -> usize {
    if items <= 128 { 128 } else { 256 }
}

/// Records `o` and the last state, in chunks of at most `tokens` tokens.
pub(super) fn forward(op: &Scan, tokens: usize, r: &mut impl Recorder) {
    let shape = op.shape;
    let heads = shape.batch * shape.heads;
    let chunks = Chunks::new(op, tokens);
    let saved = Saved::new(op, chunks, r);
    chunks
        .kernel("scan.chunk.factors", op)
        .size("WG", threads(chunks.pairs4()))
        .size("TILE4", chunks.tile4)
        .size("TILE_LEN", chunks.factor_tile)
        .write("factors", saved.factors)
        .dispatch(&[ROWS, FACTORS], heads * chunks.count, r);
    chunks
        .sequential("scan.chunk.states", op)
        .read("factors", saved.factors)
        .write("states", saved.states)
        .write("chunk_edits", saved.edits)
        .read_or_zero("initial_at", "vec4<f32>", op.initial.map(Region::Tensor))
        .write_or_drop("last_put", "vec4<f32>", op.last.map(Region::Tensor), false)
        .dispatch(&[ROWS, STATES], heads * chunks.slices(op), r);
    let items = heads * chunks.count * (chunks.tokens / 4) * (shape.value / 4);
    chunks
        .kernel("scan.chunk.outputs", op)
        .size("WG", FLAT)
        .read("factors", saved.factors)
        .read("states", saved.states)
        .read("chunk_edits", saved.edits)
        .write("o", Region::Tensor(op.o))
        .dispatch(&[ROWS, OUTPUTS], items.div_ceil(FLAT), r);
}

/// Records the gradients of the steps and of the initial state.
pub(super) fn backward(op: &Scan, tokens: usize, adds: &[bool], r: &mut impl Recorder) {
    let shape = op.shape;
    let heads = shape.batch * shape.heads;
    let chunks = Chunks::new(op, tokens);
    let saved = Saved::new(op, chunks, r);
    let last_gradient = gradient(r.plan(), op.last);
    let initial_gradient = gradient(r.plan(), op.initial);
    let d_states = Region::Scratch(r.scratch("scan.d_states", heads * chunks.count * shape.key * shape.value));
    let d_edits = Region::Scratch(r.scratch("scan.d_edits", heads * chunks.count * chunks.edits * shape.value));
    chunks
        .sequential("scan.chunk.reverse", op)
        .read("factors", saved.factors)
        .read("d_o", Region::Gradient(op.o))
        .write("d_states", d_states)
        .write("d_edits", d_edits)
        .read_or_zero("last_gradient_at", "vec4<f32>", last_gradient)
        .write_or_drop("initial_gradient_put", "vec4<f32>", initial_gradient, adds.get(1).copied().unwrap_or(false))
        .dispatch(&[ROWS, REVERSE], heads * chunks.slices(op), r);
    let items = chunks.edits * shape.key / 4;
    chunks
        .kernel("scan.chunk.gradients", op)
        .size("WG", threads(items))
        .size("OWN", items.div_ceil(threads(items)))
        .size("TILE_LEN", chunks.gradient_tile)
        .flag("ADDS", adds[0])
        .read("factors", saved.factors)
        .read("states", saved.states)
        .read("chunk_edits", saved.edits)
        .read("d_o", Region::Gradient(op.o))
        .read("d_states", d_states)
        .read("d_edits", d_edits)
        .write("d_steps", Region::Gradient(op.steps))
        .dispatch(&[ROWS, GRADIENTS], heads * chunks.count, r);
}
