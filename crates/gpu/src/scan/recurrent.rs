//! The recurrent form: token by token, S in registers. Also the chunked form with long chunks, see [`super::transfer`].

use super::blocks::slices;
use super::columns::{Chunks, Columns, every};
use super::declare::{Kernel, gradient, kept};
use super::transfer::{additions, carry, transfers};
use crate::kernel::{Access, Recorder, Region, ScratchId};
use palimpsest_plan::Scan;

const FORWARD: &str = include_str!("../../../../shaders/kernels/scan_recurrent.wgsl");
const REVERSE: &str = include_str!("../../../../shaders/kernels/scan_recurrent_reverse.wgsl");
const BACKWARD: &str = include_str!("../../../../shaders/kernels/scan_recurrent_backward.wgsl");

/// Bytes of the tape that all backward workgroups share: it bounds how many there are at once (two steps a token at B 64,
/// T 256, H 2, K = V = 32 take 0.49 ms on an H200; 0.61 with half the tape, 0.48 with twice).
const TAPE_BYTES: usize = 64 << 20;
/// Fewest workgroups of a backward pass, whatever tape they need.
const FEWEST_GROUPS: usize = 128;

/// Records `o`, the last state, and checkpoints `[B, H, ceil(T / EVERY), K, V]` when a backward pass follows.
pub(super) fn forward(op: &Scan, chunks: Chunks, r: &mut impl Recorder) {
    let mut first = op.initial.map(Region::Tensor);
    if chunks.count > 1 {
        let width = op.shape.key + op.shape.value;
        let transfers = transfers(op, chunks, r);
        pass(
            "scan.transfer",
            op,
            Columns::new(op, chunks, width, 0, 2),
            Pass { transfers: true, first: None, last: Some(transfers), saves: None },
            r,
        );
        first = Some(carry(op, chunks, false, first, None, r));
    }
    let saves = !r.plan().backward.is_empty();
    let saves = saves.then(|| kept(op, "scan.checkpoints", states(op), r));
    let last = op.last.map(Region::Tensor);
    pass("scan.recurrent", op, Columns::new(op, chunks, op.shape.value, 0, 2), Pass { transfers: false, first, last, saves }, r);
}

/// What a pass over the tokens starts from and leaves.
struct Pass {
    /// Whether it makes the chunks' transfers instead of `o`.
    transfers: bool,
    first: Option<Region>,
    last: Option<Region>,
    saves: Option<Region>,
}

fn pass(label: &'static str, op: &Scan, columns: Columns, pass: Pass, r: &mut impl Recorder) {
    let before = if pass.transfers { op.shape.key } else { 0 };
    let o = (!pass.transfers).then_some(Region::Tensor(op.o));
    columns
        .kernel(label, op)
        .flag("TRANSFERS", pass.transfers)
        .size("BEFORE", before)
        .size("WIDTH", before + op.shape.value)
        .flag("READS", o.is_some())
        .flag("SAVES", pass.saves.is_some())
        .write_or_drop("put_read", "f32", o, false)
        .read_or_zero("initial_at", "f32", pass.first)
        .write_or_drop("last_put", "f32", pass.last, false)
        .write_or_drop("save", "f32", pass.saves, false)
        .dispatch(&[FORWARD], columns.groups(op), r);
}

/// Records the gradients of the steps and of the initial state: first the state's gradient token by token, then all others, EVERY
/// tokens beside each other. Slices of V follow each other and add up: sums over V stay in order.
pub(super) fn backward(op: &Scan, chunks: Chunks, adds: &[bool], r: &mut impl Recorder) {
    let shape = op.shape;
    let every = every(op);
    let checkpoints = kept(op, "scan.checkpoints", states(op), r);
    let d_states = Region::Scratch(r.scratch("scan.d_states", states(op)));
    let mut last = gradient(r.plan(), op.last);
    let initial_gradient = gradient(r.plan(), op.initial);
    let adds_initial = adds.get(1).copied().unwrap_or(false);
    if chunks.count > 1 {
        let additions = additions(op, chunks, r);
        reverse("scan.reverse.transfer", op, chunks, None, None, Some((additions, false)), r);
        last = Some(carry(op, chunks, true, last, Some(additions), r));
    }
    reverse("scan.reverse", op, chunks, last, Some(d_states), initial_gradient.map(|region| (region, adds_initial)), r);

    let items = shape.batch * shape.heads * shape.time.div_ceil(every);
    for slice in slices(shape.key, shape.value) {
        let tape = every * op.layout.steps.len() * slice.tape() * slice.threads(shape.key);
        let groups = (TAPE_BYTES / (4 * tape)).max(FEWEST_GROUPS).min(items);
        let tape: ScratchId = r.scratch("scan.tape", groups * tape);
        Kernel::new("scan.gradients", op)
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

/// The state's gradient token by token: from `last` at the end of every chunk, kept at the checkpoints in `keeps`; what the first
/// token (or, where nothing is kept, every chunk's first token) leaves goes to `first`, set or added.
fn reverse(
    label: &'static str,
    op: &Scan,
    chunks: Chunks,
    last: Option<Region>,
    keeps: Option<Region>,
    first: Option<(Region, bool)>,
    r: &mut impl Recorder,
) {
    let columns = Columns::new(op, chunks, op.shape.value, 1, 1);
    columns
        .kernel(label, op)
        .size("AHEAD_READS", (columns.tile * columns.count).div_ceil(columns.threads()))
        .flag("KEEPS", keeps.is_some())
        .bind("d_o", "f32", Region::Gradient(op.o), Access::Read)
        .read_or_zero("last_gradient_at", "f32", last)
        .write_or_drop("keep_gradient", "f32", keeps, false)
        .write_or_drop("initial_gradient_put", "f32", first.map(|(region, _)| region), first.is_some_and(|(_, adds)| adds))
        .dispatch(&[REVERSE], columns.groups(op), r);
}

/// Floats of the states between every so many tokens `[B, H, ceil(T / EVERY), K, V]`.
fn states(op: &Scan) -> usize {
    let shape = op.shape;
    shape.batch * shape.heads * shape.time.div_ceil(every(op)) * shape.key * shape.value
}
