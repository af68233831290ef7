//! What the page knows: plain structs that learn from events, held in one store.
//!
//! Each part has `apply(&Event) -> bool`, which says whether it changed, so that only the views of that part run again.

mod archive;
mod bench;
mod by_rule;
mod check;
mod marks;
mod names;
mod primary;
mod queue;
mod runs;
mod sentences;
mod view;
mod worker_link;

pub(crate) use archive::{keep, recall};
pub(crate) use bench::Bench;
pub(crate) use by_rule::by_rule;
pub(crate) use check::Check;
pub(crate) use primary::Primary;
pub(crate) use queue::{Next, Queue};
pub(crate) use runs::{Run, Runs};
pub(crate) use sentences::{badge, fallback, standing};
pub(crate) use view::{Frame, Traced, View};
pub(crate) use worker_link::WorkerLink;

#[cfg(test)]
pub(crate) use bench::tests as bench_support;
#[cfg(test)]
pub(crate) use runs::tests as tests_support;

use leptos::prelude::Update;
use palimpsest_protocol::Event;
use reactive_stores::Store;

/// Everything that comes from the worker, and the queue of what it is to do.
#[derive(Clone, Debug, Default, Store)]
pub(crate) struct Session {
    /// Whether the worker lives, and on what it computes.
    pub(crate) worker_link: WorkerLink,
    /// All runs, the current one last opened.
    pub(crate) runs: Runs,
    /// Sample and memory of the current run.
    pub(crate) view: View,
    /// The self-check.
    pub(crate) check: Check,
    /// The benchmark.
    pub(crate) bench: Bench,
    /// Runs still to train in turn.
    pub(crate) queue: Queue,
}

/// Passes an event to every part; parts that it does not concern are not touched.
pub(crate) fn hear(session: Store<Session>, event: &Event) {
    session.worker_link().try_maybe_update(|part| (part.apply(event), ()));
    session.runs().try_maybe_update(|part| (part.apply(event), ()));
    session.view().try_maybe_update(|part| (part.apply(event), ()));
    session.check().try_maybe_update(|part| (part.apply(event), ()));
    session.bench().try_maybe_update(|part| (part.apply(event), ()));
}
