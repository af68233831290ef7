//! Geometry, colour and words of the figures: plain functions, tested natively.

mod axis;
mod colour;
mod mark;
mod matrix;
mod series;
mod words;

pub(crate) use axis::Axis;
pub(crate) use colour::{Ground, Maps, Sign};
pub(crate) use mark::{COLOURS, Mark};
pub(crate) use matrix::{difference, glance, largest};
pub(crate) use series::{bounds, path, thin, value_at};
pub(crate) use words::{count, duration, number, percent, percent_interval, rate, tick};
