//! Sizes of a model.

use palimpsest_plan::{DecayForm, ScanForm};
use palimpsest_rules::Rule;

/// Everything that fixes a model's plan.
#[derive(Clone, Debug)]
pub struct ModelShape {
    /// The update rule of the linear-attention layers.
    pub rule: Rule,
    /// Number of token ids.
    pub vocabulary: usize,
    /// Width of the residual stream, d.
    pub width: usize,
    /// Number of layers, L.
    pub layers: usize,
    /// Heads per layer, H.
    pub heads: usize,
    /// Key size per head, K.
    pub key: usize,
    /// Value size per head, V.
    pub value: usize,
    /// Hidden size of the SwiGLU as a multiple of `width`; 0 leaves it out.
    pub mlp: usize,
    /// Taps of the short convolution; 0 leaves it out.
    pub conv: usize,
    /// Whether the read passes a sigmoid gate.
    pub output_gate: bool,
    /// Formula of the log-decay.
    pub decay: DecayForm,
    /// Every how many layers one is full softmax attention; 0 is never.
    pub attention_every: usize,
    /// How scans run.
    pub form: ScanForm,
    /// Sequences per batch, B.
    pub batch: usize,
    /// Tokens per sequence, T.
    pub time: usize,
    /// Labelled positions per sequence.
    pub labels: usize,
}

impl ModelShape {
    /// Whether a layer is full attention: the last of each group of `attention_every`.
    pub fn is_attention(&self, layer: usize) -> bool {
        self.attention_every > 0 && (layer + 1).is_multiple_of(self.attention_every)
    }

    /// Rows of a batch, `N = B T`.
    pub fn rows(&self) -> usize {
        self.batch * self.time
    }

    /// Layers that hold a matrix state.
    pub fn scan_layers(&self) -> Vec<usize> {
        (0..self.layers).filter(|&layer| !self.is_attention(layer)).collect()
    }

    /// Floats of memory per sequence: scan layers x heads x K x V.
    pub fn state(&self) -> usize {
        self.scan_layers().len() * self.heads * self.key * self.value
    }
}
