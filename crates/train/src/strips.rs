//! Quantities along the tokens of a sample: the gates a rule reads, and what its steps do to the memory.

use palimpsest_protocol::{Strip, StripShape};
use palimpsest_rules::{Input, InputLayout, Kind, Rule, Scope, Source, StepLayout};

/// Rows of one sequence and head.
pub(crate) struct Rows<'a> {
    /// Packed rule inputs `[T, input stride]`.
    pub(crate) inputs: &'a [f32],
    /// Packed steps `[T, step stride]`.
    pub(crate) steps: &'a [f32],
}

/// All strips of a rule for one sequence and head.
pub(crate) fn strips(rule: &Rule, key: usize, value: usize, rows: &Rows) -> Vec<Strip> {
    let (inputs, steps) = (rule.input_layout(key, value), rule.step_layout(key, value));
    let mut strips = gate_strips(rule, key, value, &inputs, rows);
    strips.push(scalar("read similarity q\u{b7}k", "How closely this token's query matches its own key: 1 is the same direction.", {
        steps_of(rows, &steps).map(|row| dot(&row[steps.query..][..key], &row[last_key(&steps)..][..key])).collect()
    }));
    for (index, step) in steps.steps.iter().enumerate() {
        let Some(erase) = step.erase else { continue };
        let suffix = if steps.steps.len() > 1 { format!(", edit {}", index + 1) } else { String::new() };
        let along = steps_of(rows, &steps).map(|row| dot(&row[erase..][..key], &row[step.key..][..key])).collect();
        strips.push(scalar(
            &format!("erased along the edit a\u{b7}k{suffix}"),
            "Share of what is stored at the edited address that this step removes.",
            along,
        ));
        let beside = steps_of(rows, &steps).map(|row| off_key(&row[erase..][..key], &row[step.key..][..key])).collect();
        strips.push(scalar(
            &format!("erased beside it \u{2016}a \u{2212} k(k\u{b7}a)\u{2016}{suffix}"),
            "Length of the erase vector at right angles to the edited address: what other addresses feel.",
            beside,
        ));
    }
    strips
}

fn gate_strips(rule: &Rule, key: usize, value: usize, layout: &InputLayout, rows: &Rows) -> Vec<Strip> {
    let mut strips = Vec::new();
    for (index, input) in rule.inputs().iter().enumerate() {
        if input.scope != Scope::Token {
            continue;
        }
        let width = match input.kind {
            Kind::Scalar => 1,
            Kind::Key => key,
            Kind::Value => value,
        };
        let slot = layout.slot(index);
        let raw = rows.inputs.chunks_exact(layout.stride).flat_map(|row| row[slot..slot + width].iter().copied());
        let (name, about, values) = match input.source {
            Source::Decay => {
                let kept = "Share of the memory that survives the decay, per key channel.";
                ("kept by decay \u{3b1} = exp g".to_owned(), kept, raw.map(f32::exp).collect())
            }
            Source::Gate { .. } => (gate_name(input), "A gate made from the token, between 0 and 1.", raw.collect()),
            _ => continue,
        };
        let shape = if width == 1 { StripShape::Scalar } else { StripShape::Channels(width as u32) };
        strips.push(Strip { name, about: about.to_owned(), shape, values });
    }
    strips
}

/// The rule's own words for a gate, with its symbol.
fn gate_name(input: &Input) -> String {
    let label = if input.label.is_empty() { "gate" } else { &input.label };
    format!("{label} {}", input.name)
}

fn steps_of<'a>(rows: &Rows<'a>, layout: &StepLayout) -> impl Iterator<Item = &'a [f32]> {
    rows.steps.chunks_exact(layout.stride)
}

fn last_key(layout: &StepLayout) -> usize {
    layout.steps.last().map_or(layout.query, |step| step.key)
}

fn scalar(name: &str, about: &str, values: Vec<f32>) -> Strip {
    Strip { name: name.to_owned(), about: about.to_owned(), shape: StripShape::Scalar, values }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `||a - k (k . a)||` for a unit `k`.
fn off_key(a: &[f32], k: &[f32]) -> f32 {
    let along = dot(a, k);
    a.iter().zip(k).map(|(x, y)| (x - along * y).powi(2)).sum::<f32>().sqrt()
}
