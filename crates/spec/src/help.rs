//! The table as text, for the command line.

use crate::table::TABLE;
use crate::{Group, Row};
use palimpsest_tasks::tasks;
use std::fmt::Write as _;

/// Settings as they are written, from the defaults of the registries.
pub fn example() -> String {
    format!("task={}&lr=0.001&steps=500", palimpsest_tasks::default().slug())
}

/// All settings by group, with range, default and meaning; each task's own after the group of the task.
pub fn help_text() -> String {
    let mut text = format!("Settings are written key=value and joined by &, as in the page's address:\n  {}\n", example());
    for group in Group::ALL {
        section(&mut text, group.label(), TABLE.iter().filter(|row| row.group == group).cloned());
        if group == Group::Task {
            for task in tasks() {
                section(&mut text, &format!("Task {}: {}", task.slug(), task.about()), task.settings().iter().map(Row::from));
            }
        }
    }
    text
}

fn section(text: &mut String, title: &str, rows: impl Iterator<Item = Row>) {
    // writing to a string cannot fail
    let _ = writeln!(text, "\n{title}");
    for row in rows {
        let default = match row.default.to_string() {
            default if default.is_empty() => "none".to_owned(),
            default => default,
        };
        let _ = writeln!(text, "  {:<18} {} [{}; default {default}]", row.key, row.help, row.kind.range());
    }
}
