//! Names of runs by what differs between them.

use palimpsest_spec::{Row, Settings};

/// One name for each of these settings: the rule, then the value of every setting in which not all of them agree.
pub(crate) fn names(all: &[Settings]) -> Vec<String> {
    all.iter()
        .map(|settings| {
            let rows = settings.rows().into_iter().filter(|row| row.needs_restart && row.key != "rule" && !agreed(all, row));
            let parts = rows.map(|row| part(settings, &row));
            std::iter::once(settings.rule().name().to_owned()).chain(parts).collect::<Vec<_>>().join(", ")
        })
        .collect()
}

/// Whether all settings that have this row have the same value.
fn agreed(all: &[Settings], row: &Row) -> bool {
    let mut values = all.iter().filter_map(|settings| settings.get(row.key));
    let first = values.next();
    values.all(|value| Some(value) == first)
}

fn part(settings: &Settings, row: &Row) -> String {
    let value = settings.get(row.key).map(|value| value.to_string()).unwrap_or_default();
    format!("{} {value}", row.key.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(links: &[&str]) -> Vec<String> {
        names(&links.iter().map(|link| Settings::from_link(link).0).collect::<Vec<_>>())
    }

    #[test]
    fn what_all_share_is_not_said() {
        let rule = Settings::default().rule().name().to_owned();
        assert_eq!(named(&["v=1&width=32"]), std::slice::from_ref(&rule));
        assert_eq!(named(&["v=1&width=32&seed=1", "v=1&width=32"]), [format!("{rule}, seed 1"), format!("{rule}, seed 0")]);
    }

    #[test]
    fn rules_alone_tell_runs_apart() {
        let rules: Vec<_> = palimpsest_rules::rules().iter().take(2).collect();
        let links: Vec<String> = rules.iter().map(|rule| format!("v=1&rule={}", rule.slug())).collect();
        let found = named(&links.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found, rules.iter().map(|rule| rule.name().to_owned()).collect::<Vec<_>>());
    }
}
