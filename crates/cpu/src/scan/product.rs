//! Small products whose operands are in the nearest cache already: tiles held in registers, nothing packed.
//!
//! [`crate::product`] packs its operands, which pays for whole layers and not for sixteen rows.

use crate::Real;

/// `c += sign a b`. Element `(i, d)` of `a` `[m, k]` is `a[i * strides[0] + d * strides[1]]`; `b` `[k, n]`, `c` `[m, n]`; n a multiple of 4.
pub(super) fn add_product<F: Real>([m, k, n]: [usize; 3], sign: F, a: &[F], strides: [usize; 2], b: &[F], c: &mut [F]) {
    let mut i = 0;
    while i < m {
        let four = i + 4 <= m;
        let mut j = 0;
        while j < n {
            let eight = j + 8 <= n;
            match (four, eight) {
                (true, true) => tile::<F, 4, 8>([k, n], sign, &a[i * strides[0]..], strides, &b[j..], &mut c[i * n + j..]),
                (true, false) => tile::<F, 4, 4>([k, n], sign, &a[i * strides[0]..], strides, &b[j..], &mut c[i * n + j..]),
                (false, true) => tile::<F, 1, 8>([k, n], sign, &a[i * strides[0]..], strides, &b[j..], &mut c[i * n + j..]),
                (false, false) => tile::<F, 1, 4>([k, n], sign, &a[i * strides[0]..], strides, &b[j..], &mut c[i * n + j..]),
            }
            j += if eight { 8 } else { 4 };
        }
        i += if four { 4 } else { 1 };
    }
}

#[inline(always)]
fn tile<F: Real, const R: usize, const L: usize>([k, n]: [usize; 2], sign: F, a: &[F], strides: [usize; 2], b: &[F], c: &mut [F]) {
    let mut sums = [[F::zero(); L]; R];
    for d in 0..k {
        let Some(b) = b[d * n..].first_chunk::<L>() else { return };
        for (i, sums) in sums.iter_mut().enumerate() {
            let x = a[i * strides[0] + d * strides[1]];
            for lane in 0..L {
                sums[lane] += x * b[lane];
            }
        }
    }
    for (i, sums) in sums.iter().enumerate() {
        for (c, &sum) in c[i * n..].iter_mut().zip(sums) {
            *c += sign * sum;
        }
    }
}

/// `x^T` `[n, m]` of `x` `[m, n]`.
pub(super) fn transpose<F: Real>(x: &[F], n: usize, transposed: &mut [F]) {
    let m = x.len() / n;
    for (i, row) in x.chunks_exact(n).enumerate() {
        for (j, &x) in row.iter().enumerate() {
            transposed[j * m + i] = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_and_their_remainders_match_plain_loops() {
        for [m, k, n] in [[1, 1, 4], [4, 3, 8], [7, 5, 12], [16, 16, 20]] {
            let a: Vec<f64> = (0..m * k).map(|i| (i * 7 % 13) as f64 - 6.0).collect();
            let b: Vec<f64> = (0..k * n).map(|i| (i * 5 % 11) as f64 - 5.0).collect();
            let mut flipped = vec![0.0; m * k];
            transpose(&a, k, &mut flipped);
            for (a, strides) in [(&a, [k, 1]), (&flipped, [1, m])] {
                let mut c = vec![1.0; m * n];
                add_product([m, k, n], -1.0, a, strides, &b, &mut c);
                for i in 0..m {
                    for j in 0..n {
                        let plain: f64 = (0..k).map(|d| a[i * strides[0] + d * strides[1]] * b[d * n + j]).sum();
                        assert_eq!(c[i * n + j], 1.0 - plain);
                    }
                }
            }
        }
    }
}
