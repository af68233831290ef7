//! Unit vectors: `y[n, h, slot + j] = x / sqrt(sum_j x^2 + UNIT_EPSILON)`.

use crate::Real;
use crate::reduce::{dot, sum_squares};
use crate::rows::{Gradient, Rows, put};
use crate::wide::wide;
use palimpsest_plan::UNIT_EPSILON;

/// `1 / sqrt(sum x^2 + UNIT_EPSILON)`.
#[inline(always)]
pub(crate) fn inverse_length<F: Real>(x: &[F]) -> F {
    F::one() / (sum_squares(x) + F::of(f64::from(UNIT_EPSILON))).sqrt()
}

/// `(r, r^2 (x . dy))` with `r` the inverse length: `dx = r (dy - x r^2 (x . dy))`.
#[inline(always)]
pub(crate) fn slope<F: Real>(x: &[F], dy: &[F]) -> (F, F) {
    let scale = inverse_length(x);
    (scale, scale * scale * dot(x, dy))
}

wide! {
    /// `x` `[N, H * width]`, `y` `[N, H, stride]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], x: Rows<F>, heads: usize, slot: usize, stride: usize) {
        let width = x.width / heads;
        for (n, y) in y.chunks_exact_mut(heads * stride).enumerate() {
            for (x, y) in x.row(n).chunks_exact(width).zip(y.chunks_exact_mut(stride)) {
                let scale = inverse_length(x);
                for j in 0..width {
                    y[slot + j] = x[j] * scale;
                }
            }
        }
    }

    /// `dx = r (dy - x r^2 (x . dy))`.
    pub(crate) fn backward<F: Real>(dx: Option<Gradient<F>>, dy: &[F], x: Rows<F>, heads: usize, slot: usize, stride: usize) {
        let Some(mut dx) = dx else { return };
        let (width, adds) = (x.width / heads, dx.adds);
        for (n, dy) in dy.chunks_exact(heads * stride).enumerate() {
            let vectors = dx.row(n).chunks_exact_mut(width).zip(x.row(n).chunks_exact(width));
            for ((dx, x), dy) in vectors.zip(dy.chunks_exact(stride)) {
                let dy = &dy[slot..][..width];
                let (scale, along) = slope(x, dy);
                for j in 0..width {
                    put(&mut dx[j], scale * (dy[j] - x[j] * along), adds);
                }
            }
        }
    }
}
