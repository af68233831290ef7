// The golden format as it is written; included by the build script too.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A golden file: inputs of a rule and its scan, gradients of the outputs, and what must come out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct File<N> {
    /// Slug of the rule.
    pub rule: String,
    /// What kind of numbers the inputs are, as `strong`.
    pub regime: String,
    /// Sizes.
    pub dims: Dims,
    /// The rule's inputs by name, and `S0` `[B, H, K, V]`.
    pub inputs: BTreeMap<String, Array<N>>,
    /// Gradients of the outputs.
    pub output_grads: BTreeMap<String, Array<N>>,
    /// `o` `[B, T, H, V]` and `S` `[B, H, K, V]`.
    pub outputs: BTreeMap<String, Array<N>>,
    /// Gradients of the inputs, by the input's name.
    pub input_grads: BTreeMap<String, Array<N>>,
}

/// Sizes of a golden file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Dims {
    /// B.
    #[serde(rename = "B")]
    pub batch: usize,
    /// T.
    #[serde(rename = "T")]
    pub time: usize,
    /// H.
    #[serde(rename = "H")]
    pub heads: usize,
    /// K.
    #[serde(rename = "K")]
    pub key: usize,
    /// V.
    #[serde(rename = "V")]
    pub value: usize,
}

/// A dense row-major array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Array<N> {
    /// Sizes, slowest first.
    pub shape: Vec<usize>,
    /// The numbers.
    pub data: Vec<N>,
}

impl From<File<f32>> for File<f64> {
    fn from(file: File<f32>) -> File<f64> {
        let wide = |arrays: BTreeMap<String, Array<f32>>| -> BTreeMap<String, Array<f64>> {
            let wide = |array: Array<f32>| Array { shape: array.shape, data: array.data.into_iter().map(f64::from).collect() };
            arrays.into_iter().map(|(name, array)| (name, wide(array))).collect()
        };
        File {
            rule: file.rule,
            regime: file.regime,
            dims: file.dims,
            inputs: wide(file.inputs),
            output_grads: wide(file.output_grads),
            outputs: wide(file.outputs),
            input_grads: wide(file.input_grads),
        }
    }
}
