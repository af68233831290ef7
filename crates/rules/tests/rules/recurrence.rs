//! Packed steps run over a state, token by token, in f64: `S <- Diag(exp g) S`, `r = u - S^T a`, `S <- S + k r^T`, `o = S^T q`.

use palimpsest_rules::{Kind, Rule, Scope, StepLayout};
use std::collections::BTreeMap;

/// One token's inputs by name; those of head scope are the same for every token.
pub(crate) type Named = BTreeMap<&'static str, Vec<f64>>;

/// Numbers in (-1, 1) that depend on the seed only.
pub(crate) fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A random unit vector.
pub(crate) fn unit(width: usize, random: &mut impl FnMut() -> f64) -> Vec<f64> {
    let x: Vec<f64> = (0..width).map(|_| random()).collect();
    let norm = dot(&x, &x).sqrt();
    x.iter().map(|x| x / norm).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// State `[K, V]` of one head.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) key: usize,
    pub(crate) value: usize,
    pub(crate) s: Vec<f64>,
}

impl State {
    /// `S^T x`, `[V]`.
    pub(crate) fn read(&self, x: &[f64]) -> Vec<f64> {
        (0..self.value).map(|v| (0..self.key).map(|k| self.s[k * self.value + v] * x[k]).sum()).collect()
    }

    /// Runs one token's packed steps and reads.
    pub(crate) fn token(&mut self, layout: &StepLayout, row: &[f64]) -> Vec<f64> {
        let (key, value) = (self.key, self.value);
        for step in &layout.steps {
            for k in 0..key {
                let g = match step.decay {
                    None => 0.0,
                    Some((at, Kind::Scalar)) => row[at],
                    Some((at, _)) => row[at + k],
                };
                self.s[k * value..][..value].iter_mut().for_each(|s| *s *= g.exp());
            }
            let erased = step.erase.map_or_else(|| vec![0.0; value], |at| self.read(&row[at..at + key]));
            for v in 0..value {
                let r = step.write.map_or(0.0, |at| row[at + v]) - erased[v];
                (0..key).for_each(|k| self.s[k * value + v] += row[step.key + k] * r);
            }
        }
        self.read(&row[layout.query..layout.query + key])
    }
}

/// A token's packed steps from inputs by name.
pub(crate) fn steps(rule: &Rule, key: usize, value: usize, named: &Named) -> Vec<f64> {
    let (inputs, layout) = (rule.input_layout(key, value), rule.step_layout(key, value));
    let (mut token, mut heads) = (vec![f64::NAN; inputs.stride], Vec::new());
    for (index, input) in rule.inputs().iter().enumerate() {
        let values = &named[input.name.as_str()];
        assert_eq!(values.len(), input.kind.width(key, value), "{} of {}", input.name, rule.slug());
        match input.scope {
            Scope::Token => token[inputs.slot(index)..][..values.len()].copy_from_slice(values),
            Scope::Head => heads.push(values.as_slice()),
        }
    }
    let program = rule.program(key, value);
    let mut row = vec![0.0; layout.stride];
    program.forward(&token, &heads, &mut row, &mut program.scratch());
    row
}

/// Runs a sequence from a state: the reads `[T, V]`, then the last state.
pub(crate) fn run(rule: &Rule, mut state: State, tokens: &[Named]) -> Vec<f64> {
    let layout = rule.step_layout(state.key, state.value);
    let mut outputs = Vec::new();
    for named in tokens {
        let row = steps(rule, state.key, state.value, named);
        outputs.extend(state.token(&layout, &row));
    }
    outputs.extend(&state.s);
    outputs
}

/// Largest difference over the largest magnitude.
pub(crate) fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = b.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |worst, (x, y)| worst.max((x - y).abs())) / largest
}
