//! Commands in, events out: the trainer behind a message port.
//!
//! [`Desk`] is the worker without its browser: it carries out one command at a time and trains one burst at a time, so that a
//! message never waits long. `main.rs` connects it to the page.

mod bench;
mod check;
mod desk;
mod device;
mod run;

pub use desk::Desk;
pub use device::Devices;
