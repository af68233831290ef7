//! Commands and events between the page and its worker.
//!
//! Messages travel as postcard bytes with the protocol's version in front. The page sends commands; the worker answers with events.
//! A command never blocks: its effect shows as events. Numbers are ready to show: the page computes nothing about models.

mod bench;
mod check;
mod command;
mod event;
mod wire;

pub use bench::{BenchCase, BenchRow, Pass, Rates, Timing};
pub use check::CheckRow;
pub use command::{Command, Look, RunId};
pub use event::{Evaluation, Event, Failure, Fallback, Phase, Progress, RunFacts, Sample, SampleLabel, Strip, StripShape};
pub use palimpsest_plan::{Adapter, AdapterKind, Moment, Trace};
pub use wire::{VERSION, WireError, decode, encode};
