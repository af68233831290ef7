//! Model, trainer, evaluation, statistics.
//!
//! [`Recipe`] and [`ModelShape`] are read from settings, [`Model`] records the plan, [`Engine`] makes a session of it on either
//! backend, and [`Trainer`] runs it: bursts of steps, held-out accuracy, samples, and the memory over a sample. A [`Stack`] does that
//! for several seeds at once.

mod any_stack;
mod engine;
mod error;
mod evaluation;
mod form;
mod look;
mod mixer;
mod model;
mod pace;
mod recipe;
mod schedule;
mod shape;
mod side_by_side;
mod stack;
mod statistics;
mod strips;
mod trainer;

pub use any_stack::AnyStack;
pub use engine::{AnySession, Engine};
pub use error::TrainError;
pub use evaluation::LEARNED;
pub use form::{choose_form, form_run};
pub use look::View;
pub use model::{Model, ScanLayer};
pub use recipe::Recipe;
pub use schedule::{FLOOR, Schedule, Shape};
pub use shape::ModelShape;
pub use stack::{PerRun, Stack};
pub use statistics::wilson;
pub use trainer::Trainer;
