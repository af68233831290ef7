//! The values of a run's settings.

use crate::check::repair;
use crate::correction::Correction;
use crate::table::{Row, TABLE};
use crate::{Group, Value};
use palimpsest_tasks::{Task, TaskSettings};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A valid set of values: one for every row of the table and every setting of the task. Serialised as its link.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub struct Settings {
    /// In the order of the table.
    pub(crate) values: Vec<Value>,
    pub(crate) task: &'static dyn Task,
    pub(crate) task_settings: TaskSettings,
}

impl Default for Settings {
    fn default() -> Settings {
        let task = palimpsest_tasks::default();
        Settings { values: TABLE.iter().map(|row| row.default.clone()).collect(), task, task_settings: task.defaults() }
    }
}

impl PartialEq for Settings {
    fn eq(&self, other: &Settings) -> bool {
        // the task is one of the values
        self.values == other.values && self.task_settings == other.task_settings
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Settings({})", self.to_link())
    }
}

impl From<Settings> for String {
    fn from(settings: Settings) -> String {
        settings.to_link()
    }
}

impl From<String> for Settings {
    fn from(link: String) -> Settings {
        Settings::from_link(&link).0
    }
}

impl Settings {
    /// All settings that the chosen task has, in order: the task's own follow `task`.
    pub fn rows(&self) -> Vec<Row> {
        rows_with(self.task)
    }

    /// The row of a key that the chosen task has.
    pub fn row(&self, key: &str) -> Option<Row> {
        let own = || self.task.settings().iter().find(|setting| setting.key == key).map(Row::from);
        TABLE.iter().find(|row| row.key == key).cloned().or_else(own)
    }

    /// The value of a key, if the chosen task has it.
    pub fn get(&self, key: &str) -> Option<Value> {
        match index(key) {
            Some(index) => Some(self.values[index].clone()),
            None => self.task_settings.get(key).map(Value::Number),
        }
    }

    /// Whether a key's value is not its default.
    pub fn differs(&self, key: &str) -> bool {
        self.row(key).is_some_and(|row| self.get(key) != Some(row.default))
    }

    /// Sets a key from text to the nearest valid value, then moves others that no longer fit. Says what was changed besides
    /// what was asked; `Err` when there is no such key, or the text is neither a number nor a word that was meant.
    pub fn set(&mut self, key: &str, text: &str) -> Result<Vec<Correction>, Correction> {
        let Some(row) = self.row(key) else { return Err(Correction::unknown(key, self)) };
        let text = text.trim();
        let (value, wrong) = row.kind.read(text).map_err(|wrong| {
            let kept = self.get(key).unwrap_or(row.default.clone());
            Correction::meaningless(row.key, text, &wrong, &kept)
        })?;
        let mut notes = Vec::new();
        if let Some(wrong) = wrong {
            notes.push(Correction::moved(row.key, text, &wrong, &value));
        }
        self.put(row.key, value);
        repair(self, &[(row.key, text.to_owned())], &mut notes);
        Ok(notes)
    }

    /// Sets a key back to its default.
    pub fn reset(&mut self, key: &str) -> Vec<Correction> {
        let default = self.row(key).map(|row| row.default.to_string());
        default.and_then(|default| self.set(key, &default).ok()).unwrap_or_default()
    }

    /// Whether both make the same run: they differ at most in what needs no new start.
    pub fn same_run(&self, other: &Settings) -> bool {
        let same = |row: &Row, a: &Value, b: &Value| !row.needs_restart || a == b;
        self.task_settings == other.task_settings && TABLE.iter().zip(&self.values).zip(&other.values).all(|((row, a), b)| same(row, a, b))
    }

    /// Stores a value that the row allows; a change of task keeps what both tasks have and the person has changed.
    pub(crate) fn put(&mut self, key: &'static str, value: Value) {
        let Some(index) = index(key) else {
            self.task_settings.set(key, value.number());
            return;
        };
        self.values[index] = value;
        let task = palimpsest_tasks::find(self.word("task")).unwrap_or(self.task);
        if task.slug() == self.task.slug() {
            return;
        }
        let (old, mut new) = (self.task_settings, task.defaults());
        for setting in task.settings() {
            let before = old.declared().iter().find(|before| before.key == setting.key);
            let value = old.get(setting.key);
            if let (Some(before), Some(value)) = (before, value)
                && value != before.default
            {
                new.set(setting.key, setting.kind.nearest(value));
            }
        }
        (self.task, self.task_settings) = (task, new);
    }

    pub(crate) fn number(&self, key: &str) -> f64 {
        self.get(key).map_or(0.0, |value| value.number())
    }

    pub(crate) fn int(&self, key: &str) -> usize {
        self.number(key) as usize
    }

    pub(crate) fn word(&self, key: &str) -> &'static str {
        self.get(key).map_or("", |value| value.word())
    }
}

fn index(key: &str) -> Option<usize> {
    TABLE.iter().position(|row| row.key == key)
}

/// The table with a task's own settings after those of its group.
pub(crate) fn rows_with(task: &dyn Task) -> Vec<Row> {
    let mut rows = TABLE.clone();
    let after = rows.iter().rposition(|row| row.group == Group::Task).map_or(0, |last| last + 1);
    rows.splice(after..after, task.settings().iter().map(Row::from));
    rows
}
