//! Tensors of a plan: a name, a shape, and what the numbers are for.

use crate::Init;

/// Parameters start at multiples of this many floats in the packed parameter buffer (256 bytes: WebGPU's largest storage-buffer offset alignment).
pub const PARAMETER_ALIGN: usize = 64;

/// Index of a tensor in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(pub usize);

/// Index of a gradient buffer in its plan. Tensors on one residual stream share a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GradientId(pub usize);

/// How a parameter learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Learn {
    /// First value.
    pub init: Init,
    /// Multiplier on the learning rate.
    pub rate: f32,
    /// Whether AdamW's weight decay applies.
    pub weight_decay: bool,
}

/// What a tensor's numbers are for.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// Learned; lives in the packed parameter buffer.
    Parameter(Learn),
    /// Fixed numbers drawn once from the run's seed.
    Constant(Init),
    /// `u32`, uploaded for every step: tokens, label rows, targets.
    Batch,
    /// `f32`, written by one operation of the step.
    Activation,
    /// `u32`, written by an operation and read back: the model's answers.
    Answer,
}

/// One tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Name for messages and tests, as `layer1.in.weight`.
    pub name: String,
    /// Sizes, slowest first.
    pub shape: Vec<usize>,
    /// What it is for.
    pub role: Role,
}

impl Tensor {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Columns `offset..offset + width` of a matrix whose rows are `stride` long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The tensor, `[N, stride]`.
    pub tensor: TensorId,
    /// First column.
    pub offset: usize,
    /// Number of columns.
    pub width: usize,
    /// Row length of the tensor.
    pub stride: usize,
}
