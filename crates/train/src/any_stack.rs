//! Stacked runs on either backend behind one type.

use palimpsest_cpu::CpuSession;
use palimpsest_gpu::GpuStack;
use palimpsest_plan::{Adapter, BackendError, BatchInput, InTurn, Stacked, StepInput, StepResult, TensorId, Trace, TraceWindow};
use std::ops::Range;

/// Several runs of a plan on either backend.
pub enum AnyStack {
    /// On wgpu, all in each launch.
    Gpu(Box<GpuStack>),
    /// On slices, one after the other.
    Cpu(Box<InTurn<CpuSession>>),
}

macro_rules! either {
    ($self:ident, $stack:ident => $body:expr) => {
        match $self {
            AnyStack::Gpu($stack) => $body,
            AnyStack::Cpu($stack) => $body,
        }
    };
}

impl Stacked for AnyStack {
    fn adapter(&self) -> &Adapter {
        either!(self, stack => stack.adapter())
    }

    fn runs(&self) -> usize {
        either!(self, stack => stack.runs())
    }

    fn set_parameters(&mut self, run: usize, packed: &[f32]) -> Result<(), BackendError> {
        either!(self, stack => stack.set_parameters(run, packed))
    }

    fn write(&mut self, run: usize, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        either!(self, stack => stack.write(run, tensor, values))
    }

    async fn parameters(&mut self, run: usize) -> Result<Vec<f32>, BackendError> {
        either!(self, stack => stack.parameters(run).await)
    }

    fn train(&mut self, steps: &[StepInput]) -> Result<(), BackendError> {
        either!(self, stack => stack.train(steps))
    }

    async fn results(&mut self) -> Result<Vec<StepResult>, BackendError> {
        either!(self, stack => stack.results().await)
    }

    fn forward(&mut self, batches: &[BatchInput]) -> Result<(), BackendError> {
        either!(self, stack => stack.forward(batches))
    }

    async fn read(&mut self, tensor: TensorId) -> Result<Vec<Vec<f32>>, BackendError> {
        either!(self, stack => stack.read(tensor).await)
    }

    async fn read_range(&mut self, run: usize, tensor: TensorId, range: Range<usize>) -> Result<Vec<f32>, BackendError> {
        either!(self, stack => stack.read_range(run, tensor, range).await)
    }

    async fn read_answers(&mut self, tensor: TensorId) -> Result<Vec<Vec<u32>>, BackendError> {
        either!(self, stack => stack.read_answers(tensor).await)
    }

    async fn trace(&mut self, run: usize, window: TraceWindow) -> Result<Trace, BackendError> {
        either!(self, stack => stack.trace(run, window).await)
    }
}
