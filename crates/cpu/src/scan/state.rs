//! Passes over one state `[K, V]`. Columns go in blocks of fixed size, so that the value vectors they share stay in registers.

use crate::Real;
use crate::columns::{by_columns, load, store};
use crate::wide::wide;

/// Sums that are kept of a product along a row.
const SUMS: usize = 4;

/// Adds up `a_j b_j` of a block, down to [`SUMS`]; blocks after the first add to what is kept.
#[inline(always)]
fn keep_products<F: Real, const L: usize>(kept: &mut [F], first: usize, a: &[F; L], b: &[F; L]) {
    let mut products: [F; L] = std::array::from_fn(|l| a[l] * b[l]);
    let mut count = L;
    while count > SUMS {
        count /= 2;
        for l in 0..count {
            products[l] += products[l + count];
        }
    }
    let kept = &mut kept[..SUMS];
    for l in 0..SUMS {
        kept[l] = if first > 0 { kept[l] + products[l] } else { products[l] };
    }
}

/// Folds what was kept of every row, in a fixed order. A loop of its own: within the products it would keep them from becoming SIMD.
#[inline(always)]
fn fold<F: Real>(kept: &[F], x: &mut [F]) {
    for (s, x) in kept.chunks_exact(SUMS).zip(x) {
        *x = (s[0] + s[2]) + (s[1] + s[3]);
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

    /// `after = S + k r^T`.
    pub(super) fn edit_to<F: Real>(state: &[F], after: &mut [F], v: usize, key: &[F], r: &[F]) {
        #[inline(always)]
        fn block<F: Real, const L: usize>(state: &[F], after: &mut [F], v: usize, key: &[F], r: &[F], first: usize) {
            let r: [F; L] = load(r, first);
            for ((row, after), &k) in state.chunks_exact(v).zip(after.chunks_exact_mut(v)).zip(key) {
                let mut s: [F; L] = load(row, first);
                for l in 0..L {
                    s[l] += k * r[l];
                }
                store(after, first, s);
            }
        }
        by_columns!(v, |first, L| block::<F, L>(state, after, v, key, r, first));
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

    /// `x_i = S_i . r` for every row: the products of a state with a value vector. `kept` is scratch `[4 K]`.
    pub(super) fn rows_dot<F: Real>(state: &[F], v: usize, r: &[F], x: &mut [F], kept: &mut [F]) {
        #[inline(always)]
        fn block<F: Real, const L: usize>(state: &[F], v: usize, r: &[F], kept: &mut [F], first: usize) {
            let r: [F; L] = load(r, first);
            for (row, kept) in state.chunks_exact(v).zip(kept.chunks_exact_mut(SUMS)) {
                keep_products(kept, first, &load(row, first), &r);
            }
        }
        by_columns!(v, |first, L| block::<F, L>(state, v, r, kept, first));
        fold(kept, x);
    }

    /// Through a decay: `dg = rowsum(dS' * S')`, then `dS <- Diag(factors) dS'`, in one pass. `before` is `S'`, `kept` scratch `[4 K]`.
    pub(super) fn decay_gradient<F: Real>(d_state: &mut [F], before: &[F], v: usize, factors: &[F], d_g: &mut [F], kept: &mut [F]) {
        #[inline(always)]
        fn block<F: Real, const L: usize>(d_state: &mut [F], before: &[F], v: usize, factors: &[F], kept: &mut [F], first: usize) {
            let rows = d_state.chunks_exact_mut(v).zip(before.chunks_exact(v));
            for ((row, before), (&factor, kept)) in rows.zip(factors.iter().zip(kept.chunks_exact_mut(SUMS))) {
                let mut s: [F; L] = load(row, first);
                keep_products(kept, first, &s, &load(before, first));
                for l in 0..L {
                    s[l] *= factor;
                }
                store(row, first, s);
            }
        }
        by_columns!(v, |first, L| block::<F, L>(d_state, before, v, factors, kept, first));
        fold(kept, d_g);
    }
}
