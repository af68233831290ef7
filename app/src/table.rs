//! The table of settings as the controls need it.

use palimpsest_spec::Settings;

/// A group of rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) key: String,
    pub(crate) label: String,
    pub(crate) help: String,
    pub(crate) essential: bool,
    pub(crate) field: Field,
    pub(crate) value: String,
    pub(crate) default: String,
}

impl Row {
    pub(crate) fn changed(&self) -> bool {
        self.value != self.default
    }
    pub(crate) fn default_word(&self) -> String {
        self.default.clone()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field {
    Number { min: String, max: String, step: String },
    Flag,
    Choice(Vec<(String, String)>),
    Text,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct About {
    pub(crate) sentence: String,
    pub(crate) equations: Vec<String>,
    pub(crate) cites: String,
}

pub(crate) fn groups(settings: &Settings) -> Vec<Group> {
    ["Rule", "Task", "Model", "Training"]
        .iter()
        .map(|title| Group {
            title,
            rows: palimpsest_spec::ROWS
                .iter()
                .filter(|r| r.3 == *title)
                .map(|r| Row {
                    key: r.0.into(),
                    label: r.1.into(),
                    help: r.2.into(),
                    essential: r.5,
                    value: settings.get(r.0),
                    default: r.4.into(),
                    field: match r.0 {
                        "rule" => Field::Choice(palimpsest_rules::rules().iter().map(|r| (r.slug().into(), r.name().into())).collect()),
                        "task" => Field::Choice(vec![("mqar".into(), "Multi-query recall".into())]),
                        "conv" => Field::Flag,
                        _ => Field::Number { min: "0".into(), max: "100".into(), step: "any".into() },
                    },
                })
                .collect(),
        })
        .collect()
}
pub(crate) fn set(settings: &mut Settings, key: &str, value: &str) {
    settings.set(key, value)
}
pub(crate) fn about(settings: &Settings, title: &str) -> Option<About> {
    (title == "Rule").then(|| About {
        sentence: settings.rule().about().into(),
        equations: settings.rule().equations(),
        cites: settings.rule().cites().into(),
    })
}
