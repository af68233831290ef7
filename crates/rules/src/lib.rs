//! Update rules as equations.
//!
//! A rule is a short text: what it needs from the layer (gates, decay, directions, parameters), a few definitions, and one or
//! more rank-one steps. This crate parses it ([`Rule::parse`]), types it, evaluates it and its reverse-mode gradient on the CPU
//! ([`Program`]), and writes both as WGSL ([`Rule::wgsl_map`], [`Rule::wgsl_map_gradient`]). It knows no GPU and no files, so
//! that it also runs in a page.

mod declaration;
mod error;
mod gradient;
mod graph;
mod layout;
mod lower;
mod program;
mod quote;
mod registry;
mod rule;
mod syntax;
mod token;
mod wgsl;

pub use error::RuleError;
pub use graph::{Kind, Scope};
pub use layout::{InputLayout, StepLayout, StepSlots};
pub use program::{Program, Scratch};
pub use quote::{clipped, printable, quoted};
pub use registry::{default_rule, find, rules};
pub use rule::{Input, Rule, Source, StepParts};
