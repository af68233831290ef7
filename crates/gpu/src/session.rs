//! A plan on the GPU: everything is made once, then replayed.

use crate::buffers::{Buffers, Part, UPLOAD_STEPS, is_integer};
use crate::device::Device;
use crate::kernel::{Dispatch, Region, STEP_WORDS};
use crate::launch::{Launch, Sight, bind, compile_all};
use crate::readback::{read_numbers, read_parts};
use crate::record::{RESULT_BYTES, RESULT_SLOTS, Recording};
use crate::timing::Stamps;
use crate::tracing::Tracer;
use palimpsest_plan::{Adapter, BackendError, Op, Plan, Role, Session, StepInput, StepResult, TensorId, Trace, TraceWindow};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

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
    pub(crate) tracers: HashMap<(usize, usize, usize), Tracer>,
    /// For each `u32` tensor that indexes something: the number its values stay below.
    bounds: Vec<(TensorId, usize)>,
    in_flight: VecDeque<wgpu::SubmissionIndex>,
    /// `[steps, R]`: steps whose results have not been read, oldest first; the last one's slot is `next_slot - 1`.
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
        GpuSession::stacked(device, plan, 1).await
    }

    /// The same for so many runs at once; what is public reads and writes the first.
    pub(crate) async fn stacked(device: &Device, plan: Plan, runs: usize) -> Result<GpuSession, BackendError> {
        let recording = Recording::new(plan, runs, device.limits.clone())?;
        let all = recording.forward.iter().chain(&recording.backward).chain(&recording.update);
        compile_all(device, all).await?;
        let scope = device.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffers = Buffers::new(device, &recording);
        if scope.pop().await.is_some() {
            return Err(BackendError::Refused(format!("no memory for buffers of {} bytes", buffers.total_bytes())));
        }
        let bounds = recording.plan.forward.iter().filter_map(|op| index_bound(&recording.plan, op)).collect();
        Ok(GpuSession {
            forward: bind(device, &buffers, &recording, &recording.forward, Sight::AllRuns).await?,
            backward: bind(device, &buffers, &recording, &recording.backward, Sight::AllRuns).await?,
            update: bind(device, &buffers, &recording, &recording.update, Sight::AllRuns).await?,
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
        Recording::new(plan, 1, device.limits.clone()).map(|_| ())
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

    fn write_part(&self, name: &str, part: Option<&Part>, len: usize, values: &[f32]) -> Result<(), BackendError> {
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

    /// Compiles dispatches that were recorded after the session was made, and binds them to one run.
    pub(crate) async fn prepare(&mut self, run: usize, dispatches: &[Dispatch]) -> Result<Vec<Launch>, BackendError> {
        self.buffers.grow(&self.device, &self.recording.scratch);
        compile_all(&self.device, dispatches.iter()).await?;
        bind(&self.device, &self.buffers, &self.recording, dispatches, Sight::Run(run)).await
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

const _: () = assert!(RESULT_BYTES == 8 && UPLOAD_STEPS <= RESULT_SLOTS);
