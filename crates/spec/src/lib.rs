//! One table of settings, from which controls, the address bar, the command line and validation are made.
//!
//! The table (`table.rs`, seen through [`Settings::rows`]) lists every setting once; a task adds its own. [`Settings`] holds the
//! values of a run: read from a link ([`Settings::from_link`] moves what is wrong to the nearest valid value and says so,
//! [`Settings::from_text_strict`] refuses it), written back as one ([`Settings::to_link`]), changed by name
//! ([`Settings::set`]).

mod access;
mod check;
mod correction;
mod difference;
mod help;
mod kind;
mod link;
mod read;
mod settings;
mod size;
mod table;
mod words;

pub use correction::Correction;
pub use difference::describe_difference;
pub use help::{example, help_text};
pub use kind::{Choice, Kind, Value};
pub use settings::Settings;
pub use table::{Group, MOST_SEEDS, MOST_TOKENS_PER_CHUNK, Row};
pub use words::{Backend, DecayForm, Form, Schedule, Theme};

/// Version of links that this crate writes, and the newest it knows.
pub const VERSION: u32 = 1;
