//! Which device computes, and why.

use palimpsest_gpu::Device;
use palimpsest_plan::{Adapter, AdapterKind, BackendError};
use palimpsest_protocol::{Event, Fallback};
use palimpsest_train::Engine;

/// The GPU if it could be opened, else why not.
pub struct Devices {
    gpu: Result<Device, Fallback>,
    /// What the browser tells of the GPU; `None` where it tells nothing, or there is no browser.
    told: Option<String>,
}

impl Devices {
    /// Opens the GPU.
    pub async fn open() -> Devices {
        let gpu = open_patiently().await.map_err(fallback);
        #[cfg(target_arch = "wasm32")]
        let told = if gpu.is_ok() { crate::browser::adapter_info().await.name() } else { None };
        #[cfg(not(target_arch = "wasm32"))]
        let told = None;
        Devices { gpu, told }
    }

    /// No GPU, because the caller wants none.
    pub fn cpu_only() -> Devices {
        Devices { gpu: Err(Fallback::Asked), told: None }
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
        Event::Device { adapter: self.adapter(&engine), fallback }
    }

    /// What computes, in the page's words.
    pub(crate) fn adapter(&self, engine: &Engine) -> Adapter {
        match engine {
            Engine::Gpu(device) => self.named(device.adapter().clone()),
            Engine::Cpu => cpu_adapter(),
        }
    }

    /// An adapter under the name that the browser gives it: wgpu passes on only its description, which browsers leave empty.
    pub(crate) fn named(&self, adapter: Adapter) -> Adapter {
        match &self.told {
            Some(name) if adapter.kind == AdapterKind::Gpu => Adapter { name: name.clone(), ..adapter },
            _ => adapter,
        }
    }
}

/// Opens the GPU. A browser whose GPU process is only starting, or has just ended, gives no adapter for a moment: it is asked again.
#[cfg(target_arch = "wasm32")]
async fn open_patiently() -> Result<Device, BackendError> {
    const PAUSES_MS: [u32; 3] = [100, 300, 900];
    for pause in PAUSES_MS {
        match Device::open(Default::default()).await {
            Err(BackendError::NoAdapter(_)) => gloo::timers::future::TimeoutFuture::new(pause).await,
            opened => return opened,
        }
    }
    Device::open(Default::default()).await
}

#[cfg(not(target_arch = "wasm32"))]
async fn open_patiently() -> Result<Device, BackendError> {
    Device::open(Default::default()).await
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
        error @ (BackendError::Limit { .. } | BackendError::Memory { .. }) => Fallback::Limit(error.to_string()),
        error => Fallback::NoAdapter(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_too_large_leaves_the_gpu_to_others() {
        let large = [BackendError::Limit { what: "a buffer".into(), needed: 9, limit: 8 }, BackendError::Memory { needed: 9, limit: None }];
        assert!(large.into_iter().all(|error| matches!(fallback(error), Fallback::Limit(_))));
        assert!(!matches!(fallback(BackendError::Refused("busy".into())), Fallback::Limit(_)));
    }

    #[test]
    fn only_the_gpu_takes_the_name_of_the_browser() {
        let devices = Devices { gpu: Err(Fallback::Asked), told: Some("apple metal-3".into()) };
        let gpu = Adapter { kind: AdapterKind::Gpu, name: "GPU without a name".into(), interface: "BrowserWebGpu".into() };
        assert_eq!(devices.named(gpu.clone()).name, "apple metal-3");
        assert_eq!(devices.named(cpu_adapter()), cpu_adapter());
        assert_eq!(Devices::cpu_only().named(gpu).name, "GPU without a name");
    }
}
