//! Short names for runs, made from what differs.

use crate::{Kind, Row, Settings, Value};

/// What `b` has other than `a`, as `QED, lr 0.001`. What needs no new start does not count. The rule's name if nothing differs.
pub fn describe_difference(a: &Settings, b: &Settings) -> String {
    let parts: Vec<String> = differences(a, b).map(|(row, value)| describe(&row, &value)).collect();
    if parts.is_empty() { b.rule().name().to_owned() } else { parts.join(", ") }
}

impl Settings {
    /// A name for the run: its rule, then what differs from the defaults, as `QED, pairs 8, seed 3`.
    pub fn name(&self) -> String {
        let default = Settings::default();
        let rest = differences(&default, self).filter(|(row, _)| row.key != "rule");
        let parts: Vec<String> = rest.map(|(row, value)| describe(&row, &value)).collect();
        std::iter::once(self.rule().name().to_owned()).chain(parts).collect::<Vec<_>>().join(", ")
    }
}

/// Rows of `b` whose value is another than in `a`, or than the default where `a` has no such row.
fn differences(a: &Settings, b: &Settings) -> impl Iterator<Item = (Row, Value)> {
    let changed = |row: Row| {
        let before = a.get(row.key).unwrap_or_else(|| row.default.clone());
        b.get(row.key).filter(|value| row.needs_restart && *value != before).map(|value| (row, value))
    };
    b.rows().into_iter().filter_map(changed)
}

fn describe(row: &Row, value: &Value) -> String {
    let word = row.key.replace('_', " ");
    match &row.kind {
        Kind::Flag if value.number() == 0.0 => format!("no {word}"),
        Kind::Flag => word,
        // rule and task have names of their own, which need no "rule" or "task" before them
        Kind::Choice(choices) if row.essential => {
            choices.iter().find(|choice| choice.word == value.word()).map_or_else(|| value.to_string(), |choice| choice.label.to_owned())
        }
        _ => format!("{word} {value}"),
    }
}
