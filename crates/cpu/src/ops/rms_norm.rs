//! `y = weight * x / sqrt(mean(x^2) + NORM_EPSILON)` per row.

use crate::Real;
use crate::reduce::{dot, sum_squares};
use crate::rows::{Gradient, put};
use crate::wide::wide;
use palimpsest_plan::NORM_EPSILON;

/// `1 / sqrt(mean(x^2) + NORM_EPSILON)`.
#[inline(always)]
pub(crate) fn inverse_rms<F: Real>(x: &[F]) -> F {
    F::one() / (sum_squares(x) / F::of(x.len() as f64) + F::of(f64::from(NORM_EPSILON))).sqrt()
}

wide! {
    /// `x` `[N, d]`, `weight` `[d]`, `y` `[N, d]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], x: &[F], weight: &[F]) {
        let d = weight.len();
        for (y, x) in y.chunks_exact_mut(d).zip(x.chunks_exact(d)) {
            let scale = inverse_rms(x);
            for j in 0..d {
                y[j] = weight[j] * (x[j] * scale);
            }
        }
    }

    /// With `n = x / rms`: `dweight = sum dy n`; `dn = dy weight`; `dx = (dn - n mean(dn n)) / rms`. `row` is scratch `[d]`.
    pub(crate) fn backward<F: Real>(
        dx: Option<Gradient<F>>,
        dweight: Option<Gradient<F>>,
        dy: &[F],
        x: &[F],
        weight: &[F],
        row: &mut [F],
    ) {
    let (mut dx, mut dweight) = (dx, dweight);
        let d = weight.len();
        let dn = &mut row[..d];
        let mut dweight = dweight.as_mut().map(Gradient::accumulator);
        for (index, (dy, x)) in dy.chunks_exact(d).zip(x.chunks_exact(d)).enumerate() {
            let scale = inverse_rms(x);
            if let Some(dweight) = dweight.as_deref_mut() {
                for j in 0..d {
                    dweight[j] += dy[j] * (x[j] * scale);
                }
            }
            let Some(dx) = dx.as_mut() else { continue };
            for j in 0..d {
                dn[j] = dy[j] * weight[j];
            }
            let mean = dot(dn, x) * scale / F::of(d as f64);
            let adds = dx.adds;
            let dx = dx.row(index);
            for j in 0..d {
                put(&mut dx[j], scale * (dn[j] - x[j] * scale * mean), adds);
            }
        }
    }
}
