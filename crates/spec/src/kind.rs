//! What a setting may be, and the value it has.

use palimpsest_rules::quoted;
use palimpsest_tasks::SettingKind;
use std::fmt;

/// One word to choose, with its name in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// In links.
    pub word: &'static str,
    /// In the page.
    pub label: &'static str,
}

/// Range of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Whole number: `min`, `min + step`, ... up to `max`.
    Int {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
        /// Distance between neighbours, 1 or more.
        step: u32,
    },
    /// Real number.
    Float {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
        /// Whether a slider should be logarithmic.
        log: bool,
    },
    /// 0 or 1.
    Flag,
    /// One word.
    Choice(Vec<Choice>),
    /// Any number of different words, separated by commas.
    Words(Vec<Choice>),
}

/// Value of a setting. Its text is what stands in a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of an int, a float or a flag (0 or 1).
    Number(f64),
    /// Of a choice.
    Word(&'static str),
    /// Of words, in the order given.
    Words(Vec<&'static str>),
}

impl Value {
    /// The number; 0 for words.
    pub fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            Value::Word(_) | Value::Words(_) => 0.0,
        }
    }

    /// The word; empty for anything else.
    pub fn word(&self) -> &'static str {
        match self {
            Value::Word(word) => word,
            Value::Number(_) | Value::Words(_) => "",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Word(word) => f.write_str(word),
            Value::Words(words) => f.write_str(&words.join(",")),
        }
    }
}

impl From<SettingKind> for Kind {
    fn from(kind: SettingKind) -> Kind {
        match kind {
            SettingKind::Int { min, max, step } => Kind::Int { min, max, step },
            SettingKind::Float { min, max } => Kind::Float { min, max, log: false },
            SettingKind::Flag => Kind::Flag,
        }
    }
}

impl Kind {
    /// What is valid, as `8 to 32768 in steps of 2`.
    pub fn range(&self) -> String {
        match self {
            Kind::Int { min, max, step: 1 } => format!("{min} to {max}"),
            Kind::Int { min, max, step } => format!("{min} to {max} in steps of {step}"),
            Kind::Float { min, max, .. } => format!("{min} to {max}"),
            Kind::Flag => "0 or 1".to_owned(),
            Kind::Choice(choices) => words(choices),
            Kind::Words(choices) => format!("any of {}", words(choices)),
        }
    }

    /// The valid value nearest to `text`, and what is wrong with `text`, to follow "is"; `Err` when no number or word is near.
    pub(crate) fn read(&self, text: &str) -> Result<(Value, Option<String>), String> {
        match self {
            Kind::Int { min, max, step } => {
                let number = number(text)?;
                let nearest = SettingKind::Int { min: *min, max: *max, step: *step }.nearest(number);
                let wrong = (nearest != number).then(|| {
                    let inside = (f64::from(*min)..=f64::from(*max)).contains(&number);
                    match step {
                        _ if !inside => format!("out of range {min} to {max}"),
                        1 => format!("not a whole number from {min} to {max}"),
                        step if min.is_multiple_of(*step) => format!("not a multiple of {step} from {min} to {max}"),
                        step => format!("not one of {min}, {}, {} ... up to {max}", min + step, min + 2 * step),
                    }
                });
                Ok((Value::Number(nearest), wrong))
            }
            Kind::Float { min, max, .. } => {
                let number = number(text)?;
                let nearest = SettingKind::Float { min: *min, max: *max }.nearest(number);
                let wrong = (nearest != number).then(|| format!("out of range {min} to {max}"));
                // -0 would be written differently
                Ok((Value::Number(nearest + 0.0), wrong))
            }
            Kind::Flag => match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "on" | "yes" => Ok((Value::Number(1.0), None)),
                "0" | "false" | "off" | "no" => Ok((Value::Number(0.0), None)),
                _ => Err("not 0 or 1".to_owned()),
            },
            Kind::Choice(choices) => {
                let (word, exact) = nearest_word(choices, text).ok_or_else(|| format!("not one of {}", words(choices)))?;
                Ok((Value::Word(word), (!exact).then(|| format!("not one of {}", words(choices)))))
            }
            Kind::Words(choices) => {
                let (mut found, mut unknown, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
                for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                    let nearest = nearest_word(choices, part);
                    if !matches!(nearest, Some((_, true))) {
                        unknown.push(quoted(part));
                    }
                    match nearest {
                        Some((word, _)) if !found.contains(&word) => found.push(word),
                        Some((word, true)) if !repeated.contains(&word) => repeated.push(word),
                        _ => {}
                    }
                }
                // a list of anything may be long
                unknown.truncate(3);
                let mut wrong = Vec::new();
                if !unknown.is_empty() {
                    wrong.push(format!("wrong in {}, where each must be one of {}", unknown.join(", "), words(choices)));
                }
                if !repeated.is_empty() {
                    wrong.push(format!("a list with {} more than once, where each may come once", repeated.join(", ")));
                }
                Ok((Value::Words(found), (!wrong.is_empty()).then(|| wrong.join(", and "))))
            }
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ if text.is_empty() => Err("empty".to_owned()),
        _ => Err("not a number".to_owned()),
    }
}

/// The word of `choices` that `text` is (true) or is a slip of the pen of (false).
fn nearest_word(choices: &[Choice], text: &str) -> Option<(&'static str, bool)> {
    let name = text.to_ascii_lowercase();
    match choices.iter().find(|choice| choice.word == name) {
        Some(choice) => Some((choice.word, choice.word == text)),
        None => near(&name, choices.iter().map(|choice| choice.word)).map(|word| (word, false)),
    }
}

/// The name that `text` is most likely a slip of the pen of: at most a third of the letters differ, and at most three.
pub(crate) fn near<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // longer than any name: no need to measure
    if text.len() > 64 {
        return None;
    }
    let measured = names.map(|name| (strsim::osa_distance(text, name), name));
    let within = |(distance, name): &(usize, &str)| *distance <= (name.len().max(text.len()) / 3).clamp(1, 3);
    measured.filter(within).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

fn words(choices: &[Choice]) -> String {
    choices.iter().map(|choice| choice.word).collect::<Vec<_>>().join(", ")
}
