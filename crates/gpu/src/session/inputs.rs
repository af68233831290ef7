//! A step's data: checked, and laid out as the kernels find it.

use super::{GpuSession, input};
use crate::kernel::STEP_WORDS;
use crate::record::RESULT_SLOTS;
use palimpsest_plan::{BackendError, Op, Plan, StepInput, TensorId};

impl GpuSession {
    /// Checks a batch tensor's values; gives the first byte of its place in a slot.
    pub(super) fn place(&self, id: TensorId, values: &[u32]) -> Result<u64, BackendError> {
        let Some(&(_, offset)) = self.recording.slot.batch.iter().find(|&&(tensor, _)| tensor == id) else {
            return input(format!("tensor {} is not part of a batch", id.0));
        };
        let tensor = self.plan().tensor(id);
        if values.len() != tensor.len() {
            return input(format!("batch tensor '{}' takes {} values, not {}", tensor.name, tensor.len(), values.len()));
        }
        let bounds = self.bounds.iter().filter(|&&(tensor, _)| tensor == id);
        let bound = bounds.map(|&(_, bound)| bound).min().unwrap_or(usize::MAX);
        match values.iter().find(|&&value| value as usize >= bound) {
            Some(value) => input(format!("batch tensor '{}' holds {value}; its values must be below {bound}", tensor.name)),
            None => Ok(offset),
        }
    }

    /// Writes a step's data and numbers into a slot; the numbers are [`crate::kernel::Region::Step`].
    pub(super) fn stage_step(&self, step: &StepInput, result: usize, slot: &mut [u8]) -> Result<(), BackendError> {
        if step.step == 0 {
            return input("steps count from 1, not 0".to_owned());
        }
        for (id, values) in &step.batch {
            let offset = self.place(*id, values)? as usize;
            slot[offset..offset + 4 * values.len()].copy_from_slice(bytemuck::cast_slice(values));
        }
        let given = |id: TensorId| step.batch.iter().any(|&(tensor, _)| tensor == id);
        if let Some(&(id, _)) = self.recording.slot.batch.iter().find(|&&(id, _)| !given(id)) {
            return input(format!("step {} lacks batch tensor '{}'", step.step, self.plan().tensor(id).name));
        }
        let optimizer = &self.plan().optimizer;
        let correction = |beta: f32| (1.0 - f64::from(beta).powi(step.step as i32)) as f32;
        let rates = [step.rate, correction(optimizer.beta1), correction(optimizer.beta2)];
        let words: [u32; STEP_WORDS] = [rates[0].to_bits(), rates[1].to_bits(), rates[2].to_bits(), result as u32];
        let first = self.recording.slot.step as usize;
        slot[first..first + 4 * STEP_WORDS].copy_from_slice(bytemuck::cast_slice(&words));
        Ok(())
    }

    /// Puts one step's data in place for launches that are not part of [`Session::train`].
    pub(crate) fn set_step(&mut self, step: &StepInput) -> Result<(), BackendError> {
        let mut slot = vec![0; self.recording.slot.bytes as usize];
        self.stage_step(step, self.next_slot % RESULT_SLOTS, &mut slot)?;
        self.device.queue.write_buffer(&self.buffers.live, 0, &slot);
        Ok(())
    }
}

/// Which tensor an operation indexes with, and the bound of its values.
pub(super) fn index_bound(plan: &Plan, op: &Op) -> Option<(TensorId, usize)> {
    let rows = |id: TensorId| plan.tensor(id).shape.first().copied().unwrap_or(1);
    match op {
        Op::Embed(op) => Some((op.tokens, rows(op.table))),
        Op::Gather(op) => Some((op.rows, rows(op.x))),
        Op::CrossEntropy(op) => Some((op.targets, plan.tensor(op.logits).shape.last().copied().unwrap_or(1))),
        _ => None,
    }
}
