//! GPU time of queued work: one pair of timestamps around all of it, so that nothing is added to a launch.

use crate::buffers::Part;
use crate::device::Device;
use crate::launch::Launch;
use crate::readback::read_numbers;
use crate::session::GpuSession;
use palimpsest_plan::{BackendError, StepInput};

/// Two timestamps on the GPU.
pub(crate) struct Stamps {
    set: wgpu::QuerySet,
    resolved: Part,
}

impl Stamps {
    /// A pair, where the adapter has timestamps.
    fn new(device: &Device) -> Option<Stamps> {
        let description = wgpu::QuerySetDescriptor { label: Some("stamps"), ty: wgpu::QueryType::Timestamp, count: 2 };
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let buffer = wgpu::BufferDescriptor { label: Some("stamps"), size: 16, usage, mapped_at_creation: false };
        device.timestamps.then(|| Stamps {
            set: device.device.create_query_set(&description),
            resolved: Part { buffer: device.device.create_buffer(&buffer), offset: 0, size: 16 },
        })
    }

    /// What a pass has to write when it is the first or the last of the work.
    pub(crate) fn writes(&self, first: bool, last: bool) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        (first || last).then_some(wgpu::ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: first.then_some(0),
            end_of_pass_write_index: last.then_some(1),
        })
    }

    /// Waits for the work; seconds between the two. `None` when the clock is too coarse for it.
    async fn seconds(self, device: &Device) -> Result<Option<f64>, BackendError> {
        let stamps: Vec<u64> = read_numbers(device, self.resolved).await?;
        let ticks = stamps.get(1).copied().unwrap_or(0).saturating_sub(stamps.first().copied().unwrap_or(0));
        Ok((ticks > 0).then_some(ticks as f64 * f64::from(device.queue.get_timestamp_period()) * 1e-9))
    }
}

impl GpuSession {
    /// Runs the forward operations, and the backward operations if told, `repeats` times in a row on what the buffers hold, and
    /// waits. Seconds of GPU time of all of it; `None` when the adapter has no timestamps.
    ///
    /// # Errors
    /// As [`palimpsest_plan::Session::forward`].
    pub async fn time_passes(&mut self, backward: bool, repeats: u32) -> Result<Option<f64>, BackendError> {
        let once = || self.forward.iter().chain(self.backward.iter().filter(|_| backward));
        let (encoder, stamps) = self.encode_timed((0..repeats).flat_map(|_| once()));
        self.finish_timed(encoder, stamps).await
    }

    /// Replays launches of its own `repeats` times; else as [`GpuSession::time_passes`].
    pub(crate) async fn time_launches(&mut self, launches: &[Launch], repeats: u32) -> Result<Option<f64>, BackendError> {
        let (encoder, stamps) = self.encode_timed((0..repeats).flat_map(|_| launches));
        self.finish_timed(encoder, stamps).await
    }

    /// Queues training steps, as [`palimpsest_plan::Session::train`], and waits. Seconds of GPU time of all of them; `None` when
    /// the adapter has no timestamps. Results are read as ever.
    ///
    /// # Errors
    /// As [`palimpsest_plan::Session::train`].
    pub async fn time_training(&mut self, steps: &[StepInput]) -> Result<Option<f64>, BackendError> {
        let stamps = Stamps::new(&self.device);
        self.queue_steps(steps, stamps.as_ref())?;
        let encoder = self.encoder("stamps");
        self.finish_timed(encoder, stamps).await
    }

    /// Launches in one pass between two timestamps.
    fn encode_timed<'a>(&self, launches: impl Iterator<Item = &'a Launch>) -> (wgpu::CommandEncoder, Option<Stamps>) {
        let stamps = Stamps::new(&self.device);
        let mut encoder = self.encoder("timed");
        self.run(&mut encoder, launches, stamps.as_ref().and_then(|stamps| stamps.writes(true, true)));
        (encoder, stamps)
    }

    /// Submits, and waits until the queue is empty: by reading the timestamps, or else a few bytes.
    async fn finish_timed(&mut self, mut encoder: wgpu::CommandEncoder, stamps: Option<Stamps>) -> Result<Option<f64>, BackendError> {
        if let Some(stamps) = &stamps {
            encoder.resolve_query_set(&stamps.set, 0..2, &stamps.resolved.buffer, 0);
        }
        self.submit(encoder)?;
        match stamps {
            Some(stamps) => stamps.seconds(&self.device).await,
            None => {
                let part = Part { buffer: self.buffers.results.clone(), offset: 0, size: 4 };
                read_numbers::<u32>(&self.device, part).await.map(|_| None)
            }
        }
    }
}
