//! Causal softmax attention per head: `o_t = sum_{s <= t} p_ts v_s`, `p_t = softmax_s(q_t . k_s / sqrt K)`.

use crate::Real;
use crate::reduce::{add_scaled, dot};
use crate::rows::Gradient;
use crate::wide::wide;
use palimpsest_plan::ScanShape;

/// Query, key and value of one (token, head) row `[2 K + V]`.
#[inline(always)]
fn split<F>(x: &[F], shape: ScanShape, row: usize) -> (&[F], &[F], &[F]) {
    let width = 2 * shape.key + shape.value;
    let (q, rest) = x[row * width..][..width].split_at(shape.key);
    let (k, v) = rest.split_at(shape.key);
    (q, k, v)
}

/// `p_t [t + 1]` of the token at `row`; the rows of a sequence and head are `heads` apart.
#[inline(always)]
fn weights<F: Real>(p: &mut [F], x: &[F], shape: ScanShape, row: usize) {
    let scale = F::one() / F::of(shape.key as f64).sqrt();
    let q = split(x, shape, row).0;
    let first = row - (p.len() - 1) * shape.heads;
    let mut max = F::neg_infinity();
    for (s, p) in p.iter_mut().enumerate() {
        *p = dot(q, split(x, shape, first + s * shape.heads).1) * scale;
        max = if *p > max { *p } else { max };
    }
    let mut sum = F::zero();
    for p in p.iter_mut() {
        *p = (*p - max).exponential();
        sum += *p;
    }
    let inverse = F::one() / sum;
    p.iter_mut().for_each(|p| *p *= inverse);
}

wide! {
    /// `x` `[B, T, H, 2 K + V]`, `o` `[B, T, H, V]`. `scratch` is `[T]`.
    pub(crate) fn forward<F: Real>(o: &mut [F], x: &[F], shape: ScanShape, scratch: &mut [F]) {
        for (row, o) in o.chunks_exact_mut(shape.value).enumerate() {
            let t = row / shape.heads % shape.time;
            let p = &mut scratch[..=t];
            weights(p, x, shape, row);
            o.fill(F::zero());
            for (s, &p) in p.iter().enumerate() {
                add_scaled(o, p, split(x, shape, row - (t - s) * shape.heads).2);
            }
        }
    }

    /// Term 1: `dv_s += p_ts do_t`; `dp_ts = do_t . v_s`; `da_ts = p_ts (dp_ts - do_t . o_t) / sqrt K`;
    /// term 2: `dq_t += da_ts k_s`; term 3: `dk_s += da_ts q_t`. `scratch` is `[T + K]`.
    pub(crate) fn backward<F: Real>(dx: Option<Gradient<F>>, d_o: &[F], o: &[F], x: &[F], shape: ScanShape, scratch: &mut [F]) {
        let Some(mut dx) = dx else { return };
        let dx = dx.accumulator();
        let (key, heads) = (shape.key, shape.heads);
        let width = 2 * key + shape.value;
        let scale = F::one() / F::of(key as f64).sqrt();
        let (p, dq) = scratch.split_at_mut(shape.time);
        let dq = &mut dq[..key];
        for (row, (d_o, o)) in d_o.chunks_exact(shape.value).zip(o.chunks_exact(shape.value)).enumerate() {
            let t = row / heads % shape.time;
            let p = &mut p[..=t];
            weights(p, x, shape, row);
            let (q, _, _) = split(x, shape, row);
            let along = dot(d_o, o);
            dq.fill(F::zero());
            for (s, &p) in p.iter().enumerate() {
                let source = row - (t - s) * heads;
                let (_, k, v) = split(x, shape, source);
                let (dk, dv) = dx[source * width + key..][..width - key].split_at_mut(key);
                let da = p * (dot(d_o, v) - along) * scale;
                add_scaled(dv, p, d_o);
                add_scaled(dq, da, k);
                add_scaled(dk, da, q);
            }
            add_scaled(&mut dx[row * width..][..key], F::one(), dq);
        }
    }
}
