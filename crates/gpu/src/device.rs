//! The GPU: choosing an adapter, opening it, and hearing of its faults.

use crate::kernel::Limits;
use crate::pipeline::Pipelines;
use palimpsest_plan::{Adapter, AdapterKind, BackendError};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which adapter to open.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Part of the adapter's name, in any case; the fastest kind of adapter when absent. A browser chooses by itself.
    pub adapter: Option<String>,
}

impl Options {
    /// What the environment variable `PALIMPSEST_ADAPTER` asks for.
    pub fn from_env() -> Options {
        Options { adapter: std::env::var("PALIMPSEST_ADAPTER").ok().filter(|name| !name.is_empty()) }
    }
}

/// An open GPU. Cheap to clone; all clones share pipelines and faults.
#[derive(Clone, Debug)]
pub struct Device {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) limits: Limits,
    pub(crate) timestamps: bool,
    pub(crate) pipelines: Rc<RefCell<Pipelines>>,
    adapter: Adapter,
    faults: Arc<Faults>,
}

/// What went wrong outside any call: written by the driver's callbacks, read at the next call.
#[derive(Debug, Default)]
struct Faults {
    lost: Mutex<Option<String>>,
    errors: Mutex<Vec<String>>,
}

/// A poisoned lock still holds whole messages.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    /// Opens an adapter with all that it offers: its own limits, and timestamps and subgroups where it has them.
    ///
    /// # Errors
    /// [`BackendError::NoWebGpu`] in a browser (or worker) without WebGPU, [`BackendError::NoAdapter`] when none fits,
    /// [`BackendError::Refused`] when the adapter gives no device.
    pub async fn open(options: Options) -> Result<Device, BackendError> {
        if !webgpu_present() {
            return Err(BackendError::NoWebGpu);
        }
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::BROWSER_WEBGPU;
        // Validation layers cost a multiple of a small kernel's time; wgpu's own checks stay.
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let adapter = choose(&instance, &options).await?;
        let info = adapter.get_info();
        let wanted = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SUBGROUP;
        let features = adapter.features() & wanted;
        let description = wgpu::DeviceDescriptor {
            label: Some("palimpsest"),
            required_features: features,
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let opened = adapter.request_device(&description).await;
        let (device, queue) = opened.map_err(|error| BackendError::Refused(format!("no device on {}: {error}", info.name)))?;
        let faults = Arc::new(Faults::default());
        let for_errors = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| lock(&for_errors.errors).push(error.to_string())));
        let for_loss = Arc::clone(&faults);
        device.set_device_lost_callback(move |reason, message| {
            *lock(&for_loss.lost) = Some(if message.is_empty() { format!("{reason:?}") } else { message });
        });
        let subgroup = features.contains(wgpu::Features::SUBGROUP).then_some((info.subgroup_min_size, info.subgroup_max_size));
        Ok(Device {
            limits: limits(&device.limits(), subgroup, info.device_type == wgpu::DeviceType::Cpu),
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            pipelines: Rc::default(),
            adapter: Adapter { kind: AdapterKind::Gpu, name: name(&info), interface: format!("{:?}", info.backend) },
            device,
            queue,
            faults,
        })
    }

    /// What computes.
    pub fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// Whether GPU time can be measured by timestamps.
    pub fn has_timestamps(&self) -> bool {
        self.timestamps
    }

    /// Why the device was lost, once it is.
    pub fn lost(&self) -> Option<String> {
        lock(&self.faults.lost).clone()
    }

    /// Whether all is well since the last check.
    pub(crate) fn check(&self) -> Result<(), BackendError> {
        if let Some(reason) = self.lost() {
            return Err(BackendError::DeviceLost(reason));
        }
        match lock(&self.faults.errors).drain(..).next() {
            Some(error) => Err(BackendError::Refused(error)),
            None => Ok(()),
        }
    }

    /// Waits until all submitted work is done; a browser does that by itself while the caller awaits.
    pub(crate) fn wait(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<(), BackendError> {
        let waited = self.device.poll(wgpu::PollType::Wait { submission_index: submission, timeout: None });
        self.check()?;
        waited.map(|_| ()).map_err(|error| BackendError::DeviceLost(error.to_string()))
    }
}

/// Browsers often hide the adapter's name; say at least who made it.
fn name(info: &wgpu::AdapterInfo) -> String {
    let parts = [&info.name, &info.driver, &info.driver_info];
    parts.into_iter().find(|part| !part.is_empty()).cloned().unwrap_or_else(|| "GPU without a name".to_owned())
}

fn limits(limits: &wgpu::Limits, subgroup: Option<(u32, u32)>, software: bool) -> Limits {
    Limits {
        storage_buffers: limits.max_storage_buffers_per_shader_stage,
        workgroup_bytes: limits.max_compute_workgroup_storage_size,
        invocations: limits.max_compute_invocations_per_workgroup,
        groups: limits.max_compute_workgroups_per_dimension,
        binding_bytes: limits.max_storage_buffer_binding_size,
        buffer_bytes: limits.max_buffer_size,
        subgroup,
        software,
    }
}

#[cfg(target_arch = "wasm32")]
fn webgpu_present() -> bool {
    // In a page and in a worker alike. wgpu's own check also asks for an adapter, so it cannot tell the two apart.
    let navigator = js_sys::Reflect::get(&js_sys::global(), &"navigator".into());
    let gpu = navigator.and_then(|navigator| js_sys::Reflect::get(&navigator, &"gpu".into()));
    gpu.is_ok_and(|gpu| !gpu.is_undefined() && !gpu.is_null())
}

#[cfg(not(target_arch = "wasm32"))]
fn webgpu_present() -> bool {
    true
}

#[cfg(target_arch = "wasm32")]
async fn choose(instance: &wgpu::Instance, _options: &Options) -> Result<wgpu::Adapter, BackendError> {
    let options = wgpu::RequestAdapterOptions { power_preference: wgpu::PowerPreference::HighPerformance, ..Default::default() };
    instance.request_adapter(&options).await.map_err(|_| BackendError::NoAdapter("the browser has WebGPU but gives no adapter".to_owned()))
}

#[cfg(not(target_arch = "wasm32"))]
async fn choose(instance: &wgpu::Instance, options: &Options) -> Result<wgpu::Adapter, BackendError> {
    let adapters = instance.enumerate_adapters(wgpu::Backends::VULKAN).await;
    let names: Vec<String> = adapters.iter().map(|adapter| adapter.get_info().name).collect();
    let wanted = options.adapter.as_deref().unwrap_or_default().to_lowercase();
    let fits = |adapter: &wgpu::Adapter| adapter.get_info().name.to_lowercase().contains(&wanted);
    let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    adapters.into_iter().filter(fits).min_by_key(rank).ok_or_else(|| {
        BackendError::NoAdapter(match (names.is_empty(), wanted.is_empty()) {
            (true, _) | (_, true) => "no Vulkan adapter".to_owned(),
            _ => format!("no adapter's name contains '{}'; there are {}", palimpsest_rules::quoted(&wanted), names.join(", ")),
        })
    })
}
