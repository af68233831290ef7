//! Matrix products in plain Rust: both operands are packed into panels, and tiles of the product stay in registers.
//!
//! For WebAssembly, whose vectors of four the product library spends on shuffles and spills. Both panels hold what a tile reads
//! next, so that the left one is loaded as splats: 4 x 8 sums, one vector of each and the product of two fit in 16 registers.

use crate::Real;
use crate::product::{Matrix, Target};
use crate::rows::put;

/// Rows of a tile.
const ROWS: usize = 4;
/// Columns of a tile.
const COLUMNS: usize = 8;
/// Terms that are summed in registers before they are added to the product: a left panel stays in the nearest cache.
const DEPTH: usize = 256;

/// `c = a b`, or `c += a b` when `adds`. `a` is `[m, k]`, `b` `[k, n]`, `c` `[m, n]`.
pub(crate) fn multiply<F: Real>([m, k, n]: [usize; 3], a: Matrix<F>, b: Matrix<F>, adds: bool, c: Target<F>) {
    let mut left = [[F::zero(); ROWS]; DEPTH];
    let mut right = vec![[F::zero(); COLUMNS]; DEPTH.min(k) * n.div_ceil(COLUMNS)];
    for from in (0..k).step_by(DEPTH) {
        let depth = DEPTH.min(k - from);
        let (left, adds) = (&mut left[..depth], adds || from > 0);
        for (panel, first) in right.chunks_exact_mut(depth).zip((0..n).step_by(COLUMNS)) {
            pack(panel, &b.data[b.offset + from * b.strides[0] + first * b.strides[1]..], [b.strides[1], b.strides[0]], n - first);
        }
        for i in (0..m).step_by(ROWS) {
            pack(left, &a.data[a.offset + i * a.strides[0] + from * a.strides[1]..], a.strides, m - i);
            for (panel, j) in right.chunks_exact(depth).zip((0..n).step_by(COLUMNS)) {
                let sums = tile(left, panel);
                for (row, sums) in (i..m).zip(&sums) {
                    let c = &mut c.data[c.offset + row * c.stride + j..];
                    match c.first_chunk_mut::<COLUMNS>().filter(|_| j + COLUMNS <= n) {
                        Some(c) => put_all(c, sums, adds),
                        None => put_all(&mut c[..n - j], sums, adds),
                    }
                }
            }
        }
    }
}

/// Lines `0..L` of a matrix, element `(line, p)` at `line * strides[0] + p * strides[1]`, side by side; zeros after `lines`.
#[inline(always)]
fn pack<F: Real, const L: usize>(panel: &mut [[F; L]], x: &[F], strides: [usize; 2], lines: usize) {
    let depth = panel.len();
    match strides {
        [1, stride] if lines >= L => {
            for (p, packed) in panel.iter_mut().enumerate() {
                packed.copy_from_slice(&x[p * stride..][..L]);
            }
        }
        [stride, 1] if lines >= L => {
            let x: [&[F]; L] = std::array::from_fn(|line| &x[line * stride..][..depth]);
            for (p, packed) in panel.iter_mut().enumerate() {
                *packed = std::array::from_fn(|line| x[line][p]);
            }
        }
        _ => {
            for (p, packed) in panel.iter_mut().enumerate() {
                let at = |line: usize| if line < lines { x[line * strides[0] + p * strides[1]] } else { F::zero() };
                *packed = std::array::from_fn(at);
            }
        }
    }
}

/// The product of two panels.
#[inline(always)]
fn tile<F: Real>(left: &[[F; ROWS]], right: &[[F; COLUMNS]]) -> [[F; COLUMNS]; ROWS] {
    let mut sums = [[F::zero(); COLUMNS]; ROWS];
    for (a, b) in left.iter().zip(right) {
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                sums[row][column] += a[row] * b[column];
            }
        }
    }
    sums
}

#[inline(always)]
fn put_all<F: Real>(c: &mut [F], sums: &[F], adds: bool) {
    c.iter_mut().zip(sums).for_each(|(c, &sum)| put(c, sum, adds));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_and_their_remainders_match_plain_loops() {
        for [m, k, n] in [[1, 1, 1], [4, 3, 8], [7, DEPTH + 5, 13], [9, 2 * DEPTH, 16]] {
            let a: Vec<f64> = (0..m * k + 3).map(|i| (i * 7 % 13) as f64 - 6.0).collect();
            let b: Vec<f64> = (0..k * n + 2).map(|i| (i * 5 % 11) as f64 - 5.0).collect();
            for (left, right) in [([k, 1], [n, 1]), ([1, m], [1, k]), ([k, 1], [1, k]), ([1, m], [n, 1])] {
                for adds in [false, true] {
                    let mut c = vec![if adds { 1.0 } else { f64::NAN }; m * (n + 3)];
                    let (a, b) = (Matrix { data: &a, offset: 3, strides: left }, Matrix { data: &b, offset: 2, strides: right });
                    multiply([m, k, n], a, b, adds, Target { data: &mut c, offset: 1, stride: n + 3 });
                    for i in 0..m {
                        for j in 0..n {
                            let product = |p: usize| a.data[3 + i * left[0] + p * left[1]] * b.data[2 + p * right[0] + j * right[1]];
                            let plain: f64 = (0..k).map(product).sum();
                            assert_eq!(c[1 + i * (n + 3) + j], plain + if adds { 1.0 } else { 0.0 }, "{m} {k} {n} at {i} {j}");
                        }
                        assert!(c[i * (n + 3)].is_nan() != adds, "only the target is written");
                    }
                }
            }
        }
    }
}
