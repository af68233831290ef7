//! `loss = mean_i (logsumexp(logits[i]) - logits[i, targets[i]])`; `answers[i]` is the first largest logit.

use crate::Real;
use crate::rows::{Gradient, put};
use crate::wide::wide;

/// `max + log sum exp(logits - max)` and the maximum's first index. A row with NaN gives NaN.
#[inline(always)]
fn log_sum_exp<F: Real>(logits: &[F]) -> (F, usize) {
    let mut answer = 0;
    for (j, &logit) in logits.iter().enumerate() {
        if logit > logits[answer] {
            answer = j;
        }
    }
    let max = logits[answer];
    let sum: F = logits.iter().map(|&logit| (logit - max).exponential()).sum();
    (max + sum.ln(), answer)
}

wide! {
    /// `logits` `[L, vocab]`, `targets` and `answers` `[L]`, `loss` `[1]`.
    pub(crate) fn forward<F: Real>(loss: &mut [F], answers: &mut [u32], logits: &[F], targets: &[u32]) {
        let vocab = logits.len() / targets.len();
        let mut sum = F::zero();
        for (i, logits) in logits.chunks_exact(vocab).enumerate() {
            let (log_sum, answer) = log_sum_exp(logits);
            sum += log_sum - logits[targets[i] as usize];
            answers[i] = answer as u32;
        }
        loss[0] = sum / F::of(targets.len() as f64);
    }

    /// `dlogits[i] = (softmax(logits[i]) - onehot(targets[i])) / L`: the loss's own gradient is 1.
    pub(crate) fn backward<F: Real>(dlogits: Option<Gradient<F>>, logits: &[F], targets: &[u32]) {
        let Some(mut dlogits) = dlogits else { return };
        let (vocab, adds) = (logits.len() / targets.len(), dlogits.adds);
        let share = F::one() / F::of(targets.len() as f64);
        for (i, logits) in logits.chunks_exact(vocab).enumerate() {
            let (log_sum, _) = log_sum_exp(logits);
            let dlogits = dlogits.row(i);
            for j in 0..vocab {
                put(&mut dlogits[j], (logits[j] - log_sum).exponential() * share, adds);
            }
            dlogits[targets[i] as usize] -= share;
        }
    }
}
