//! What every rule must satisfy, and what the compiler does with texts that are no rules.

mod cut;
mod errors;
mod fuzz;
mod gradients;
mod harness;
mod recurrence;
mod reductions;
mod wgsl;
