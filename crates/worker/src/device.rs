//! Which device computes, and why.

use palimpsest_gpu::Device;
use palimpsest_plan::{Adapter, AdapterKind, BackendError};
use palimpsest_protocol::{Event, Fallback};
use palimpsest_train::Engine;

/// The GPU if it could be opened, else why not.
pub struct Devices {
    gpu: Result<Device, Fallback>,
}

impl Devices {
    /// Opens the GPU.
    pub async fn open() -> Devices {
        Devices { gpu: Device::open(Default::default()).await.map_err(fallback) }
    }

    /// No GPU, because the caller wants none.
    pub fn cpu_only() -> Devices {
        Devices { gpu: Err(Fallback::Asked) }
    }

    /// Gives the GPU up for the rest of the session.
    pub(crate) fn lose(&mut self, reason: Fallback) {
        self.gpu = Err(reason);
    }

    /// The engine for a run, and why it is the CPU if it is.
    pub(crate) fn engine(&self, wants_cpu: bool) -> (Engine, Option<Fallback>) {
        match &self.gpu {
            _ if wants_cpu => (Engine::Cpu, Some(Fallback::Asked)),
            Ok(device) => (Engine::Gpu(device.clone()), None),
            Err(reason) => (Engine::Cpu, Some(reason.clone())),
        }
    }

    /// The engine as an event.
    pub fn event(&self, wants_cpu: bool) -> Event {
        let (engine, fallback) = self.engine(wants_cpu);
        Event::Device { adapter: adapter(&engine), fallback }
    }
}

/// What computes, in the page's words.
pub(crate) fn adapter(engine: &Engine) -> Adapter {
    match engine {
        Engine::Gpu(device) => device.adapter().clone(),
        Engine::Cpu => cpu_adapter(),
    }
}

/// The CPU as an adapter.
pub(crate) fn cpu_adapter() -> Adapter {
    Adapter { kind: AdapterKind::Cpu, name: "this processor".to_owned(), interface: "one thread".to_owned() }
}

/// The reason in the protocol's words.
pub(crate) fn fallback(error: BackendError) -> Fallback {
    match error {
        BackendError::NoWebGpu => Fallback::NoWebGpu,
        BackendError::NoAdapter(reason) => Fallback::NoAdapter(reason),
        BackendError::DeviceLost(reason) => Fallback::DeviceLost(reason),
        error @ BackendError::Limit { .. } => Fallback::Limit(error.to_string()),
        error => Fallback::NoAdapter(error.to_string()),
    }
}
