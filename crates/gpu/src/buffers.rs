//! All buffers of a session, and which part of which buffer a region is.

use crate::device::Device;
use crate::kernel::{Region, STEP_WORDS};
use crate::record::{ARGUMENT_WORDS, RESULT_BYTES, RESULT_SLOTS, Recording, Scratch, bytes, rates};
use palimpsest_plan::{PARAMETER_ALIGN, Role, TensorId};

/// Steps of one upload and submit at most: few, so that the GPU works on some while the next are encoded.
pub(crate) const UPLOAD_STEPS: usize = 8;
/// Bytes of an upload, unless a single step has more.
const UPLOAD_BYTES: u64 = 64 << 20;

/// Part of a buffer, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl Part {
    fn whole(buffer: &wgpu::Buffer) -> Part {
        Part { buffer: buffer.clone(), offset: 0, size: buffer.size() }
    }

    /// The first of so many runs' equal shares.
    fn share(buffer: &wgpu::Buffer, runs: usize) -> Part {
        Part { buffer: buffer.clone(), offset: 0, size: buffer.size() / runs as u64 }
    }

    fn slice(buffer: &wgpu::Buffer, offset: u64, len: usize) -> Part {
        Part { buffer: buffer.clone(), offset, size: bytes(len) }
    }
}

/// Every buffer of a session.
#[derive(Debug)]
pub(crate) struct Buffers {
    pub(crate) parameters: wgpu::Buffer,
    pub(crate) moments: wgpu::Buffer,
    pub(crate) results: wgpu::Buffer,
    /// Slots of steps to come.
    pub(crate) upload: wgpu::Buffer,
    /// The slot of the present step.
    pub(crate) live: wgpu::Buffer,
    pub(crate) arguments: wgpu::Buffer,
    rates: wgpu::Buffer,
    partials: wgpu::Buffer,
    segments: Vec<wgpu::Buffer>,
    gradients: wgpu::Buffer,
    activation_gradients: Vec<wgpu::Buffer>,
    tensors: Vec<Part>,
    gradient_parts: Vec<Option<Part>>,
    scratch: Vec<Part>,
    step: Part,
    runs: usize,
}

impl Buffers {
    /// Allocates all buffers of a recording; wgpu clears them.
    pub(crate) fn new(device: &Device, recording: &Recording) -> Buffers {
        let (plan, runs) = (&recording.plan, recording.runs);
        // Of each run, one after the other.
        let buffer = |label: &str, size: u64| create(device, label, recording.room(size));
        let packed = bytes(plan.parameter_len());
        let (parameters, gradients) = (buffer("parameters", packed), buffer("gradients", packed));
        let live = buffer("step", recording.slot.bytes);
        let upload_steps = (UPLOAD_BYTES / live.size()).clamp(1, UPLOAD_STEPS as u64);
        // Of all runs.
        let filled = |label: &str, contents: &[u8]| {
            let filled = create(device, label, bytes(contents.len() / 4));
            device.queue.write_buffer(&filled, 0, contents);
            filled
        };
        let offset = |id: TensorId| plan.parameter_offset(id).map(|floats| floats as u64 * 4);
        let slots = |id: TensorId| recording.slot.batch.iter().find(|&&(tensor, _)| tensor == id).map(|&(_, offset)| offset);
        let tensors = plan.tensors.iter().enumerate().map(|(index, tensor)| match (offset(TensorId(index)), slots(TensorId(index))) {
            (Some(offset), _) => Part::slice(&parameters, offset, tensor.len()),
            (_, Some(offset)) => Part::slice(&live, offset, tensor.len()),
            _ => Part::share(&buffer(&tensor.name, bytes(tensor.len())), runs),
        });
        let tensors = tensors.collect();
        let lens = plan.gradient_lens().iter().enumerate();
        let activation_gradients: Vec<_> = lens.map(|(index, &len)| buffer(&format!("gradient {index}"), bytes(len))).collect();
        let gradient_parts = plan.tensors.iter().enumerate().map(|(index, tensor)| {
            let own = plan.gradient(TensorId(index)).map(|gradient| Part::share(&activation_gradients[gradient.0], runs));
            own.or_else(|| offset(TensorId(index)).map(|offset| Part::slice(&gradients, offset, tensor.len())))
        });
        let gradient_parts = gradient_parts.collect();
        Buffers {
            moments: buffer("moments", 2 * packed),
            results: buffer("results", RESULT_BYTES * RESULT_SLOTS as u64),
            upload: create(device, "upload", live.size() * upload_steps),
            arguments: create(device, "arguments", bytes(ARGUMENT_WORDS)),
            rates: filled("rates", bytemuck::cast_slice(&rates(plan))),
            partials: buffer("partial sums", bytes(recording.sums.floats())),
            segments: recording.sums.segments().iter().map(|words| filled("segments", bytemuck::cast_slice(words))).collect(),
            scratch: recording.scratch.iter().map(|scratch| Part::share(&buffer(&scratch.label, bytes(scratch.floats)), runs)).collect(),
            step: Part::slice(&live, recording.slot.step, STEP_WORDS),
            parameters,
            gradients,
            activation_gradients,
            tensors,
            gradient_parts,
            live,
            runs,
        }
    }

    /// Steps that the upload buffer holds.
    pub(crate) fn upload_steps(&self) -> usize {
        (self.upload.size() / self.live.size()) as usize
    }

    /// Allocates scratch buffers that were recorded since, for one run at a time.
    pub(crate) fn grow(&mut self, device: &Device, scratch: &[Scratch]) {
        let new = scratch.iter().skip(self.scratch.len());
        self.scratch.extend(new.map(|scratch| Part::whole(&create(device, &scratch.label, bytes(scratch.floats)))));
    }

    /// A tensor's values, of the first run.
    pub(crate) fn tensor(&self, id: TensorId) -> &Part {
        &self.tensors[id.0]
    }

    /// A tensor's gradient, of the first run, when it has one.
    pub(crate) fn gradient(&self, id: TensorId) -> Option<&Part> {
        self.gradient_parts[id.0].as_ref()
    }

    /// What a kernel of one run sees, of the first run; `None` for the gradient of a tensor without one.
    pub(crate) fn region(&self, region: Region) -> Option<Part> {
        match region {
            Region::Tensor(id) => Some(self.tensors[id.0].clone()),
            Region::Gradient(id) => self.gradient_parts[id.0].clone(),
            Region::Scratch(id) => self.scratch.get(id.0).cloned(),
            Region::Partial { first, floats } => Some(Part::slice(&self.partials, 4 * first as u64, floats)),
            Region::Partials => Some(Part::share(&self.partials, self.runs)),
            Region::Segments(index) => self.segments.get(index).map(Part::whole),
            Region::Parameters => Some(Part::share(&self.parameters, self.runs)),
            Region::Gradients => Some(Part::share(&self.gradients, self.runs)),
            Region::Moments => Some(Part::share(&self.moments, self.runs)),
            Region::Rates => Some(Part::whole(&self.rates)),
            Region::Step => Some(self.step.clone()),
            Region::Results => Some(Part::share(&self.results, self.runs)),
            Region::Arguments => Some(Part::whole(&self.arguments)),
        }
    }

    /// Bytes of all buffers together.
    pub(crate) fn total_bytes(&self) -> u64 {
        let packed = [&self.parameters, &self.gradients, &self.moments, &self.upload, &self.live, &self.partials];
        let own = self.tensors.iter().filter(|part| part.buffer != self.parameters && part.buffer != self.live);
        let own = own.chain(&self.scratch).map(|part| &part.buffer);
        packed.into_iter().chain(own).chain(&self.activation_gradients).map(wgpu::Buffer::size).sum()
    }
}

fn create(device: &Device, label: &str, size: u64) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    device.device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false })
}

const _: () = assert!(PARAMETER_ALIGN as u64 * 4 == crate::record::BINDING_ALIGN);

/// Whether a tensor's numbers are `u32`.
pub(crate) fn is_integer(role: &Role) -> bool {
    matches!(role, Role::Batch | Role::Answer)
}
