//! The table of settings as the controls show it: rows that make another run, by group, with their values as text.

use palimpsest_spec::{Choice, Correction, Group, Kind, Settings};

/// One row with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Name in links.
    pub(crate) key: &'static str,
    /// Name in the page.
    pub(crate) label: &'static str,
    /// One sentence.
    pub(crate) help: &'static str,
    /// Where it belongs.
    pub(crate) group: Group,
    /// Whether it is in sight without "more".
    pub(crate) essential: bool,
    /// How it is entered.
    pub(crate) field: Field,
    /// Value now, as in a link.
    pub(crate) value: String,
    /// Value unless set, as in a link.
    pub(crate) default: String,
}

impl Line {
    /// Whether it differs from its default.
    pub(crate) fn changed(&self) -> bool {
        self.value != self.default
    }

    /// The default as a person reads it.
    pub(crate) fn default_word(&self) -> String {
        match &self.field {
            Field::Choice(choices) => {
                choices.iter().find(|choice| choice.word == self.default).map_or(self.default.as_str(), |c| c.label).to_owned()
            }
            Field::Flag if self.default == "1" => "on".to_owned(),
            Field::Flag => "off".to_owned(),
            _ => self.default.clone(),
        }
    }
}

/// How a value is entered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field {
    /// A number, with the attributes of its input.
    Number {
        /// Smallest.
        min: String,
        /// Largest.
        max: String,
        /// Distance, or `any`.
        step: String,
    },
    /// On (`1`) or off (`0`).
    Flag,
    /// One of these.
    Choice(Vec<Choice>),
    /// Words separated by commas.
    Text,
}

/// Every row whose change makes another run; what only changes the view has its own place in the page.
pub(crate) fn lines(settings: &Settings) -> Vec<Line> {
    let rows = settings.rows().into_iter().filter(|row| row.needs_restart);
    rows.map(|row| Line {
        key: row.key,
        label: row.label,
        help: row.help,
        group: row.group,
        essential: row.essential,
        value: settings.get(row.key).map(|value| value.to_string()).unwrap_or_default(),
        default: row.default.to_string(),
        field: field(row.kind),
    })
    .collect()
}

fn field(kind: Kind) -> Field {
    match kind {
        Kind::Int { min, max, step } => Field::Number { min: min.to_string(), max: max.to_string(), step: step.to_string() },
        Kind::Float { min, max, .. } => Field::Number { min: min.to_string(), max: max.to_string(), step: "any".to_owned() },
        Kind::Flag => Field::Flag,
        Kind::Choice(choices) => Field::Choice(choices),
        Kind::Words(_) => Field::Text,
    }
}

/// Groups that have rows here, in order.
pub(crate) fn groups(lines: &[Line]) -> Vec<Group> {
    Group::ALL.into_iter().filter(|group| lines.iter().any(|line| line.group == *group)).collect()
}

/// Sets a value from text; what else had to move, or why nothing was set.
pub(crate) fn set(settings: &mut Settings, key: &str, text: &str) -> Vec<Correction> {
    settings.set(key, text).unwrap_or_else(|refused| vec![refused])
}

/// `other` with what only changes the view as it is in `settings`.
pub(crate) fn seen_as(settings: &Settings, mut other: Settings) -> Settings {
    for row in settings.rows().into_iter().filter(|row| !row.needs_restart) {
        if let Some(value) = settings.get(row.key) {
            set(&mut other, row.key, &value.to_string());
        }
    }
    other
}

/// What the chosen rule or task is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct About {
    /// One sentence.
    pub(crate) sentence: String,
    /// The rule's lines; empty for a task.
    pub(crate) equations: Vec<String>,
    /// Its source.
    pub(crate) cites: String,
}

/// About the choice of a group, if it has one to explain.
pub(crate) fn about(settings: &Settings, group: Group) -> Option<About> {
    match group {
        Group::Rule => {
            let rule = settings.rule();
            Some(About { sentence: rule.about().to_owned(), equations: rule.equations(), cites: rule.cites().to_owned() })
        }
        Group::Task => {
            let task = settings.task();
            Some(About { sentence: task.about().to_owned(), equations: Vec::new(), cites: task.cites().to_owned() })
        }
        Group::Model | Group::Training | Group::View => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_a_run_has_a_line_and_can_be_set_back() {
        let settings = Settings::default();
        let all = lines(&settings);
        assert!(all.iter().all(|line| !line.changed()));
        assert!(groups(&all).len() >= 4 && groups(&all).iter().all(|group| all.iter().any(|line| line.group == *group && line.essential)));
        for line in &all {
            let mut copy = settings.clone();
            assert_eq!(set(&mut copy, line.key, &line.default), Vec::<Correction>::new(), "{}", line.key);
            assert!(!line.default_word().is_empty(), "{}", line.key);
        }
    }

    #[test]
    fn a_value_out_of_range_is_moved_and_explained() {
        let mut settings = Settings::default();
        let notes = set(&mut settings, "layers", "900");
        assert_eq!(notes.len(), 1);
        assert!(lines(&settings).iter().any(|line| line.key == "layers" && line.changed()));
        assert!(!set(&mut settings, "layers", "many").is_empty());
    }

    #[test]
    fn loading_a_run_keeps_the_view() {
        let mut settings = Settings::default();
        set(&mut settings, "sample", "7");
        let (run, _) = Settings::from_link("v=1&layers=1");
        let loaded = seen_as(&settings, run);
        assert_eq!((loaded.layers(), loaded.sample()), (1, 7));
    }
}
