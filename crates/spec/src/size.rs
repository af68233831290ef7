//! How large a model may be: estimates that keep every buffer within what indices of 32 bits and common GPUs can hold, and all
//! of them within memory.

use crate::check::Misfit;
use crate::{Kind, Settings, Value};
use palimpsest_rules::{Kind as Width, Scope, Source};

/// Most learned numbers: 128 MiB, the portable limit of one GPU buffer.
const PARAMETERS: f64 = (1u32 << 25) as f64;
/// Most numbers in one tensor of a batch: 1 GiB. Adapters with less say so themselves.
const TENSOR: f64 = (1u32 << 28) as f64;
/// Most numbers of all buffers together: 32 GiB. Devices with less say so themselves.
const MEMORY: f64 = (1u64 << 33) as f64;
/// The same on the CPU: 2 GiB, what a page can count on having. One thread would take minutes for a step of more.
const MEMORY_CPU: f64 = (1u64 << 29) as f64;

/// Learned numbers, to within a few percent.
pub(crate) fn parameters(settings: &Settings) -> f64 {
    let s = Sizes::of(settings);
    let mixer = s.width * s.projected + s.width * s.heads * s.value;
    let mlp = 3.0 * s.mlp * s.width * s.width;
    s.vocabulary * s.width + s.layers * (mixer + mlp)
}

/// Numbers in the largest tensor of one sequence.
fn largest_per_sequence(settings: &Settings) -> f64 {
    let s = Sizes::of(settings);
    let per_token = (s.heads * s.steps).max(s.projected).max(2.0 * s.mlp * s.width).max(s.width);
    (s.length * per_token).max(s.labels * s.vocabulary)
}

/// Numbers of all buffers: activations and their gradients, the states kept for the backward pass, and parameters with their
/// gradients and moments. Not less than there are.
pub(crate) fn memory(settings: &Settings) -> f64 {
    let s = Sizes::of(settings);
    let mixer = 2.0 * s.width + s.projected + s.heads * (s.inputs + s.raised + s.steps + 2.0 * s.value);
    let mlp = if s.mlp > 0.0 { (2.0 + 3.0 * s.mlp) * s.width } else { 0.0 };
    // a state every 16 tokens at most, in either form
    let states = s.heads * s.key * s.value * (s.length / 16.0).ceil() * s.layers;
    let activations = s.length * (s.width + s.layers * (mixer + mlp)) + s.labels * (2.0 * s.width + s.vocabulary);
    let integers = s.length + 3.0 * s.labels;
    // vectors and biases that `parameters` leaves out
    let small = s.layers * (2.0 * s.width + s.projected * (1.0 + settings.number("conv")) + s.heads * s.raised * s.value) + s.width + 1.0;
    settings.number("batch") * (2.0 * activations + states + integers) + 4.0 * (parameters(settings) + small)
}

struct Sizes {
    layers: f64,
    width: f64,
    heads: f64,
    value: f64,
    mlp: f64,
    length: f64,
    vocabulary: f64,
    labels: f64,
    key: f64,
    /// Floats of a (token, head) row of a rule's inputs.
    inputs: f64,
    /// Floats of a (token, head) that are raised from a low rank.
    raised: f64,
    /// Columns of a layer's input projection, about.
    projected: f64,
    /// Floats of a (token, head) row of steps.
    steps: f64,
}

impl Sizes {
    fn of(settings: &Settings) -> Sizes {
        let (rule, key, value) = (settings.rule(), settings.key(), settings.value());
        let heads = settings.heads() as f64;
        let inputs = rule.input_layout(key, value).stride as f64;
        let low = |source: &Source| matches!(source, Source::Decay | Source::Direction { .. });
        let raised = rule.inputs().iter().filter(|input| input.scope == Scope::Token && input.kind == Width::Key && low(&input.source));
        let raised = (raised.count() * key) as f64;
        Sizes {
            layers: settings.layers() as f64,
            width: settings.width() as f64,
            heads,
            value: value as f64,
            key: key as f64,
            inputs,
            raised,
            mlp: settings.mlp() as f64,
            length: settings.length() as f64,
            vocabulary: settings.task.vocabulary(&settings.task_settings) as f64,
            labels: settings.task.labels_per_example(&settings.task_settings) as f64,
            projected: heads * (inputs + value as f64),
            steps: rule.step_layout(key, value).stride as f64,
        }
    }
}

/// Whether the model fits; else the setting to lower.
pub(crate) fn check(settings: &Settings) -> Result<(), Misfit> {
    let count = parameters(settings);
    if count > PARAMETERS {
        // layers first: they are the cheapest to give up
        let with = |key: &'static str, value: f64| {
            let mut smaller = settings.clone();
            smaller.put(key, Value::Number(value));
            parameters(&smaller)
        };
        let key = if with("layers", 1.0) <= PARAMETERS { "layers" } else { "width" };
        let nearest = largest(settings, key, |value| with(key, value) <= PARAMETERS);
        let wrong = format!("more than fits: {:.0} million parameters, where {:.0} million are the most", count / 1e6, PARAMETERS / 1e6);
        return Err(Misfit { key, wrong, nearest: Value::Number(nearest) });
    }
    let (batch, one) = (settings.number("batch"), largest_per_sequence(settings));
    if batch * one > TENSOR {
        let (key, nearest) = if one <= TENSOR {
            ("batch", (TENSOR / one).floor())
        } else {
            let shorter = |length: f64| {
                let mut shorter = settings.clone();
                shorter.put("length", Value::Number(length));
                largest_per_sequence(&shorter) <= TENSOR
            };
            ("length", largest(settings, "length", shorter))
        };
        let wrong = format!(
            "more than fits: one tensor would take {:.1} GB, where {:.1} GB is the most",
            gigabytes(batch * one),
            gigabytes(TENSOR)
        );
        return Err(Misfit { key, wrong, nearest: Value::Number(nearest) });
    }
    check_memory(settings)
}

/// Whether all buffers together fit; else the setting to lower: the batch, or the length if not even one sequence fits.
fn check_memory(settings: &Settings) -> Result<(), Misfit> {
    let (most, place) = if settings.wants_cpu() { (MEMORY_CPU, " on the CPU") } else { (MEMORY, "") };
    let needed = memory(settings);
    if needed <= most {
        return Ok(());
    }
    let with = |changes: &[(&'static str, f64)]| {
        let mut smaller = settings.clone();
        changes.iter().for_each(|&(key, value)| smaller.put(key, Value::Number(value)));
        memory(&smaller) <= most
    };
    let (key, nearest) = if with(&[("batch", 1.0)]) {
        ("batch", largest(settings, "batch", |batch| with(&[("batch", batch)])))
    } else {
        ("length", largest(settings, "length", |length| with(&[("batch", 1.0), ("length", length)])))
    };
    let wrong =
        format!("more than fits: the model would take {:.1} GB, where {:.1} GB is the most{place}", gigabytes(needed), gigabytes(most));
    Err(Misfit { key, wrong, nearest: Value::Number(nearest) })
}

/// The largest valid value of a whole number, up to the present one, that fits, found by halving; the smallest if none does.
fn largest(settings: &Settings, key: &str, fits: impl Fn(f64) -> bool) -> f64 {
    let Some(Kind::Int { min, step, .. }) = settings.row(key).map(|row| row.kind) else { return settings.number(key) };
    let value = |place: u32| f64::from(min + step * place);
    let (mut low, mut high) = (0, (settings.number(key) as u32).saturating_sub(min) / step);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(value(middle)) { low = middle } else { high = middle - 1 }
    }
    value(low)
}

/// Size of so many f32.
fn gigabytes(floats: f64) -> f64 {
    floats * 4.0 / 1e9
}
