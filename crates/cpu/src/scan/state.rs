//! Passes over one state `[K, V]`, four rows at a time so that the row vectors they share stay in registers.

use crate::{
    Real,
    reduce::{add_scaled, dot},
};

/// Splits four rows of length `v`.
#[inline(always)]
fn rows<F>(block: &[F], v: usize) -> [&[F]; 4] {
    let (front, back) = block.split_at(2 * v);
    let ((a, b), (c, d)) = (front.split_at(v), back.split_at(v));
    [a, b, c, &d[..v]]
}

#[inline(always)]
fn rows_mut<F>(block: &mut [F], v: usize) -> [&mut [F]; 4] {
    let (front, back) = block.split_at_mut(2 * v);
    let ((a, b), (c, d)) = (front.split_at_mut(v), back.split_at_mut(v));
    [a, b, c, &mut d[..v]]
}

#[inline(always)]
fn four<F: Copy>(x: &[F], at: usize) -> [F; 4] {
    [x[at], x[at + 1], x[at + 2], x[at + 3]]
}

/// `S <- Diag(factors) S`.
pub(super) fn decay<F: Real>(state: &mut [F], v: usize, factors: &[F]) {
    for (row, &factor) in state.chunks_exact_mut(v).zip(factors) {
        row.iter_mut().for_each(|s| *s *= factor);
    }
}

/// `r += sign S^T x`: with `sign = -1` what the memory holds at `x` is measured, with `sign = 1` it is read.
pub(super) fn add_read<F: Real>(state: &[F], v: usize, x: &[F], sign: F, r: &mut [F]) {
    let r = &mut r[..v];
    for (i, block) in state.chunks_exact(4 * v).enumerate() {
        let [s0, s1, s2, s3] = rows(block, v);
        let [x0, x1, x2, x3] = four(x, 4 * i).map(|x| sign * x);
        for j in 0..v {
            r[j] += (x0 * s0[j] + x1 * s1[j]) + (x2 * s2[j] + x3 * s3[j]);
        }
    }
}

/// `S <- S + sign k r^T`.
pub(super) fn edit<F: Real>(state: &mut [F], v: usize, key: &[F], sign: F, r: &[F]) {
    let r = &r[..v];
    for (i, block) in state.chunks_exact_mut(4 * v).enumerate() {
        let [s0, s1, s2, s3] = rows_mut(block, v);
        let [k0, k1, k2, k3] = four(key, 4 * i).map(|k| sign * k);
        for j in 0..v {
            s0[j] += k0 * r[j];
            s1[j] += k1 * r[j];
            s2[j] += k2 * r[j];
            s3[j] += k3 * r[j];
        }
    }
}

/// `S <- Diag(factors) S`, then `r <- r - S^T a`, in one pass.
pub(super) fn decay_and_measure<F: Real>(state: &mut [F], v: usize, factors: &[F], erase: &[F], r: &mut [F]) {
    let r = &mut r[..v];
    for (i, block) in state.chunks_exact_mut(4 * v).enumerate() {
        let [s0, s1, s2, s3] = rows_mut(block, v);
        let ([f0, f1, f2, f3], [a0, a1, a2, a3]) = (four(factors, 4 * i), four(erase, 4 * i));
        for j in 0..v {
            (s0[j], s1[j], s2[j], s3[j]) = (f0 * s0[j], f1 * s1[j], f2 * s2[j], f3 * s3[j]);
            r[j] -= (a0 * s0[j] + a1 * s1[j]) + (a2 * s2[j] + a3 * s3[j]);
        }
    }
}

/// `S <- S + k r^T`, then `o <- S^T q` added to `o`, in one pass.
pub(super) fn edit_and_read<F: Real>(state: &mut [F], v: usize, key: &[F], r: &[F], query: &[F], o: &mut [F]) {
    let (r, o) = (&r[..v], &mut o[..v]);
    for (i, block) in state.chunks_exact_mut(4 * v).enumerate() {
        let [s0, s1, s2, s3] = rows_mut(block, v);
        let ([k0, k1, k2, k3], [q0, q1, q2, q3]) = (four(key, 4 * i), four(query, 4 * i));
        for j in 0..v {
            s0[j] += k0 * r[j];
            s1[j] += k1 * r[j];
            s2[j] += k2 * r[j];
            s3[j] += k3 * r[j];
            o[j] += (q0 * s0[j] + q1 * s1[j]) + (q2 * s2[j] + q3 * s3[j]);
        }
    }
}

/// `x_i = S_i . r` for every row: the products of a state with a value vector.
pub(super) fn rows_dot<F: Real>(state: &[F], v: usize, r: &[F], x: &mut [F]) {
    for (row, x) in state.chunks_exact(v).zip(x) {
        *x = dot(row, r);
    }
}

/// Through an edit: `dk = dS r` set, `dr += dS^T k`, in one pass.
pub(super) fn edit_gradient<F: Real>(d_state: &[F], v: usize, key: &[F], r: &[F], d_key: &mut [F], d_r: &mut [F]) {
    let d_r = &mut d_r[..v];
    for (i, block) in d_state.chunks_exact(4 * v).enumerate() {
        let [s0, s1, s2, s3] = rows(block, v);
        let [k0, k1, k2, k3] = four(key, 4 * i);
        d_key[4 * i..][..4].copy_from_slice(&[dot(s0, r), dot(s1, r), dot(s2, r), dot(s3, r)]);
        for j in 0..v {
            d_r[j] += (k0 * s0[j] + k1 * s1[j]) + (k2 * s2[j] + k3 * s3[j]);
        }
    }
}

/// Through a measurement and a decay, row by row: `da = -S' dr`, `dS' = dS - a dr^T`, `dg = rowsum(dS' * S')`, `dS <- Diag(factors) dS'`.
///
/// `before` is `S'`. Without an erase vector or without factors that part is left out.
pub(super) fn measure_gradient<F: Real>(
    d_state: &mut [F],
    before: &[F],
    d_r: &[F],
    (erase, d_erase): (Option<&[F]>, &mut [F]),
    (factors, d_g): (Option<&[F]>, &mut [F]),
) {
    let v = d_r.len();
    for (i, (row, before)) in d_state.chunks_exact_mut(v).zip(before.chunks_exact(v)).enumerate() {
        if let Some(erase) = erase {
            d_erase[i] = -dot(before, d_r);
            add_scaled(row, -erase[i], d_r);
        }
        if let Some(factors) = factors {
            d_g[i] = dot(row, before);
            row.iter_mut().for_each(|s| *s *= factors[i]);
        }
    }
}
