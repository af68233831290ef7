//! The worker's thread: bytes from the page become commands, events become bytes.

#[cfg(target_arch = "wasm32")]
mod port;

#[cfg(target_arch = "wasm32")]
fn main() {
    console_error_panic_hook::set_once();
    wasm_bindgen_futures::spawn_local(port::serve());
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("palimpsest-worker runs in a browser's worker: build it for wasm32-unknown-unknown");
    std::process::exit(2);
}
