//! Where queries stand: Zoology's power law over the slots of the query region.

use rand::RngExt;
use rand::distr::Open01;
use rand_pcg::Pcg64;

/// Logarithm of the weight of slot `j`, `p_j ~ (j + 1)^(power - 1)`: 1 is uniform, near 0 favours the first slots.
pub(crate) fn log_weight(slot: usize, power: f64) -> f64 {
    (power - 1.0) * ((slot + 1) as f64).ln()
}

/// Draws `count` distinct slots of `0..slots` one after another, each in proportion to its weight among those left,
/// in the order drawn.
///
/// Gumbel noise on the log weights makes the order of the sums that of successive draws.
pub(crate) fn draw(slots: usize, count: usize, power: f64, rng: &mut Pcg64) -> Vec<usize> {
    let mut noisy: Vec<(f64, usize)> = (0..slots)
        .map(|slot| {
            let uniform: f64 = rng.sample(Open01);
            (log_weight(slot, power) - (-uniform.ln()).ln(), slot)
        })
        .collect();
    noisy.sort_by(|a, b| b.0.total_cmp(&a.0));
    noisy.into_iter().take(count).map(|(_, slot)| slot).collect()
}
