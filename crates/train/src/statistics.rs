//! Intervals for accuracies.

use statrs::distribution::{ContinuousCDF, Normal};

/// 95 % Wilson score interval of a proportion `p` over `n` independent trials.
///
/// Centre `(p + z^2 / 2n) / (1 + z^2 / n)`, half-width `z / (1 + z^2 / n) sqrt(p (1 - p) / n + z^2 / 4 n^2)`, z = 1.959964.
/// `p` may be a mean of per-sequence shares in 0..1: their variance is at most `p (1 - p)`, so the interval is then conservative.
/// Without trials nothing is known: `(0, 1)`.
pub fn wilson(p: f64, n: u32) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let z = Normal::standard().inverse_cdf(0.975);
    let n = f64::from(n);
    let scale = 1.0 + z * z / n;
    let centre = (p + z * z / (2.0 * n)) / scale;
    let half = z / scale * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    // at the ends rounding would leave 1e-17 where the bound is exact
    (if p == 0.0 { 0.0 } else { (centre - half).max(0.0) }, if p == 1.0 { 1.0 } else { (centre + half).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_published_and_scipy_numbers() {
        // 299 of 500 (59.8 %): 55.4-64.0; scipy.stats.binomtest(299, 500).proportion_ci(method="wilson")
        let (low, high) = wilson(299.0 / 500.0, 500);
        assert!((low - 0.5545).abs() < 1e-4 && (high - 0.6401).abs() < 1e-4, "{low} {high}");
        // 10 of 10: scipy gives 0.7225 to 1
        let (low, high) = wilson(1.0, 10);
        assert!((low - 0.7225).abs() < 1e-4 && high == 1.0, "{low} {high}");
        assert_eq!(wilson(0.5, 0), (0.0, 1.0));
        assert_eq!(wilson(0.0, 512).0, 0.0);
    }
}
