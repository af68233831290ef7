//! What this browser tells of its GPU.

use crate::adapter_info::AdapterInfo;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::js_sys::{self, Function, Object, Promise, Reflect};

/// The `GPUAdapterInfo` of the adapter that [`palimpsest_gpu::Device::open`] gets: the same request is answered the same way.
/// Empty where the browser tells nothing.
pub(crate) async fn adapter_info() -> AdapterInfo {
    read().await.unwrap_or_default()
}

async fn read() -> Result<AdapterInfo, JsValue> {
    let gpu = get(&get(&js_sys::global(), "navigator")?, "gpu")?;
    let options = Object::new();
    Reflect::set(&options, &"powerPreference".into(), &"high-performance".into())?;
    let request: Function = get(&gpu, "requestAdapter")?.dyn_into()?;
    let asked: Promise = request.call1(&gpu, &options)?.dyn_into()?;
    let info = get(&JsFuture::from(asked).await?, "info")?;
    let text = |name| Ok::<String, JsValue>(get(&info, name)?.as_string().unwrap_or_default());
    Ok(AdapterInfo {
        vendor: text("vendor")?,
        architecture: text("architecture")?,
        device: text("device")?,
        description: text("description")?,
    })
}

fn get(object: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    Reflect::get(object, &name.into())
}
