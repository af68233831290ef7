//! Parameters and tensors of each run: replaced, and found to be read.

use super::{GpuSession, input};
use crate::buffers::{Part, is_integer};
use crate::kernel::Region;
use palimpsest_plan::{BackendError, Role, TensorId};
use std::ops::Range;

impl GpuSession {
    /// Replaces one run's parameters, and clears its moments.
    pub(crate) fn set_parameters_of(&mut self, run: usize, packed: &[f32]) -> Result<(), BackendError> {
        let len = self.plan().parameter_len();
        if packed.len() != len {
            return input(format!("the plan has {len} packed parameters, not {}", packed.len()));
        }
        let offset = |region: Region| run as u64 * self.recording.stride(region);
        self.device.queue.write_buffer(&self.buffers.parameters, offset(Region::Parameters), bytemuck::cast_slice(packed));
        let mut encoder = self.encoder("clear moments");
        encoder.clear_buffer(&self.buffers.moments, offset(Region::Moments), Some(self.recording.stride(Region::Moments)));
        self.submit(encoder)
    }

    /// One run's parameters.
    pub(crate) fn parameters_of(&self, run: usize) -> Part {
        let offset = run as u64 * self.recording.stride(Region::Parameters);
        Part { buffer: self.buffers.parameters.clone(), offset, size: 4 * self.plan().parameter_len() as u64 }
    }

    /// Replaces one run's numbers of a tensor that is no parameter.
    pub(crate) fn write_of(&mut self, run: usize, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        if let Role::Parameter(_) = self.plan().tensor(tensor).role {
            return input(format!("'{}' is a parameter: set all parameters together", self.plan().tensor(tensor).name));
        }
        let len = self.plan().tensor(tensor).len();
        let part = self.part_of(run, tensor, false, 0..len)?;
        self.write_part(&self.plan().tensor(tensor).name, Some(&part), len, values)
    }

    pub(super) fn write_part(&self, name: &str, part: Option<&Part>, len: usize, values: &[f32]) -> Result<(), BackendError> {
        let Some(part) = part else { return input(format!("'{name}' has no gradient")) };
        if values.len() != len {
            return input(format!("'{name}' has {len} numbers, not {}", values.len()));
        }
        self.device.queue.write_buffer(&part.buffer, part.offset, bytemuck::cast_slice(values));
        self.device.check()
    }

    /// Part of one run's numbers of a tensor, checked: element type and range.
    pub(crate) fn part_of(&self, run: usize, tensor: TensorId, integer: bool, range: Range<usize>) -> Result<Part, BackendError> {
        let found = self.plan().tensor(tensor);
        if is_integer(&found.role) != integer {
            let kind = if integer { "integers" } else { "floats" };
            return input(format!("'{}' does not hold {kind}", found.name));
        }
        if range.start > range.end || range.end > found.len() {
            return input(format!("elements {range:?} of '{}', which has {}", found.name, found.len()));
        }
        let part = self.buffers.tensor(tensor);
        let first = part.offset + run as u64 * self.recording.stride(Region::Tensor(tensor));
        Ok(Part { buffer: part.buffer.clone(), offset: first + 4 * range.start as u64, size: 4 * range.len() as u64 })
    }
}
