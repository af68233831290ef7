//! The session of one run, the first.

use super::{GpuSession, input};
use crate::buffers::Part;
use crate::readback::read_numbers;
use palimpsest_plan::{Adapter, BackendError, Session, StepInput, StepResult, TensorId, Trace, TraceWindow};
use std::ops::Range;

impl Session for GpuSession {
    fn adapter(&self) -> &Adapter {
        self.device.adapter()
    }

    fn set_parameters(&mut self, packed: &[f32]) -> Result<(), BackendError> {
        self.set_parameters_of(0, packed)
    }

    fn write(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        self.write_of(0, tensor, values)
    }

    fn write_gradient(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        let found = self.plan().tensor(tensor);
        self.write_part(&found.name, self.buffers.gradient(tensor), found.len(), values)
    }

    async fn parameters(&mut self) -> Result<Vec<f32>, BackendError> {
        read_numbers(&self.device, self.parameters_of(0)).await
    }

    fn train(&mut self, steps: &[StepInput]) -> Result<(), BackendError> {
        self.queue_steps(steps, None)
    }

    async fn results(&mut self) -> Result<Vec<StepResult>, BackendError> {
        self.all_results().await
    }

    fn forward(&mut self, batch: &[(TensorId, Vec<u32>)]) -> Result<(), BackendError> {
        self.forward_all([batch])
    }

    fn backward(&mut self) -> Result<(), BackendError> {
        let mut encoder = self.encoder("backward");
        self.run(&mut encoder, &self.backward, None);
        self.submit(encoder)
    }

    async fn read_gradient(&mut self, tensor: TensorId) -> Result<Vec<f32>, BackendError> {
        let found = self.plan().tensor(tensor);
        let size = 4 * found.len() as u64;
        match self.buffers.gradient(tensor) {
            Some(part) => read_numbers(&self.device, Part { size, ..part.clone() }).await,
            None => input(format!("'{}' has no gradient", found.name)),
        }
    }

    async fn read(&mut self, tensor: TensorId) -> Result<Vec<f32>, BackendError> {
        let len = self.plan().tensor(tensor).len();
        self.read_range(tensor, 0..len).await
    }

    async fn read_range(&mut self, tensor: TensorId, range: Range<usize>) -> Result<Vec<f32>, BackendError> {
        let part = self.part_of(0, tensor, false, range)?;
        read_numbers(&self.device, part).await
    }

    async fn read_answers(&mut self, tensor: TensorId) -> Result<Vec<u32>, BackendError> {
        let len = self.plan().tensor(tensor).len();
        let part = self.part_of(0, tensor, true, 0..len)?;
        read_numbers(&self.device, part).await
    }

    async fn trace(&mut self, window: TraceWindow) -> Result<Trace, BackendError> {
        self.trace_of(0, window).await
    }
}
