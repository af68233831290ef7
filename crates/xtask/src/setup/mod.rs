//! What a fresh machine lacks: looked for first, installed only if absent.

mod node;
mod system;
pub(crate) mod web;

pub(crate) use node::{BROWSER_TESTS, prepare as prepare_node};
pub(crate) use system::{Need, chromium, prepare as prepare_system, software_vulkan};
