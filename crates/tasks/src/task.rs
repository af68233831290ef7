//! What a task is.

use crate::{Example, Role, TaskSetting, TaskSettings};
use rand_pcg::Pcg64;
use thiserror::Error;

/// A setting that is in its own range but does not fit the others.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{key} is {message}: the nearest that fits is {nearest}")]
pub struct Problem {
    /// Key of the setting to change.
    pub key: &'static str,
    /// What is wrong, to follow "is", as `out of range 1 to 16 for length 64`.
    pub message: String,
    /// The nearest value that fits the other settings as they are.
    pub nearest: f64,
}

/// What the tokens of one role mean in this task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Legend {
    /// The role.
    pub role: Role,
    /// A few words, as `key to remember`.
    pub text: &'static str,
}

impl Legend {
    /// The words for a role; empty for one that the task does not use.
    pub fn text(all: &[Legend], role: Role) -> &'static str {
        all.iter().find(|legend| legend.role == role).map_or("", |legend| legend.text)
    }
}

/// A recall task. To add one, add a file to `src/tasks` with a unit struct that implements this and
/// `pub(super) const TASK: &dyn Task`.
pub trait Task: Send + Sync {
    /// Short name in links and on the command line; the file's stem.
    fn slug(&self) -> &'static str;
    /// Name in the page.
    fn name(&self) -> &'static str;
    /// One sentence.
    fn about(&self) -> &'static str;
    /// Where the task comes from.
    fn cites(&self) -> &'static str;
    /// Place in lists; the lowest is the default task.
    fn order(&self) -> u32;
    /// What can be set, `length` among it; at most [`TaskSettings::MOST`].
    fn settings(&self) -> &'static [TaskSetting];
    /// The roles that occur, with their meaning.
    fn legend(&self) -> &'static [Legend];
    /// Number of token ids; ids are `0..vocabulary`.
    fn vocabulary(&self, settings: &TaskSettings) -> usize;
    /// Labels per example, L: the same for every example, 1 or more, and independent of `length`.
    fn labels_per_example(&self, settings: &TaskSettings) -> usize;
    /// Whether settings that are each in range fit together; else one to change. Changing it as said, and asking again, ends.
    fn check(&self, settings: &TaskSettings) -> Result<(), Problem>;
    /// Draws one example. The settings have passed [`Task::check`].
    fn sample(&self, settings: &TaskSettings, rng: &mut Pcg64) -> Example;
    /// A token as a person reads it: `k3`, `v7`, `·`.
    fn token_text(&self, settings: &TaskSettings, token: u32) -> String;
    /// The defaults.
    fn defaults(&self) -> TaskSettings {
        TaskSettings::new(self.settings())
    }
}
