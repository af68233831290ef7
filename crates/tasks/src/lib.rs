//! Toy recall tasks: settings, examples, roles.
//!
//! A [`Task`] draws sequences of tokens in which something is written and later asked for. Each task is one file in
//! `src/tasks`; the build lists that folder, and nothing else names a task. [`Stream`] makes seeded examples, [`Batch`]
//! packs them for the model.

mod batch;
mod example;
mod registry;
mod settings;
mod slots;
mod stream;
mod task;

pub use batch::Batch;
pub use example::{Example, Label, Role};
pub use registry::{default, find, tasks};
pub use settings::{SettingKind, TaskSetting, TaskSettings};
pub use stream::Stream;
pub use task::{Legend, Problem, Task};
