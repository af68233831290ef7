//! What a backend does with a plan: the one trait between the trainer and its hardware.

use crate::{TensorId, Trace, TraceWindow};
use serde::{Deserialize, Serialize};

/// Which of the two backends runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AdapterKind {
    /// wgpu: WebGPU in a page, Vulkan natively.
    Gpu,
    /// Plain slices.
    Cpu,
}

/// What computes, for the badge and for every report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adapter {
    /// Which backend.
    pub kind: AdapterKind,
    /// The adapter's own name, as `NVIDIA H200`.
    pub name: String,
    /// Driver or interface, as `Vulkan`, `BrowserWebGpu`.
    pub interface: String,
}

/// Why a backend could not go on.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq, Serialize, Deserialize)]
pub enum BackendError {
    /// The browser has no WebGPU here (in this worker).
    #[error("this browser offers no WebGPU here")]
    NoWebGpu,
    /// No adapter, or one that lacks what is needed.
    #[error("no usable GPU: {0}")]
    NoAdapter(String),
    /// The adapter is there, but it refused a device or a request.
    #[error("the GPU refused: {0}")]
    Refused(String),
    /// The device was lost while working.
    #[error("the GPU device was lost: {0}")]
    DeviceLost(String),
    /// A buffer, binding or dispatch beyond the adapter's limits.
    #[error("{what} needs {needed}, this adapter allows {limit}: lower batch, length or width")]
    Limit {
        /// What was too large, as `buffer 'layer0.in.out' bytes`.
        what: String,
        /// What the plan needs.
        needed: u64,
        /// What the adapter has.
        limit: u64,
    },
    /// Memory that cannot be had, the GPU's or the processor's.
    #[error("the model needs {needed} bytes of memory, {}: lower batch, length or width", most(*limit))]
    Memory {
        /// Bytes of all buffers.
        needed: u64,
        /// The most there can be, where that is known.
        limit: Option<u64>,
    },
    /// A kernel that the driver refused.
    #[error("kernel {kernel} was refused: {message}")]
    Kernel {
        /// Name of the kernel.
        kernel: String,
        /// The driver's words.
        message: String,
    },
    /// Data that does not fit the plan.
    #[error("{0}")]
    Input(String),
}

fn most(limit: Option<u64>) -> String {
    limit.map_or_else(|| "more than there is".to_owned(), |limit| format!("where {limit} are the most"))
}

/// One training step's data.
#[derive(Clone, Debug)]
pub struct StepInput {
    /// Contents of every [`crate::Role::Batch`] tensor.
    pub batch: Vec<(TensorId, Vec<u32>)>,
    /// Learning rate of this step.
    pub rate: f32,
    /// Index of this step, from 1.
    pub step: u32,
}

/// What a finished step reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// Index of the step, from 1.
    pub step: u32,
    /// Mean cross-entropy over the labelled positions, in nats.
    pub loss: f32,
    /// Norm of the whole gradient before clipping.
    pub gradient_norm: f32,
}

/// A plan built on a backend: its buffers, kernels and parameters.
#[allow(async_fn_in_trait, reason = "sessions stay on the thread that made them, in the page and natively")]
pub trait Session {
    /// What computes.
    fn adapter(&self) -> &Adapter;

    /// Replaces all parameters (packed as [`crate::Plan::parameter_offset`] says) and clears the optimiser's moments.
    fn set_parameters(&mut self, packed: &[f32]) -> Result<(), BackendError>;

    /// Replaces the contents of a [`crate::Role::Constant`] tensor, or of an activation that is given from outside.
    fn write(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError>;

    /// Replaces the gradient of an activation, for checks that start backward from given output gradients.
    fn write_gradient(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError>;

    /// Reads all parameters back.
    async fn parameters(&mut self) -> Result<Vec<f32>, BackendError>;

    /// Queues training steps (forward, backward, update) in order; returns before a GPU has finished them.
    fn train(&mut self, steps: &[StepInput]) -> Result<(), BackendError>;

    /// Results of the queued steps not yet reported, in order. Waits for all of them.
    async fn results(&mut self) -> Result<Vec<StepResult>, BackendError>;

    /// Runs the forward operations on a batch.
    fn forward(&mut self, batch: &[(TensorId, Vec<u32>)]) -> Result<(), BackendError>;

    /// Runs the backward operations from what the last forward pass left, without an update.
    fn backward(&mut self) -> Result<(), BackendError>;

    /// Reads the gradient of an activation or parameter as the last backward pass left it.
    async fn read_gradient(&mut self, tensor: TensorId) -> Result<Vec<f32>, BackendError>;

    /// Reads an activation or constant as the last forward pass left it.
    async fn read(&mut self, tensor: TensorId) -> Result<Vec<f32>, BackendError>;

    /// Reads some consecutive elements of an activation or constant.
    async fn read_range(&mut self, tensor: TensorId, range: std::ops::Range<usize>) -> Result<Vec<f32>, BackendError> {
        let all = self.read(tensor).await?;
        let len = all.len();
        all.get(range.clone()).map(<[f32]>::to_vec).ok_or_else(|| BackendError::Input(format!("elements {range:?} of a tensor with {len}")))
    }

    /// Reads a [`crate::Role::Answer`] tensor as the last forward pass left it.
    async fn read_answers(&mut self, tensor: TensorId) -> Result<Vec<u32>, BackendError>;

    /// States and reads over a window of tokens, from the last forward pass.
    ///
    /// # Errors
    /// [`BackendError::Input`] when the window is not within a scan of the plan.
    async fn trace(&mut self, window: TraceWindow) -> Result<Trace, BackendError>;
}
