//! All tasks, found at build time.

use crate::Task;
use std::sync::LazyLock;

include!(concat!(env!("OUT_DIR"), "/tasks.rs"));

static TASKS: LazyLock<Vec<&'static dyn Task>> = LazyLock::new(|| {
    let mut tasks = FOUND.to_vec();
    tasks.sort_by_key(|task| (task.order(), task.slug()));
    tasks
});

/// All tasks in the order in which they are shown.
pub fn tasks() -> &'static [&'static dyn Task] {
    &TASKS
}

/// The task with this slug.
pub fn find(slug: &str) -> Option<&'static dyn Task> {
    tasks().iter().copied().find(|task| task.slug() == slug)
}

/// The task shown first.
pub fn default() -> &'static dyn Task {
    TASKS[0]
}
