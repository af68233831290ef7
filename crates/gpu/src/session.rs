//! A plan on the GPU: everything is made once, then replayed.

use crate::buffers::{Buffers, Part, UPLOAD_STEPS, is_integer};
use crate::device::Device;
use crate::kernel::{Dispatch, STEP_WORDS};
use crate::launch::{Launch, bind, compile_all};
use crate::readback::{read_numbers, read_parts};
use crate::record::{RESULT_BYTES, RESULT_SLOTS, Recording};
use crate::timing::Stamps;
use crate::tracing::Tracer;
use palimpsest_plan::{Adapter, BackendError, Op, Plan, Role, Session, StepInput, StepResult, TensorId, Trace};
use std::collections::{HashMap, VecDeque};

/// Submits in flight before `train` waits for the oldest; natively only, a browser paces by the results that are read.
const SUBMITS_IN_FLIGHT: usize = 4;

/// A plan with its buffers, kernels and bind groups on a device.
#[derive(Debug)]
pub struct GpuSession {
    pub(crate) device: Device,
    pub(crate) recording: Recording,
    pub(crate) buffers: Buffers,
    pub(crate) forward: Vec<Launch>,
    pub(crate) backward: Vec<Launch>,
    pub(crate) update: Vec<Launch>,
    pub(crate) tracers: HashMap<(usize, usize), Tracer>,
    /// For each `u32` tensor that indexes something: the number its values stay below.
    bounds: Vec<(TensorId, usize)>,
    in_flight: VecDeque<wgpu::SubmissionIndex>,
    /// Steps whose results have not been read, oldest first; the last one's slot is `next_slot - 1`.
    pending: Vec<u32>,
    next_slot: usize,
}

fn input<T>(message: String) -> Result<T, BackendError> {
    Err(BackendError::Input(message))
}

impl GpuSession {
    /// Records a plan, checks it against the adapter's limits, then allocates its buffers and compiles its kernels.
    ///
    /// # Errors
    /// [`BackendError::Limit`] before anything is allocated; [`BackendError::Kernel`] for a kernel that the driver refuses;
    /// [`BackendError::Refused`] when memory runs out.
    pub async fn new(device: &Device, plan: Plan) -> Result<GpuSession, BackendError> {
        let recording = Recording::new(plan, device.limits.clone())?;
        let all = recording.forward.iter().chain(&recording.backward).chain(&recording.update);
        compile_all(device, all).await?;
        let scope = device.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffers = Buffers::new(device, &recording);
        if scope.pop().await.is_some() {
            return Err(BackendError::Refused(format!("no memory for buffers of {} bytes", buffers.total_bytes())));
        }
        let bounds = recording.plan.forward.iter().filter_map(|op| index_bound(&recording.plan, op)).collect();
        Ok(GpuSession {
            forward: bind(device, &buffers, &recording.forward).await?,
            backward: bind(device, &buffers, &recording.backward).await?,
            update: bind(device, &buffers, &recording.update).await?,
            device: device.clone(),
            tracers: HashMap::new(),
            in_flight: VecDeque::new(),
            pending: Vec::new(),
            next_slot: 0,
            recording,
            buffers,
            bounds,
        })
    }

    /// Whether a plan fits the adapter; allocates nothing.
    ///
    /// # Errors
    /// [`BackendError::Limit`] for the first buffer, binding or dispatch beyond the adapter's limits.
    pub fn check(device: &Device, plan: Plan) -> Result<(), BackendError> {
        Recording::new(plan, device.limits.clone()).map(|_| ())
    }

    /// The plan that runs.
    pub fn plan(&self) -> &Plan {
        &self.recording.plan
    }

    /// Bytes of all buffers.
    pub fn total_bytes(&self) -> u64 {
        self.buffers.total_bytes()
    }

    /// Kernel launches of one training step.
    pub fn launches(&self) -> usize {
        self.forward.len() + self.backward.len() + self.update.len()
    }

    /// The WGSL text of every kernel with its label, each text once, in the order of their first launch.
    pub fn kernels(&self) -> Vec<(&'static str, &str)> {
        let mut met = std::collections::HashSet::new();
        let all = self.recording.forward.iter().chain(&self.recording.backward).chain(&self.recording.update);
        let new = all.filter(|dispatch| met.insert(dispatch.source.as_str()));
        new.map(|dispatch| (dispatch.label, dispatch.source.as_str())).collect()
    }

    pub(crate) fn encoder(&self, label: &str) -> wgpu::CommandEncoder {
        self.device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) })
    }

    pub(crate) fn submit(&mut self, encoder: wgpu::CommandEncoder) -> Result<(), BackendError> {
        self.in_flight.push_back(self.device.queue.submit([encoder.finish()]));
        if self.in_flight.len() > SUBMITS_IN_FLIGHT {
            let oldest = self.in_flight.pop_front();
            self.device.wait(oldest)?;
        }
        self.device.check()
    }

    /// Checks a batch tensor's values; gives the first byte of its place in a slot.
    fn place(&self, id: TensorId, values: &[u32]) -> Result<u64, BackendError> {
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
    fn stage_step(&self, step: &StepInput, result: usize, slot: &mut [u8]) -> Result<(), BackendError> {
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

    pub(crate) fn check_trains(&self) -> Result<(), BackendError> {
        if self.update.is_empty() { input("this plan has nothing to train".to_owned()) } else { Ok(()) }
    }

    /// Replays launches in one pass.
    pub(crate) fn run<'a>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        launches: impl IntoIterator<Item = &'a Launch>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
        launches.into_iter().for_each(|launch| launch.encode(&mut pass));
    }

    /// Queues training steps, with timestamps before the first and after the last if told.
    pub(crate) fn queue_steps(&mut self, steps: &[StepInput], stamps: Option<&Stamps>) -> Result<(), BackendError> {
        self.check_trains()?;
        if self.pending.len() + steps.len() > RESULT_SLOTS {
            let pending = self.pending.len();
            return input(format!("{pending} results wait to be read and {} steps come; {RESULT_SLOTS} may wait", steps.len()));
        }
        let count = steps.len().div_ceil(UPLOAD_STEPS);
        steps.chunks(UPLOAD_STEPS).enumerate().try_for_each(|(index, steps)| {
            let writes = |step: usize| stamps?.writes(index == 0 && step == 0, index + 1 == count && step + 1 == steps.len());
            self.train_some(steps, writes)
        })
    }

    /// Queues up to [`UPLOAD_STEPS`] steps in one submit; `writes` gives the timestamps around the pass of a step.
    fn train_some<'a>(
        &mut self,
        steps: &[StepInput],
        writes: impl Fn(usize) -> Option<wgpu::ComputePassTimestampWrites<'a>>,
    ) -> Result<(), BackendError> {
        let size = self.recording.slot.bytes;
        let mut slots = vec![0; size as usize * steps.len()];
        for (index, (step, slot)) in steps.iter().zip(slots.chunks_mut(size as usize)).enumerate() {
            self.stage_step(step, (self.next_slot + index) % RESULT_SLOTS, slot)?;
        }
        self.device.queue.write_buffer(&self.buffers.upload, 0, &slots);
        let mut encoder = self.encoder("train");
        for index in 0..steps.len() {
            encoder.copy_buffer_to_buffer(&self.buffers.upload, index as u64 * size, &self.buffers.live, 0, size);
            self.run(&mut encoder, self.forward.iter().chain(&self.backward).chain(&self.update), writes(index));
        }
        self.pending.extend(steps.iter().map(|step| step.step));
        self.next_slot += steps.len();
        self.submit(encoder)
    }

    fn write_part(&self, name: &str, part: Option<&Part>, len: usize, values: &[f32]) -> Result<(), BackendError> {
        let Some(part) = part else { return input(format!("'{name}' has no gradient")) };
        if values.len() != len {
            return input(format!("'{name}' has {len} numbers, not {}", values.len()));
        }
        self.device.queue.write_buffer(&part.buffer, part.offset, bytemuck::cast_slice(values));
        self.device.check()
    }

    /// Part of a tensor, checked: element type and range.
    fn part_of(&self, tensor: TensorId, integer: bool, range: std::ops::Range<usize>) -> Result<Part, BackendError> {
        let found = self.plan().tensor(tensor);
        if is_integer(&found.role) != integer {
            let kind = if integer { "integers" } else { "floats" };
            return input(format!("'{}' does not hold {kind}", found.name));
        }
        if range.start > range.end || range.end > found.len() {
            return input(format!("elements {range:?} of '{}', which has {}", found.name, found.len()));
        }
        let part = self.buffers.tensor(tensor);
        Ok(Part { buffer: part.buffer.clone(), offset: part.offset + 4 * range.start as u64, size: 4 * range.len() as u64 })
    }

    /// Compiles and binds dispatches that were recorded after the session was made.
    pub(crate) async fn prepare(&mut self, dispatches: &[Dispatch]) -> Result<Vec<Launch>, BackendError> {
        self.buffers.grow(&self.device, &self.recording.scratch);
        compile_all(&self.device, dispatches.iter()).await?;
        bind(&self.device, &self.buffers, dispatches).await
    }
}

/// Which tensor an operation indexes with, and the bound of its values.
fn index_bound(plan: &Plan, op: &Op) -> Option<(TensorId, usize)> {
    let rows = |id: TensorId| plan.tensor(id).shape.first().copied().unwrap_or(1);
    match op {
        Op::Embed(op) => Some((op.tokens, rows(op.table))),
        Op::Gather(op) => Some((op.rows, rows(op.x))),
        Op::CrossEntropy(op) => Some((op.targets, plan.tensor(op.logits).shape.last().copied().unwrap_or(1))),
        _ => None,
    }
}

impl Session for GpuSession {
    fn adapter(&self) -> &Adapter {
        self.device.adapter()
    }

    fn set_parameters(&mut self, packed: &[f32]) -> Result<(), BackendError> {
        let len = self.plan().parameter_len();
        if packed.len() != len {
            return input(format!("the plan has {len} packed parameters, not {}", packed.len()));
        }
        self.device.queue.write_buffer(&self.buffers.parameters, 0, bytemuck::cast_slice(packed));
        let mut encoder = self.encoder("clear moments");
        encoder.clear_buffer(&self.buffers.moments, 0, None);
        self.submit(encoder)
    }

    fn write(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        if let Role::Parameter(_) = self.plan().tensor(tensor).role {
            return input(format!("'{}' is a parameter: set all parameters together", self.plan().tensor(tensor).name));
        }
        let len = self.plan().tensor(tensor).len();
        let part = self.part_of(tensor, false, 0..len)?;
        self.write_part(&self.plan().tensor(tensor).name, Some(&part), len, values)
    }

    fn write_gradient(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        let found = self.plan().tensor(tensor);
        self.write_part(&found.name, self.buffers.gradient(tensor), found.len(), values)
    }

    async fn parameters(&mut self) -> Result<Vec<f32>, BackendError> {
        let size = 4 * self.plan().parameter_len() as u64;
        read_numbers(&self.device, Part { buffer: self.buffers.parameters.clone(), offset: 0, size }).await
    }

    fn train(&mut self, steps: &[StepInput]) -> Result<(), BackendError> {
        self.queue_steps(steps, None)
    }

    async fn results(&mut self) -> Result<Vec<StepResult>, BackendError> {
        let steps = std::mem::take(&mut self.pending);
        let first = (self.next_slot - steps.len()) % RESULT_SLOTS;
        let before_wrap = steps.len().min(RESULT_SLOTS - first);
        let part = |slot: usize, slots: usize| Part {
            buffer: self.buffers.results.clone(),
            offset: slot as u64 * RESULT_BYTES,
            size: slots as u64 * RESULT_BYTES,
        };
        let parts = [part(first, before_wrap), part(0, steps.len() - before_wrap)];
        let parts: Vec<Part> = parts.into_iter().filter(|part| part.size > 0).collect();
        let numbers: Vec<f32> = bytemuck::pod_collect_to_vec(&read_parts(&self.device, &parts).await?);
        self.in_flight.clear();
        let results = steps.iter().zip(numbers.chunks_exact(2));
        Ok(results.map(|(&step, pair)| StepResult { step, loss: pair[0], gradient_norm: pair[1] }).collect())
    }

    fn forward(&mut self, batch: &[(TensorId, Vec<u32>)]) -> Result<(), BackendError> {
        for (id, values) in batch {
            let offset = self.place(*id, values)?;
            self.device.queue.write_buffer(&self.buffers.live, offset, bytemuck::cast_slice(values));
        }
        let mut encoder = self.encoder("forward");
        self.run(&mut encoder, &self.forward, None);
        self.submit(encoder)
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

    async fn read_range(&mut self, tensor: TensorId, range: std::ops::Range<usize>) -> Result<Vec<f32>, BackendError> {
        let part = self.part_of(tensor, false, range)?;
        read_numbers(&self.device, part).await
    }

    async fn read_answers(&mut self, tensor: TensorId) -> Result<Vec<u32>, BackendError> {
        let len = self.plan().tensor(tensor).len();
        let part = self.part_of(tensor, true, 0..len)?;
        read_numbers(&self.device, part).await
    }

    async fn trace(&mut self, scan: usize, row: usize, head: usize, first: usize, tokens: usize) -> Result<Trace, BackendError> {
        self.trace_window(scan, row, head, first, tokens).await
    }
}

const _: () = assert!(RESULT_BYTES == 8 && UPLOAD_STEPS <= RESULT_SLOTS);
