//! The two number types that operations run in.

use num_traits::{Float, NumAssign};
use std::fmt::Debug;
use std::iter::Sum;

/// `f32`, which trains, or `f64`, in which gradients are checked by finite differences.
///
/// The exponential functions of `f32` are polynomials without branches or table look-ups, so that loops over them become
/// SIMD and every platform gives the same bits. NaN in, NaN out.
pub trait Real: Float + NumAssign + Sum + Default + Debug + Send + Sync + 'static {
    /// Nearest value of this type.
    fn of(x: f64) -> Self;

    /// The value as `f32`, as it crosses the session's border.
    fn single(self) -> f32;

    /// The value as `f64`, for long sums.
    fn double(self) -> f64;

    /// `exp x`.
    fn exponential(self) -> Self;

    /// `exp x - 1`, exact to rounding for small `x`.
    fn exponential_less_one(self) -> Self;

    /// `log(1 + x)` for `0 <= x <= 1`, exact to rounding for small `x`.
    fn log_one_plus(self) -> Self;

    /// `c += alpha-free product a b` on raw strides; see [`crate::product`], the only caller.
    ///
    /// # Safety
    /// All of `a` `[m, k]`, `b` `[k, n]`, `c` `[m, n]` must lie in their allocations at the given strides, and `c` must overlap neither.
    #[allow(unsafe_code, reason = "the one door to the product library")]
    unsafe fn gemm(sizes: [usize; 3], a: (*const Self, [isize; 2]), b: (*const Self, [isize; 2]), keep: Self, c: (*mut Self, [isize; 2]));

    /// `1 / (1 + exp(-x))`, stable for any `x`.
    #[inline(always)]
    fn sigmoid(self) -> Self {
        Self::one() / (Self::one() + (-self).exponential())
    }

    /// `(softplus x, sigmoid x)`, where `softplus x = log(1 + exp x) = max(x, 0) + log(1 + exp(-|x|))`.
    #[inline(always)]
    fn softplus_and_slope(self) -> (Self, Self) {
        let tail = (-self.abs()).exponential();
        let positive = self > Self::zero();
        let softplus = if positive { self } else { Self::zero() } + tail.log_one_plus();
        let slope = if positive { Self::one() } else { tail } / (Self::one() + tail);
        (softplus, slope)
    }
}

/// `(2^n, exp(r) - 1)` with `x = n log 2 + r`, `|r| <= log(2) / 2`. The power comes as two factors so that results below
/// the smallest normal number and above the largest are right.
#[inline(always)]
fn reduce_exponent(x: f32) -> (f32, f32, f32) {
    // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // log 2 in two parts; the first has trailing zeros, so n * HIGH is exact.
    const HIGH: f32 = 0.693_359_4;
    const LOW: f32 = -2.121_944_4e-4;
    // Comparisons rather than min and max: those would turn NaN into a number.
    let x = if x < -104.0 { -104.0 } else { x };
    let x = if x > 89.0 { 89.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * HIGH) - n * LOW;
    // Cephes expf: exp(r) - 1 = r + r^2 p(r)
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_6e-1;
    let p = p * r + 0.5;
    let less_one = p * (r * r) + r;
    let n = (shifted.to_bits() as i32) - (ROUND.to_bits() as i32);
    let half = n >> 1;
    let power = |n: i32| f32::from_bits(((n + 127) << 23) as u32);
    (power(half), power(n - half), less_one)
}

impl Real for f32 {
    #[inline(always)]
    fn of(x: f64) -> f32 {
        x as f32
    }

    #[inline(always)]
    fn single(self) -> f32 {
        self
    }

    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn exponential(self) -> f32 {
        let (half, rest, less_one) = reduce_exponent(self);
        (less_one + 1.0) * half * rest
    }

    #[inline(always)]
    fn exponential_less_one(self) -> f32 {
        let (half, rest, less_one) = reduce_exponent(self);
        let power = half * rest;
        // Above, 2^128 alone overflows; there the 1 is far below rounding.
        if self > 80.0 { (less_one + 1.0) * half * rest } else { less_one * power + (power - 1.0) }
    }

    #[inline(always)]
    fn log_one_plus(self) -> f32 {
        // log(1 + x) = 2 artanh(s), s = x / (2 + x) <= 1/3: the series needs seven terms for single precision.
        let s = self / (2.0 + self);
        let z = s * s;
        let p = 2.0 / 15.0;
        let p = p * z + 2.0 / 13.0;
        let p = p * z + 2.0 / 11.0;
        let p = p * z + 2.0 / 9.0;
        let p = p * z + 2.0 / 7.0;
        let p = p * z + 2.0 / 5.0;
        let p = p * z + 2.0 / 3.0;
        2.0 * s + (s * z) * p
    }

    #[allow(unsafe_code, reason = "the product library takes pointers; the trait states what callers owe")]
    unsafe fn gemm([m, k, n]: [usize; 3], a: (*const f32, [isize; 2]), b: (*const f32, [isize; 2]), keep: f32, c: (*mut f32, [isize; 2])) {
        // SAFETY: the caller keeps the trait's contract, which is the library's own.
        unsafe { matrixmultiply::sgemm(m, k, n, 1.0, a.0, a.1[0], a.1[1], b.0, b.1[0], b.1[1], keep, c.0, c.1[0], c.1[1]) }
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn single(self) -> f32 {
        self as f32
    }

    #[inline(always)]
    fn double(self) -> f64 {
        self
    }

    #[inline(always)]
    fn exponential(self) -> f64 {
        self.exp()
    }

    #[inline(always)]
    fn exponential_less_one(self) -> f64 {
        self.exp_m1()
    }

    #[inline(always)]
    fn log_one_plus(self) -> f64 {
        self.ln_1p()
    }

    #[allow(unsafe_code, reason = "the product library takes pointers; the trait states what callers owe")]
    unsafe fn gemm([m, k, n]: [usize; 3], a: (*const f64, [isize; 2]), b: (*const f64, [isize; 2]), keep: f64, c: (*mut f64, [isize; 2])) {
        // SAFETY: the caller keeps the trait's contract, which is the library's own.
        unsafe { matrixmultiply::dgemm(m, k, n, 1.0, a.0, a.1[0], a.1[1], b.0, b.1[0], b.1[1], keep, c.0, c.1[0], c.1[1]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worst error in units of the last place of the true value, over `steps` points of `from..=to`.
    fn worst(from: f64, to: f64, f: impl Fn(f32) -> f32, truth: impl Fn(f64) -> f64) -> f64 {
        let steps = 100_000;
        let error = |i: u32| {
            let x = (from + (to - from) * f64::from(i) / f64::from(steps)) as f32;
            let expected = truth(f64::from(x));
            let place = f64::from(f32::EPSILON) * expected.abs().max(f64::from(f32::MIN_POSITIVE));
            (f64::from(f(x)) - expected).abs() / place
        };
        (0..=steps).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn exponentials_are_good_to_two_places() {
        assert!(worst(-87.0, 88.7, Real::exponential, f64::exp) < 2.0);
        assert!(worst(-20.0, 20.0, Real::exponential_less_one, f64::exp_m1) < 3.0);
        assert!(worst(-1e-3, 1e-3, Real::exponential_less_one, f64::exp_m1) < 2.0);
        assert!(worst(0.0, 1.0, Real::log_one_plus, f64::ln_1p) < 3.0);
    }

    #[test]
    fn far_ends_and_nan() {
        assert_eq!(Real::exponential(-200f32), 0.0);
        assert_eq!(Real::exponential(f32::NEG_INFINITY), 0.0);
        assert_eq!(Real::exponential(100f32), f32::INFINITY);
        assert_eq!(Real::exponential(0f32), 1.0);
        assert!(Real::exponential(f32::NAN).is_nan());
        assert!(Real::exponential_less_one(f32::NAN).is_nan());
        let subnormal = Real::exponential(-100f32);
        assert!((f64::from(subnormal) / (-100f64).exp() - 1.0).abs() < 0.02, "{subnormal}");
        assert_eq!(Real::exponential_less_one(-200f32), -1.0);
        assert_eq!(Real::exponential_less_one(100f32), f32::INFINITY);
    }

    #[test]
    fn sigmoid_and_softplus_hold_at_60() {
        for x in [-60f64, -30.0, -1.0, 0.0, 1.0, 30.0, 60.0] {
            let sigmoid = f64::from((x as f32).sigmoid());
            assert!((sigmoid - x.sigmoid()).abs() <= 3e-7 * x.sigmoid(), "sigmoid {x}: {sigmoid}");
            let (softplus, slope) = (x as f32).softplus_and_slope();
            let truth = x.max(0.0) + (-x.abs()).exp().ln_1p();
            assert!((f64::from(softplus) - truth).abs() <= 3e-7 * truth, "softplus {x}: {softplus}");
            assert!((f64::from(slope) - x.sigmoid()).abs() <= 3e-7 * x.sigmoid(), "slope {x}: {slope}");
        }
    }
}
