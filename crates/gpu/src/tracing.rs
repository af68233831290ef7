//! Reading the memory of one head, token by token.

use crate::buffers::Part;
use crate::kernel::{Region, ScratchId};
use crate::launch::Launch;
use crate::readback::read_parts;
use crate::scan;
use crate::session::GpuSession;
use palimpsest_plan::{BackendError, Moment, Op, Scan, Trace, TraceWindow};

/// The kernels that trace windows of one length of one scan of one run.
#[derive(Debug)]
pub(crate) struct Tracer {
    launches: Vec<Launch>,
    states: ScratchId,
    reads: ScratchId,
}

impl GpuSession {
    fn scan(&self, scan: usize) -> Result<Scan, BackendError> {
        let mut scans = self.plan().forward.iter().filter_map(|op| if let Op::Scan(op) = op { Some(op) } else { None });
        scans.nth(scan).cloned().ok_or_else(|| BackendError::Input(format!("the plan has no scan {scan}")))
    }

    /// See [`palimpsest_plan::Session::trace`].
    pub(crate) async fn trace_of(&mut self, run: usize, window: TraceWindow) -> Result<Trace, BackendError> {
        let TraceWindow { scan, row, head, tokens: window } = window;
        let (first, tokens) = (window.start, window.len());
        let op = self.scan(scan)?;
        let shape = op.shape;
        if row >= shape.batch || head >= shape.heads || tokens == 0 || window.end > shape.time {
            let window = format!("sequence {row}, head {head}, tokens {window:?}");
            let sizes = format!("{} sequences, {} heads, {} tokens", shape.batch, shape.heads, shape.time);
            return Err(BackendError::Input(format!("no trace of {window}: the scan has {sizes}")));
        }
        if !self.tracers.contains_key(&(run, scan, tokens)) {
            let mut buffers = None;
            let dispatches = self.recording.extend(|recorder| buffers = Some(scan::trace(&op, tokens, recorder)))?;
            let Some((states, reads)) = buffers else {
                return Err(BackendError::Input(format!("scan {scan} has no trace")));
            };
            let launches = self.prepare(run, &dispatches).await?;
            self.tracers.insert((run, scan, tokens), Tracer { launches, states, reads });
        }
        let arguments = [row as u32, head as u32, first as u32, 0];
        self.device.queue.write_buffer(&self.buffers.arguments, 0, bytemuck::cast_slice(&arguments));
        let mut encoder = self.encoder("trace");
        let mut parts = Vec::new();
        let steps = op.layout.steps.len();
        let state_len = tokens * steps * Moment::ALL.len() * shape.key * shape.value;
        if let Some(tracer) = self.tracers.get(&(run, scan, tokens)) {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            tracer.launches.iter().for_each(|launch| launch.encode(&mut pass));
            for (scratch, len) in [(tracer.states, state_len), (tracer.reads, tokens * shape.value)] {
                let part = self.buffers.region(Region::Scratch(scratch));
                parts.extend(part.map(|part| Part { size: 4 * len as u64, ..part }));
            }
        }
        self.submit(encoder)?;
        let mut states: Vec<f32> = bytemuck::pod_collect_to_vec(&read_parts(&self.device, &parts).await?);
        let reads = states.split_off(state_len.min(states.len()));
        Ok(Trace { first, tokens, steps, key: shape.key, value: shape.value, states, reads })
    }
}
