//! Dispatches made ready: compiled, bound, and replayed into compute passes.

use crate::buffers::{Buffers, Part};
use crate::device::Device;
use crate::kernel::Dispatch;
use crate::pipeline::compile;
use crate::record::Recording;
use palimpsest_plan::BackendError;
use std::collections::HashSet;

/// A dispatch with its pipeline and bind group.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) label: &'static str,
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

impl Launch {
    /// Appends this launch to a pass.
    pub(crate) fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.dispatch_workgroups(self.groups[0], self.groups[1], self.groups[2]);
    }
}

/// Compiles every kernel text that the device has not met.
///
/// # Errors
/// [`BackendError::Kernel`] for the first that the driver refuses.
pub(crate) async fn compile_all(device: &Device, dispatches: impl Iterator<Item = &Dispatch>) -> Result<(), BackendError> {
    // All are handed over before the first is awaited: a browser compiles them side by side.
    let mut verdicts = Vec::new();
    let mut met: HashSet<&str> = HashSet::new();
    for dispatch in dispatches {
        let known = device.pipelines.borrow().get(dispatch).is_some();
        if !known && met.insert(&dispatch.source) {
            let (pipeline, verdict) = compile(&device.device, dispatch);
            verdicts.push((dispatch, pipeline, verdict));
        }
    }
    for (dispatch, pipeline, verdict) in verdicts {
        verdict.await?;
        device.pipelines.borrow_mut().insert(dispatch.source.clone(), pipeline);
    }
    device.check()
}

/// Whose numbers a dispatch sees.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sight {
    /// Those of all runs, from the first run's on.
    AllRuns,
    /// Those of one run; the dispatch has no run axis.
    Run(usize),
}

/// Binds compiled dispatches to their buffers.
///
/// # Errors
/// [`BackendError::Kernel`] for a dispatch that binds what is not there, or whose bindings the driver refuses.
pub(crate) async fn bind(
    device: &Device,
    buffers: &Buffers,
    recording: &Recording,
    dispatches: &[Dispatch],
    sight: Sight,
) -> Result<Vec<Launch>, BackendError> {
    let scope = device.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let launches = dispatches.iter().map(|dispatch| bind_one(device, buffers, recording, dispatch, sight)).collect();
    match scope.pop().await {
        Some(error) => Err(BackendError::Kernel { kernel: "bind groups".to_owned(), message: error.to_string() }),
        None => launches,
    }
}

fn bind_one(device: &Device, buffers: &Buffers, recording: &Recording, dispatch: &Dispatch, sight: Sight) -> Result<Launch, BackendError> {
    let refuse = |message: String| BackendError::Kernel { kernel: dispatch.label.to_owned(), message };
    let pipelines = device.pipelines.borrow();
    let pipeline = pipelines.get(dispatch).ok_or_else(|| refuse("it was not compiled".to_owned()))?;
    let parts = dispatch.bindings.iter().map(|&(region, _)| {
        let part = buffers.region(region).map(|part| match sight {
            Sight::AllRuns => Part { size: part.size + (recording.runs as u64 - 1) * recording.stride(region), ..part },
            Sight::Run(run) => Part { offset: part.offset + run as u64 * recording.stride(region), ..part },
        });
        part.ok_or_else(|| refuse(format!("it binds {region:?}, which has no buffer")))
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let entries = parts.iter().zip(0..).map(|(part, binding)| wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &part.buffer,
            offset: part.offset,
            size: wgpu::BufferSize::new(part.size),
        }),
    });
    let entries: Vec<_> = entries.collect();
    let layout = &pipeline.layout;
    let description = wgpu::BindGroupDescriptor { label: Some(dispatch.label), layout, entries: &entries };
    Ok(Launch {
        label: dispatch.label,
        pipeline: pipeline.pipeline.clone(),
        bindings: device.device.create_bind_group(&description),
        groups: dispatch.groups,
    })
}
