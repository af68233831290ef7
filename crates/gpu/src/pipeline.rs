//! Compiled kernels, cached by their text.

use crate::kernel::{Access, Dispatch};
use palimpsest_plan::BackendError;
use std::collections::HashMap;

/// A compiled kernel and the layout of its bind groups.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
}

/// All kernels compiled on a device so far.
#[derive(Debug, Default)]
pub(crate) struct Pipelines {
    by_source: HashMap<String, Pipeline>,
}

impl Pipelines {
    /// The pipeline of a dispatch that was compiled before.
    pub(crate) fn get(&self, dispatch: &Dispatch) -> Option<&Pipeline> {
        self.by_source.get(&dispatch.source)
    }

    /// Keeps a pipeline under its text.
    pub(crate) fn insert(&mut self, source: String, pipeline: Pipeline) {
        self.by_source.insert(source, pipeline);
    }
}

/// Compiles a kernel. The driver may still be at work on it when this returns; the future tells what it said.
pub(crate) fn compile(device: &wgpu::Device, dispatch: &Dispatch) -> (Pipeline, impl Future<Output = Result<(), BackendError>> + use<>) {
    let label = dispatch.label;
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let source = wgpu::ShaderSource::Wgsl(dispatch.source.as_str().into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source });
    let layout = bind_group_layout(device, label, &dispatch.bindings.iter().map(|&(_, access)| access).collect::<Vec<_>>());
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(label),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        // Kernels write workgroup memory before they read it.
        compilation_options: wgpu::PipelineCompilationOptions { zero_initialize_workgroup_memory: false, ..Default::default() },
        cache: None,
    });
    let scopes = (internal.pop(), validation.pop());
    let verdict = async move {
        let error = match scopes.0.await {
            Some(error) => Some(error),
            None => scopes.1.await,
        };
        error.map_or(Ok(()), |error| Err(BackendError::Kernel { kernel: label.to_owned(), message: error.to_string() }))
    };
    (Pipeline { pipeline, layout }, verdict)
}

fn bind_group_layout(device: &wgpu::Device, label: &str, accesses: &[Access]) -> wgpu::BindGroupLayout {
    let entries = accesses.iter().zip(0..).map(|(&access, binding)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: access == Access::Read },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    });
    let entries: Vec<_> = entries.collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries })
}
