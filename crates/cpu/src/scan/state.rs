//! Passes over one state `[K, V]`. Columns go in blocks of fixed size, so that the value vectors they share stay in registers.

use crate::Real;
use crate::wide::wide;

/// Calls a block function for columns `0..v`, widest first. V is a multiple of 4.
macro_rules! by_columns {
    ($v:expr, |$first:ident, $lanes:ident| $call:expr) => {
        let mut $first = 0;
        while $first < $v {
            $first += match $v - $first {
                32.. => {
                    const $lanes: usize = 32;
                    $call;
                    $lanes
                }
                16.. => {
                    const $lanes: usize = 16;
                    $call;
                    $lanes
                }
                8.. => {
                    const $lanes: usize = 8;
                    $call;
                    $lanes
                }
                _ => {
                    const $lanes: usize = 4;
                    $call;
                    $lanes
                }
            };
        }
    };
}

#[inline(always)]
fn load<F: Real, const L: usize>(x: &[F], at: usize) -> [F; L] {
    let x = &x[at..][..L];
    std::array::from_fn(|lane| x[lane])
}

#[inline(always)]
fn store<F: Real, const L: usize>(x: &mut [F], at: usize, lanes: [F; L]) {
    x[at..][..L].copy_from_slice(&lanes);
}

/// Running sums of a product along a row.
const SUMS: usize = 8;

/// Adds `a_j b_j` to the sums of a row.
#[inline(always)]
fn add_products<F: Real>(sums: &mut [F; SUMS], a: &[F], b: &[F]) {
    let (a, b) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let tail = a.remainder().iter().zip(b.remainder());
    sums.iter_mut().zip(tail).for_each(|(sum, (&a, &b))| *sum += a * b);
    for (a, b) in a.zip(b) {
        for l in 0..SUMS {
            sums[l] += a[l] * b[l];
        }
    }
}

/// Folds the sums of every row, in a fixed order. A loop of its own: within the products it would keep them from becoming SIMD.
#[inline(always)]
fn fold<F: Real>(sums: &[F], x: &mut [F]) {
    for (s, x) in sums.chunks_exact(SUMS).zip(x) {
        *x = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    }
}

wide! {
    /// `S <- Diag(factors) S`.
    pub(super) fn decay<F: Real>(state: &mut [F], v: usize, factors: &[F]) {
        for (row, &factor) in state.chunks_exact_mut(v).zip(factors) {
            row.iter_mut().for_each(|s| *s *= factor);
        }
    }

    /// `r += sign S^T x`: with `sign = -1` what the memory holds at `x` is measured, with `sign = 1` it is read.
    pub(super) fn add_read<F: Real>(state: &[F], v: usize, x: &[F], sign: F, r: &mut [F]) {
        #[inline(always)]
        fn block<F: Real, const L: usize>(state: &[F], v: usize, x: &[F], sign: F, r: &mut [F], first: usize) {
            let mut sums: [F; L] = load(r, first);
            for (row, &x) in state.chunks_exact(v).zip(x) {
                let (s, x): ([F; L], F) = (load(row, first), sign * x);
                for l in 0..L {
                    sums[l] += x * s[l];
                }
            }
            store(r, first, sums);
        }
        by_columns!(v, |first, L| block::<F, L>(state, v, x, sign, r, first));
    }

    /// `S <- S + sign k r^T`.
    pub(super) fn edit<F: Real>(state: &mut [F], v: usize, key: &[F], sign: F, r: &[F]) {
        #[inline(always)]
        fn block<F: Real, const L: usize>(state: &mut [F], v: usize, key: &[F], sign: F, r: &[F], first: usize) {
            let r: [F; L] = load(r, first);
            for (row, &k) in state.chunks_exact_mut(v).zip(key) {
                let (mut s, k): ([F; L], F) = (load(row, first), sign * k);
                for l in 0..L {
                    s[l] += k * r[l];
                }
                store(row, first, s);
            }
        }
        by_columns!(v, |first, L| block::<F, L>(state, v, key, sign, r, first));
    }

    /// `S <- Diag(factors) S`, then `r <- r - S^T a`, in one pass.
    pub(super) fn decay_and_measure<F: Real>(state: &mut [F], v: usize, factors: &[F], erase: &[F], r: &mut [F]) {
        #[inline(always)]
        fn block<F: Real, const L: usize>(state: &mut [F], v: usize, factors: &[F], erase: &[F], r: &mut [F], first: usize) {
            let mut sums: [F; L] = load(r, first);
            for ((row, &factor), &a) in state.chunks_exact_mut(v).zip(factors).zip(erase) {
                let mut s: [F; L] = load(row, first);
                for l in 0..L {
                    s[l] *= factor;
                    sums[l] -= a * s[l];
                }
                store(row, first, s);
            }
            store(r, first, sums);
        }
        by_columns!(v, |first, L| block::<F, L>(state, v, factors, erase, r, first));
    }

    /// `S <- S + k r^T`, then `o <- S^T q` added to `o`, in one pass.
    pub(super) fn edit_and_read<F: Real>(state: &mut [F], v: usize, key: &[F], r: &[F], query: &[F], o: &mut [F]) {
        #[inline(always)]
        fn block<F: Real, const L: usize>(state: &mut [F], v: usize, key: &[F], r: &[F], query: &[F], o: &mut [F], first: usize) {
            let (r, mut sums): ([F; L], [F; L]) = (load(r, first), load(o, first));
            for ((row, &k), &q) in state.chunks_exact_mut(v).zip(key).zip(query) {
                let mut s: [F; L] = load(row, first);
                for l in 0..L {
                    s[l] += k * r[l];
                    sums[l] += q * s[l];
                }
                store(row, first, s);
            }
            store(o, first, sums);
        }
        by_columns!(v, |first, L| block::<F, L>(state, v, key, r, query, o, first));
    }

    /// `x_i = S_i . r` for every row: the products of a state with a value vector. `sums` is scratch `[8 K]`.
    pub(super) fn rows_dot<F: Real>(state: &[F], v: usize, r: &[F], x: &mut [F], sums: &mut [F]) {
        for (row, kept) in state.chunks_exact(v).zip(sums.chunks_exact_mut(SUMS)) {
            let mut sums = [F::zero(); SUMS];
            add_products(&mut sums, row, r);
            kept.copy_from_slice(&sums);
        }
        fold(sums, x);
    }

    /// Through a decay: `dg = rowsum(dS' * S')`, then `dS <- Diag(factors) dS'`, in one pass. `before` is `S'`, `sums` scratch `[8 K]`.
    pub(super) fn decay_gradient<F: Real>(d_state: &mut [F], before: &[F], v: usize, factors: &[F], d_g: &mut [F], sums: &mut [F]) {
        let rows = d_state.chunks_exact_mut(v).zip(before.chunks_exact(v));
        for ((row, before), (&factor, kept)) in rows.zip(factors.iter().zip(sums.chunks_exact_mut(SUMS))) {
            let mut sums = [F::zero(); SUMS];
            add_products(&mut sums, row, before);
            kept.copy_from_slice(&sums);
            row.iter_mut().for_each(|s| *s *= factor);
        }
        fold(sums, d_g);
    }
}
