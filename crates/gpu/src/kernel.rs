//! A kernel's dispatch as plain data: what operations record and a session replays.
//!
//! A kernel's text is a header of `const` sizes made by Rust, shared functions from `shaders/lib`, and one file of
//! `shaders/kernels` with its bindings and `main`. Binding `i` of group 0 is `bindings[i]`. No wgpu type appears here.

use palimpsest_plan::{Plan, TensorId};
use std::fmt::{Display, Write};

/// Invocations of a one-dimensional kernel's workgroup: the portable floor of WebGPU.
pub(crate) const WORKGROUP: u32 = 256;

/// Words of [`Region::Step`].
pub(crate) const STEP_WORDS: usize = 4;

/// A buffer that only kernels see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScratchId(pub(crate) usize);

/// What a binding shows to a kernel. Its size is rounded up to 16 bytes, so that it may be declared as `array<vec4<f32>>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Region {
    /// A tensor: its own buffer, or its slice of the packed parameters. `u32` for batch and answer tensors.
    Tensor(TensorId),
    /// The gradient of an activation, or of a parameter: its slice of the packed gradients.
    Gradient(TensorId),
    /// A buffer from [`Recorder::scratch`] or [`Recorder::saved`].
    Scratch(ScratchId),
    /// Partial sums: so many floats from this one on in the buffer that all of them share, see [`Recorder::partial`].
    Partial {
        /// First float, a multiple of 64.
        first: usize,
        /// Number of floats.
        floats: usize,
    },
    /// All partial sums.
    Partials,
    /// What a launch of `sums.wgsl` sums: the segments of the flush of this index.
    Segments(usize),
    /// All parameters, packed.
    Parameters,
    /// Gradients of all parameters, packed.
    Gradients,
    /// AdamW's first moments, packed, then its second moments.
    Moments,
    /// Of every 64 parameters, packed: `[learning rate scale, weight decay]`.
    Rates,
    /// The present training step, [`STEP_WORDS`] of `u32`: rate, `1 - beta1^t`, `1 - beta2^t` (bits of floats), slot of its result.
    Step,
    /// Ring of results, two floats a slot: loss, gradient norm.
    Results,
    /// Arguments of a trace: `[row, head, first token, 0]` as `array<u32>`.
    Arguments,
}

/// How a kernel uses a binding. One buffer may not be bound with both in one dispatch (all parameter gradients are one buffer).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// `var<storage, read>`
    Read,
    /// `var<storage, read_write>`
    ReadWrite,
}

/// One launch of one kernel.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    /// Name for errors and profiles, as `linear.forward`.
    pub(crate) label: &'static str,
    /// The whole WGSL text, entry point `main`. Dispatches with equal text share a pipeline.
    pub(crate) source: String,
    /// What is bound, in binding order.
    pub(crate) bindings: Vec<(Region, Access)>,
    /// Workgroups; each at most [`Limits::groups`], see [`fold`].
    pub(crate) groups: [u32; 3],
}

/// What the adapter allows, as far as kernels ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Storage buffers that one kernel may bind (8 everywhere).
    pub(crate) storage_buffers: u32,
    /// Bytes of workgroup memory (16,384 everywhere).
    pub(crate) workgroup_bytes: u32,
    /// Invocations of one workgroup (256 everywhere).
    pub(crate) invocations: u32,
    /// Workgroups along one dimension (65,535 everywhere).
    pub(crate) groups: u32,
    /// Bytes of one storage binding.
    pub(crate) binding_bytes: u64,
    /// Bytes of one buffer.
    pub(crate) buffer_bytes: u64,
    /// Smallest and largest subgroup, when kernels may `enable subgroups`.
    pub(crate) subgroup: Option<(u32, u32)>,
    /// Whether the adapter is a processor that plays a GPU: it takes seconds to compile long kernels, so loops stay loops.
    pub(crate) software: bool,
}

/// Where sums of the columns of a matrix of partial sums go: number `i` is the sum over all rows of the `width` columns from
/// `(i / group) * group_stride + first + i % group` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// What takes them.
    pub(crate) region: Region,
    /// How many numbers it takes.
    pub(crate) count: usize,
    /// See above.
    pub(crate) group: usize,
    /// See above.
    pub(crate) group_stride: usize,
    /// See above.
    pub(crate) first: usize,
    /// How many neighbouring columns make one number.
    pub(crate) width: usize,
    /// Whether they are added.
    pub(crate) add: bool,
}

impl Output {
    /// Columns `first..first + count`, one number each.
    pub(crate) fn columns(region: Region, first: usize, count: usize, add: bool) -> Output {
        Output { region, count, group: count.max(1), group_stride: 0, first, width: 1, add }
    }
}

/// Collects the dispatches of a plan. Dispatches run in the order of recording, each seeing all that earlier ones wrote.
pub(crate) trait Recorder {
    /// A buffer of this many floats that holds its contents until the operation's pass (forward or backward) ends.
    /// Operations share one buffer per label, as large as the largest asks; labels differ within an operation.
    fn scratch(&mut self, label: &'static str, floats: usize) -> ScratchId;
    /// A buffer that belongs to a tensor (usually the operation's output) and is kept: the same tensor and label give the
    /// same buffer in the backward pass. Floats.
    fn saved(&mut self, tensor: TensorId, label: &'static str, floats: usize) -> ScratchId;
    /// A buffer for partial sums, until [`Recorder::sum_later`] or the sum's own dispatch has read it.
    fn partial(&mut self, floats: usize) -> Region;
    /// Sums the rows of `partial` `[rows, stride]` at the end of the backward pass, all such sums in one launch. False when these
    /// cannot wait: when a gradient has other contributions, whose order counts.
    fn sum_later(&mut self, partial: Region, rows: usize, stride: usize, outputs: &[Output]) -> bool;
    /// Appends a dispatch.
    fn dispatch(&mut self, dispatch: Dispatch);
    /// How many runs will share the dispatches, each on its own copy of every region that differs between runs.
    fn runs(&self) -> usize;
    /// What the adapter allows.
    fn limits(&self) -> &Limits;
    /// The plan that is being recorded.
    fn plan(&self) -> &Plan;
}

/// Folds a number of workgroups into two dimensions; kernels compute `group.y * dispatched.x + group.x` and check its bound.
pub(crate) fn fold(groups: usize, limits: &Limits) -> [u32; 3] {
    let widest = limits.groups as usize;
    let rows = groups.div_ceil(widest).max(1);
    [groups.div_ceil(rows).max(1) as u32, rows as u32, 1]
}

/// The `const` header of a kernel: each size has its one owner in Rust.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header(String);

impl Header {
    /// No constant yet.
    pub(crate) fn new() -> Header {
        Header::default()
    }

    /// `const NAME: u32 = value;`
    pub(crate) fn size(mut self, name: &str, value: impl Display) -> Header {
        let _ = writeln!(self.0, "const {name}: u32 = {value}u;");
        self
    }

    /// `const NAME: f32 = value;`, with a decimal that reads back to the same float.
    pub(crate) fn float(mut self, name: &str, value: f32) -> Header {
        let _ = writeln!(self.0, "const {name}: f32 = {value:?};");
        self
    }

    /// `const NAME: bool = value;`
    pub(crate) fn flag(mut self, name: &str, value: bool) -> Header {
        let _ = writeln!(self.0, "const {name}: bool = {value};");
        self
    }

    /// The whole text: this header, then the parts.
    pub(crate) fn source(self, parts: &[&str]) -> String {
        parts.iter().fold(self.0, |mut text, part| {
            text.push_str(part);
            text.push('\n');
            text
        })
    }
}
