//! Sums along a row. Eight running sums, folded in a fixed order: SIMD without changing a bit between platforms.

use crate::Real;

const LANES: usize = 8;

/// `sum_j a_j b_j` over the shorter length.
#[inline(always)]
pub(crate) fn dot<F: Real>(a: &[F], b: &[F]) -> F {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [F::zero(); LANES];
    for (x, y) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let tail = n - n % LANES;
    for lane in 0..n - tail {
        sums[lane] += a[tail + lane] * b[tail + lane];
    }
    fold(sums)
}

/// `sum_j a_j^2`.
#[inline(always)]
pub(crate) fn sum_squares<F: Real>(a: &[F]) -> F {
    dot(a, a)
}

/// `y += scale x`.
#[inline(always)]
pub(crate) fn add_scaled<F: Real>(y: &mut [F], scale: F, x: &[F]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}

#[inline(always)]
fn fold<F: Real>(s: [F; LANES]) -> F {
    let halves = [s[0] + s[4], s[1] + s[5], s[2] + s[6], s[3] + s[7]];
    (halves[0] + halves[2]) + (halves[1] + halves[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_match_plain_loops_at_odd_lengths() {
        for n in [0, 1, 7, 8, 9, 31, 64] {
            let a: Vec<f64> = (0..n).map(|i| f64::from(i) - 3.0).collect();
            let b: Vec<f64> = (0..n).map(|i| f64::from(i * i % 11)).collect();
            let plain: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&a, &b), plain);
        }
    }
}
