//! GPU time of each kernel launch of a training step.

use crate::buffers::Part;
use crate::launch::Launch;
use crate::readback::read_parts;
use crate::session::GpuSession;
use palimpsest_plan::{BackendError, StepInput};

/// One launch of a profiled step.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchTime {
    /// The kernel, as `linear.forward`.
    pub kernel: &'static str,
    /// GPU time, seconds.
    pub seconds: f64,
}

/// Launches per query set: WebGPU's largest set holds 4096 timestamps.
const LAUNCHES_PER_SET: usize = 2048;

impl GpuSession {
    /// Runs one training step, each launch in a pass of its own between two timestamps. The parameters move as in any step.
    ///
    /// # Errors
    /// [`BackendError::Refused`] when the adapter has no timestamps; else as [`palimpsest_plan::Session::train`].
    pub async fn profile(&mut self, step: &StepInput) -> Result<Vec<LaunchTime>, BackendError> {
        self.check_trains()?;
        if !self.device.timestamps {
            return Err(BackendError::Refused("this adapter has no timestamps".to_owned()));
        }
        self.set_step(step)?;
        let mut encoder = self.encoder("profile");
        let launches: Vec<&Launch> = self.forward.iter().chain(&self.backward).chain(&self.update).collect();
        let labels: Vec<&'static str> = launches.iter().map(|launch| launch.label).collect();
        let mut parts = Vec::new();
        for launches in launches.chunks(LAUNCHES_PER_SET) {
            let count = 2 * launches.len() as u32;
            let description = wgpu::QuerySetDescriptor { label: Some("profile"), ty: wgpu::QueryType::Timestamp, count };
            let set = self.device.device.create_query_set(&description);
            for (launch, query) in launches.iter().zip((0..).step_by(2)) {
                let timestamp_writes = Some(wgpu::ComputePassTimestampWrites {
                    query_set: &set,
                    beginning_of_pass_write_index: Some(query),
                    end_of_pass_write_index: Some(query + 1),
                });
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(launch.label), timestamp_writes });
                launch.encode(&mut pass);
            }
            let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
            let size = 8 * u64::from(count);
            let description = wgpu::BufferDescriptor { label: Some("timestamps"), size, usage, mapped_at_creation: false };
            let buffer = self.device.device.create_buffer(&description);
            encoder.resolve_query_set(&set, 0..count, &buffer, 0);
            parts.push(Part { buffer, offset: 0, size });
        }
        self.submit(encoder)?;
        let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(&read_parts(&self.device, &parts).await?);
        let period = f64::from(self.device.queue.get_timestamp_period()) * 1e-9;
        let times = labels.iter().zip(stamps.chunks_exact(2));
        Ok(times.map(|(kernel, pair)| LaunchTime { kernel, seconds: pair[1].saturating_sub(pair[0]) as f64 * period }).collect())
    }
}
