//! Several runs of a plan on the GPU: as many launches as for one, each with the workgroups of all.

use crate::buffers::Part;
use crate::device::Device;
use crate::readback::{read_numbers, read_parts};
use crate::session::GpuSession;
use palimpsest_plan::{
    Adapter, BackendError, BatchInput, Plan, Session, Stacked, StepInput, StepResult, TensorId, Trace, TraceWindow, check_batches,
    check_run, check_steps,
};
use std::ops::Range;

/// A plan with its buffers, kernels and bind groups on a device, for R runs: every buffer that differs between runs holds R copies one
/// after the other, and every dispatch has R times the workgroups. A run's numbers are those of a [`GpuSession`] by itself.
#[derive(Debug)]
pub struct GpuStack {
    session: GpuSession,
}

impl GpuStack {
    /// Records a plan for `runs` runs (at least 1), checks it against the adapter's limits, then allocates and compiles.
    ///
    /// # Errors
    /// [`BackendError::Input`] without a run; else as [`GpuSession::new`], where what [`BackendError::Limit`] names is
    /// needed by all runs together.
    pub async fn new(device: &Device, plan: Plan, runs: usize) -> Result<GpuStack, BackendError> {
        if runs == 0 {
            return Err(BackendError::Input("a stack takes at least 1 run".to_owned()));
        }
        Ok(GpuStack { session: GpuSession::stacked(device, plan, runs).await? })
    }

    /// Bytes of all buffers.
    pub fn total_bytes(&self) -> u64 {
        self.session.total_bytes()
    }

    /// Kernel launches of one training step of all runs.
    pub fn launches(&self) -> usize {
        self.session.launches()
    }

    /// As [`GpuSession::kernels`]; the texts of a single run if there is but one.
    pub fn kernels(&self) -> Vec<(&'static str, &str)> {
        self.session.kernels()
    }

    fn check(&self, run: usize) -> Result<(), BackendError> {
        check_run(run, self.runs())
    }

    /// A tensor of every run, in one read.
    async fn read_all<T: bytemuck::Pod>(&self, tensor: TensorId, integer: bool) -> Result<Vec<Vec<T>>, BackendError> {
        let len = self.session.plan().tensor(tensor).len();
        let parts = (0..self.runs()).map(|run| self.session.part_of(run, tensor, integer, 0..len));
        let parts = parts.collect::<Result<Vec<Part>, _>>()?;
        let numbers: Vec<T> = bytemuck::pod_collect_to_vec(&read_parts(&self.session.device, &parts).await?);
        Ok(numbers.chunks(len.max(1)).map(<[T]>::to_vec).collect())
    }
}

impl Stacked for GpuStack {
    fn adapter(&self) -> &Adapter {
        self.session.adapter()
    }

    fn runs(&self) -> usize {
        self.session.recording.runs
    }

    fn set_parameters(&mut self, run: usize, packed: &[f32]) -> Result<(), BackendError> {
        self.check(run)?;
        self.session.set_parameters_of(run, packed)
    }

    fn write(&mut self, run: usize, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        self.check(run)?;
        self.session.write_of(run, tensor, values)
    }

    async fn parameters(&mut self, run: usize) -> Result<Vec<f32>, BackendError> {
        self.check(run)?;
        read_numbers(&self.session.device, self.session.parameters_of(run)).await
    }

    fn train(&mut self, steps: &[StepInput]) -> Result<(), BackendError> {
        check_steps(steps.len(), self.runs())?;
        self.session.queue_steps(steps, None)
    }

    async fn results(&mut self) -> Result<Vec<StepResult>, BackendError> {
        self.session.all_results().await
    }

    fn forward(&mut self, batches: &[BatchInput]) -> Result<(), BackendError> {
        check_batches(batches.len(), self.runs())?;
        self.session.forward_all(batches.iter().map(Vec::as_slice))
    }

    async fn read(&mut self, tensor: TensorId) -> Result<Vec<Vec<f32>>, BackendError> {
        self.read_all(tensor, false).await
    }

    async fn read_range(&mut self, run: usize, tensor: TensorId, range: Range<usize>) -> Result<Vec<f32>, BackendError> {
        self.check(run)?;
        read_numbers(&self.session.device, self.session.part_of(run, tensor, false, range)?).await
    }

    async fn read_answers(&mut self, tensor: TensorId) -> Result<Vec<Vec<u32>>, BackendError> {
        self.read_all(tensor, true).await
    }

    async fn trace(&mut self, run: usize, window: TraceWindow) -> Result<Trace, BackendError> {
        self.check(run)?;
        self.session.trace_of(run, window).await
    }
}
