//! AdamW with global-norm clipping, over the packed parameter buffer.

/// Settings of the update, fixed for a run. The learning rate comes with each step.
///
/// With gradient `G` scaled by `min(1, clip / ||G||)` (the norm over all parameters), step `t` from 1:
/// `m = b1 m + (1 - b1) G`, `v = b2 v + (1 - b2) G^2`, `p -= rate * scale * (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon) + decay p)`,
/// with each parameter's own `scale` ([`crate::Learn::rate`]) and `decay` only where [`crate::Learn::weight_decay`] holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamW {
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// Weight decay, decoupled.
    pub weight_decay: f32,
    /// Largest norm of the whole gradient; 0 turns clipping off.
    pub clip: f32,
}

impl Default for AdamW {
    fn default() -> Self {
        AdamW { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, clip: 1.0 }
    }
}
