//! Commands in, events out: the trainer behind a message port.
//!
//! [`Desk`] is the worker without its browser: it carries out one command at a time and trains one burst at a time, so that a
//! message never waits long. `main.rs` connects it to the page.

#[cfg(any(target_arch = "wasm32", test))]
mod adapter_info;
mod bench;
#[cfg(target_arch = "wasm32")]
mod browser;
mod check;
mod desk;
mod device;
mod run;

pub use desk::Desk;
pub use device::Devices;
