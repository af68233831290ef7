//! A golden file that fits its rule.

use crate::GoldenError;
use crate::error::list;
use crate::format::{Array, File};
use palimpsest_plan::ScanShape;
use palimpsest_rules::{Input, Kind, Rule, Scope, Source, find, rules};
use std::collections::BTreeMap;

/// Name of the initial state among the inputs.
pub(crate) const INITIAL: &str = "S0";
/// Names of the outputs: reads `[B, T, H, V]` and the last state `[B, H, K, V]`.
pub(crate) const OUTPUTS: [&str; 2] = ["o", "S"];

/// Arrays in the order of the file, checked.
pub(crate) type Arrays = BTreeMap<String, Vec<f64>>;

/// A golden file whose arrays fit its rule and its sizes.
#[derive(Clone, Debug)]
pub struct Golden {
    pub(crate) rule: Rule,
    pub(crate) regime: String,
    pub(crate) shape: ScanShape,
    pub(crate) inputs: Arrays,
    pub(crate) output_grads: Arrays,
    pub(crate) outputs: Arrays,
    pub(crate) input_grads: Arrays,
}

impl Golden {
    /// Reads the text of a golden file.
    pub fn parse(text: &str) -> Result<Golden, GoldenError> {
        serde_json::from_str::<File<f64>>(text).map_err(|error| GoldenError::json(&error))?.try_into()
    }

    /// The rule, cut where the file gives symbols from outside.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// What kind of numbers the inputs are.
    pub fn regime(&self) -> &str {
        &self.regime
    }

    /// Sizes.
    pub fn shape(&self) -> ScanShape {
        self.shape
    }
}

impl TryFrom<File<f64>> for Golden {
    type Error = GoldenError;

    fn try_from(file: File<f64>) -> Result<Golden, GoldenError> {
        let shape = scan_shape(&file)?;
        let whole = find(&file.rule)
            .ok_or_else(|| GoldenError::Rule { slug: file.rule.clone(), valid: list(rules().iter().map(|rule| rule.slug())) })?;
        let known = |name: &str| name == INITIAL || whole.inputs().iter().any(|input| input.name == name);
        let cuts: Vec<&str> = file.inputs.keys().map(String::as_str).filter(|name| !known(name)).collect();
        let rule = whole.cut(&cuts).map_err(|error| GoldenError::Cut { rule: file.rule.clone(), message: error.to_string() })?;

        let initial = (INITIAL.to_owned(), initial_sizes(shape));
        let inputs: Sizes =
            rule.inputs().iter().map(|input| (input.name.clone(), input_sizes(input, shape))).chain([initial.clone()]).collect();
        let free = rule.inputs().iter().filter(|input| !matches!(input.source, Source::Fixed));
        let gradients: Sizes = free.map(|input| (input.name.clone(), input_sizes(input, shape))).chain([initial]).collect();
        let outputs: Sizes = OUTPUTS.map(str::to_owned).into_iter().zip([read_sizes(shape), initial_sizes(shape)]).collect();
        let checked = |section, arrays, expected: &Sizes| check(section, arrays, expected, &file.rule);
        Ok(Golden {
            inputs: checked("inputs", file.inputs, &inputs)?,
            output_grads: checked("output_grads", file.output_grads, &outputs)?,
            outputs: checked("outputs", file.outputs, &outputs)?,
            input_grads: checked("input_grads", file.input_grads, &gradients)?,
            rule,
            regime: file.regime,
            shape,
        })
    }
}

fn scan_shape(file: &File<f64>) -> Result<ScanShape, GoldenError> {
    let dims = file.dims;
    for (name, found) in [("B", dims.batch), ("T", dims.time), ("H", dims.heads)] {
        if found == 0 {
            return Err(GoldenError::Dims { name, found, valid: "at least 1" });
        }
    }
    for (name, found) in [("K", dims.key), ("V", dims.value)] {
        if !(4..=128).contains(&found) || !found.is_multiple_of(4) {
            return Err(GoldenError::Dims { name, found, valid: "a multiple of 4 from 4 to 128" });
        }
    }
    Ok(ScanShape { batch: dims.batch, time: dims.time, heads: dims.heads, key: dims.key, value: dims.value })
}

/// Expected sizes by name.
type Sizes = BTreeMap<String, Vec<usize>>;

fn initial_sizes(shape: ScanShape) -> Vec<usize> {
    vec![shape.batch, shape.heads, shape.key, shape.value]
}

fn read_sizes(shape: ScanShape) -> Vec<usize> {
    vec![shape.batch, shape.time, shape.heads, shape.value]
}

/// `[B, T, H]` or `[H]`, and K or V for vectors.
fn input_sizes(input: &Input, shape: ScanShape) -> Vec<usize> {
    let mut sizes = match input.scope {
        Scope::Token => vec![shape.batch, shape.time, shape.heads],
        Scope::Head => vec![shape.heads],
    };
    if input.kind != Kind::Scalar {
        sizes.push(input.kind.width(shape.key, shape.value));
    }
    sizes
}

/// Exactly the expected arrays, each of its shape, filled, and finite.
fn check(section: &'static str, arrays: BTreeMap<String, Array<f64>>, expected: &Sizes, rule: &str) -> Result<Arrays, GoldenError> {
    if let Some(array) = arrays.keys().find(|name| !expected.contains_key(*name)) {
        let (array, valid) = (array.clone(), list(expected.keys()));
        return Err(GoldenError::Unexpected { section, array, rule: rule.to_owned(), valid });
    }
    if let Some((array, sizes)) = expected.iter().find(|(name, _)| !arrays.contains_key(*name)) {
        return Err(GoldenError::Missing { section, array: array.clone(), expected: sizes.clone() });
    }
    arrays.into_iter().map(|(array, found)| filled(section, &array, found, &expected[&array]).map(|data| (array, data))).collect()
}

fn filled(section: &'static str, name: &str, found: Array<f64>, expected: &[usize]) -> Result<Vec<f64>, GoldenError> {
    let array = name.to_owned();
    if found.shape != expected {
        return Err(GoldenError::Shape { section, array, found: found.shape, expected: expected.to_vec() });
    }
    let needed = expected.iter().fold(1usize, |product, &size| product.saturating_mul(size));
    if found.data.len() != needed {
        return Err(GoldenError::Length { section, array, found: found.data.len(), shape: found.shape, needed });
    }
    match found.data.iter().position(|x| !(*x as f32).is_finite()) {
        Some(index) => Err(GoldenError::NotFinite { section, array, index, value: format!("{:e}", found.data[index]) }),
        None => Ok(found.data),
    }
}
