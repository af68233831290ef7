//! Steps of all runs: queued, and their results read.

use super::{GpuSession, input};
use crate::buffers::{Part, UPLOAD_STEPS};
use crate::readback::read_parts;
use crate::record::{RESULT_BYTES, RESULT_SLOTS};
use crate::timing::Stamps;
use palimpsest_plan::{BackendError, StepInput, StepResult, TensorId};

const _: () = assert!(RESULT_BYTES == 8 && UPLOAD_STEPS <= RESULT_SLOTS);

impl GpuSession {
    pub(crate) fn check_trains(&self) -> Result<(), BackendError> {
        if self.update.is_empty() { input("this plan has nothing to train".to_owned()) } else { Ok(()) }
    }

    /// Queues steps `[steps, R]`, with timestamps before the first and after the last if told.
    pub(crate) fn queue_steps(&mut self, steps: &[StepInput], stamps: Option<&Stamps>) -> Result<(), BackendError> {
        self.check_trains()?;
        let runs = self.recording.runs;
        let (pending, coming) = (self.pending.len() / runs, steps.len() / runs);
        if pending + coming > RESULT_SLOTS {
            return input(format!("{pending} results wait to be read and {coming} steps come; {RESULT_SLOTS} may wait"));
        }
        let most = self.buffers.upload_steps() * runs;
        let count = steps.len().div_ceil(most);
        steps.chunks(most).enumerate().try_for_each(|(index, steps)| {
            let last = (steps.len() / runs).saturating_sub(1);
            let writes = |step: usize| stamps?.writes(index == 0 && step == 0, index + 1 == count && step == last);
            self.train_some(steps, writes)
        })
    }

    /// Queues steps `[steps, R]` in one submit, as many as the upload buffer holds; `writes` gives the timestamps around the pass of a step.
    fn train_some<'a>(
        &mut self,
        steps: &[StepInput],
        writes: impl Fn(usize) -> Option<wgpu::ComputePassTimestampWrites<'a>>,
    ) -> Result<(), BackendError> {
        let runs = self.recording.runs;
        let (slot, count) = (self.recording.slot.bytes as usize, steps.len() / runs);
        let mut slots = vec![0; slot * steps.len()];
        for (index, (step, slot)) in steps.iter().zip(slots.chunks_mut(slot)).enumerate() {
            self.stage_step(step, (self.next_slot + index / runs) % RESULT_SLOTS, slot)?;
        }
        self.device.queue.write_buffer(&self.buffers.upload, 0, &slots);
        let mut encoder = self.encoder("train");
        let size = self.buffers.live.size();
        for index in 0..count {
            encoder.copy_buffer_to_buffer(&self.buffers.upload, index as u64 * size, &self.buffers.live, 0, size);
            self.run(&mut encoder, self.forward.iter().chain(&self.backward).chain(&self.update), writes(index));
        }
        self.pending.extend(steps.iter().map(|step| step.step));
        self.next_slot += count;
        self.submit(encoder)
    }

    /// Results `[steps, R]` that wait.
    pub(crate) async fn all_results(&mut self) -> Result<Vec<StepResult>, BackendError> {
        let runs = self.recording.runs;
        let pending = std::mem::take(&mut self.pending);
        let count = pending.len() / runs;
        let first = (self.next_slot - count) % RESULT_SLOTS;
        let before_wrap = count.min(RESULT_SLOTS - first);
        let part = |run: usize, slot: usize, slots: usize| Part {
            buffer: self.buffers.results.clone(),
            offset: (run * RESULT_SLOTS + slot) as u64 * RESULT_BYTES,
            size: slots as u64 * RESULT_BYTES,
        };
        let parts = (0..runs).flat_map(|run| [part(run, first, before_wrap), part(run, 0, count - before_wrap)]);
        let parts: Vec<Part> = parts.filter(|part| part.size > 0).collect();
        // [R, steps, 2]
        let numbers: Vec<f32> = bytemuck::pod_collect_to_vec(&read_parts(&self.device, &parts).await?);
        self.in_flight.clear();
        let result = |(index, &step): (usize, &u32)| {
            let at = 2 * (index % runs * count + index / runs);
            StepResult { step, loss: numbers[at], gradient_norm: numbers[at + 1] }
        };
        Ok(pending.iter().enumerate().map(result).collect())
    }

    /// Runs the forward operations on a batch for each run.
    pub(crate) fn forward_all<'a>(&mut self, batches: impl IntoIterator<Item = &'a [(TensorId, Vec<u32>)]>) -> Result<(), BackendError> {
        for (run, batch) in batches.into_iter().enumerate() {
            for (id, values) in batch {
                let offset = self.place(*id, values)? + run as u64 * self.recording.slot.bytes;
                self.device.queue.write_buffer(&self.buffers.live, offset, bytemuck::cast_slice(values));
            }
        }
        let mut encoder = self.encoder("forward");
        self.run(&mut encoder, &self.forward, None);
        self.submit(encoder)
    }
}
