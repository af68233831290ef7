//! Model, trainer, evaluation, statistics.
//!
//! [`Recipe`] and [`ModelShape`] are read from settings, [`Model`] records the plan, [`Engine`] makes a session of it on either
//! backend, and [`Trainer`] runs it: bursts of steps, held-out accuracy, samples, and the memory over a sample.

mod engine;
mod error;
mod form;
mod mixer;
mod model;
mod pace;
mod recipe;
mod schedule;
mod shape;
mod statistics;
mod strips;
mod trainer;

pub use engine::{AnySession, Engine};
pub use error::TrainError;
pub use form::choose_form;
pub use model::{Model, ScanLayer};
pub use recipe::Recipe;
pub use schedule::{FLOOR, Schedule, Shape};
pub use shape::ModelShape;
pub use statistics::wilson;
pub use trainer::{LEARNED, Trainer, View};
