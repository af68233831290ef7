//! Parts that know nothing of training.

mod copy_button;
mod heat_map;
mod legend;
mod pixels;
mod width;

pub(crate) use copy_button::{CopyButton, CopyLink};
pub(crate) use heat_map::{Cell, HeatMap};
pub(crate) use legend::Legend;
pub(crate) use pixels::{Grid, Pixels};
pub(crate) use width::width_of;
