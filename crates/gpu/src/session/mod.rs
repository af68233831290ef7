//! A plan on the GPU: everything is made once, then replayed.

mod inputs;
mod single;
mod steps;
mod tensors;

use crate::buffers::Buffers;
use crate::device::Device;
use crate::kernel::Dispatch;
use crate::launch::{Launch, Sight, bind, compile_all};
use crate::record::Recording;
use crate::tracing::Tracer;
use palimpsest_plan::{BackendError, Plan, TensorId};
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
    /// [`BackendError::Memory`] when there is less memory than the buffers take.
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
            return Err(BackendError::Memory { needed: buffers.total_bytes(), limit: None });
        }
        let bounds = recording.plan.forward.iter().filter_map(|op| inputs::index_bound(&recording.plan, op)).collect();
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

    /// Compiles dispatches that were recorded after the session was made, and binds them to one run.
    pub(crate) async fn prepare(&mut self, run: usize, dispatches: &[Dispatch]) -> Result<Vec<Launch>, BackendError> {
        self.buffers.grow(&self.device, &self.recording.scratch);
        compile_all(&self.device, dispatches.iter()).await?;
        bind(&self.device, &self.buffers, &self.recording, dispatches, Sight::Run(run)).await
    }
}
