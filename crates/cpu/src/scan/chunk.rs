//! One chunk's steps as matrices; [`super::chunked`] has the equations.

use super::product::add_product;
use super::step::{Step, decay_factors, query, row_of};
use crate::{
    Real,
    reduce::{add_scaled, dot},
};
use palimpsest_plan::ScanShape;
use palimpsest_rules::StepLayout;
use std::ops::Range;

/// Sizes that all chunks of a scan share.
#[derive(Clone, Copy)]
pub(super) struct Sizes<'a> {
    pub(super) layout: &'a StepLayout,
    pub(super) shape: ScanShape,
    /// Steps per token.
    pub(super) per_token: usize,
}

/// Everything about one chunk that both passes need.
pub(super) struct Chunk<'a, F> {
    /// `exp g_i` `[M, K]`; ones where a step has no decay.
    pub(super) factors: &'a mut [F],
    /// `D_i` `[M, K]`.
    pub(super) from_start: &'a mut [F],
    /// `E_ij * k_j` for `j <= i` `[M (M + 1) / 2, K]`; row i starts at `pairs(i)`.
    pub(super) keys: &'a mut [F],
    /// `A` `[M, M]`, below the diagonal.
    pub(super) a: &'a mut [F],
    /// `P` `[C, M]`.
    pub(super) p: &'a mut [F],
    /// `a_i * D_i` `[M, K]`.
    pub(super) erase: &'a mut [F],
    /// `q_t * D_last(t)` `[C, K]`.
    pub(super) query: &'a mut [F],
    /// `R` `[M, V]`.
    pub(super) r: &'a mut [F],
}

/// Rows of decayed keys before those of step i.
pub(super) fn pairs(i: usize) -> usize {
    i * (i + 1) / 2
}

/// Lengths of the slices of a [`Chunk`], in their order.
pub(super) fn lens(Sizes { shape, per_token, .. }: Sizes, tokens: usize) -> [usize; 8] {
    let m = tokens * per_token;
    [m * shape.key, m * shape.key, pairs(m) * shape.key, m * m, tokens * m, m * shape.key, tokens * shape.key, m * shape.value]
}

impl<F: Real> Chunk<'_, F> {
    /// Fills all but `r` from the rows of a sequence's tokens, and `r` with U.
    pub(super) fn gather(&mut self, sizes: Sizes, steps: &[F], sequence: usize, tokens: Range<usize>) {
        let Sizes { layout, shape, per_token } = sizes;
        let (k, v, m) = (shape.key, shape.value, tokens.len() * per_token);
        self.p[..tokens.len() * m].fill(F::zero());
        for i in 0..m {
            let (token, s) = (i / per_token, i % per_token);
            let slots = &layout.steps[s];
            let row = row_of(steps, shape, layout.stride, sequence, tokens.start + token);
            let step = Step::read(slots, row, shape);
            step.value(&mut self.r[i * v..][..v]);

            let factors = &mut self.factors[i * k..][..k];
            if !decay_factors(slots, row, factors) {
                factors.fill(F::one());
            }
            let (before, from_start) = self.from_start.split_at_mut(i * k);
            let from_start = &mut from_start[..k];
            from_start.copy_from_slice(factors);
            if i > 0 {
                multiply(from_start, &before[(i - 1) * k..]);
            }
            let (before, now) = self.keys.split_at_mut(pairs(i) * k);
            let now = &mut now[..(i + 1) * k];
            if i > 0 {
                now[..i * k].copy_from_slice(&before[pairs(i - 1) * k..]);
                now[..i * k].chunks_exact_mut(k).for_each(|key| multiply(key, factors));
            }
            now[i * k..].copy_from_slice(step.key);

            let erase = &mut self.erase[i * k..][..k];
            let a = &mut self.a[i * m..][..i];
            match step.erase {
                Some(vector) => {
                    erase.copy_from_slice(vector);
                    multiply(erase, from_start);
                    a.iter_mut().zip(now.chunks_exact(k)).for_each(|(a, key)| *a = dot(vector, key));
                }
                None => {
                    erase.fill(F::zero());
                    a.fill(F::zero());
                }
            }
            if s + 1 == per_token {
                let vector = query(layout, row, shape);
                let query = &mut self.query[token * k..][..k];
                query.copy_from_slice(vector);
                multiply(query, from_start);
                let p = &mut self.p[token * m..][..m];
                p.iter_mut().zip(now.chunks_exact(k)).for_each(|(p, key)| *p = dot(vector, key));
            }
        }
    }

    /// From U to R: `R_i = U_i - (a_i * D_i) S0 - sum_{j < i} A_ij R_j`.
    pub(super) fn solve(&mut self, m: usize, shape: ScanShape, state: &[F]) {
        let v = shape.value;
        add_product([m, shape.key, v], -F::one(), self.erase, [shape.key, 1], state, self.r);
        for i in 1..m {
            let (before, r) = self.r.split_at_mut(i * v);
            for (&a, r_j) in self.a[i * m..][..i].iter().zip(before.chunks_exact(v)) {
                add_scaled(&mut r[..v], -a, r_j);
            }
        }
    }

    /// `E_Mj * k_j` `[M, K]`.
    pub(super) fn keys_at_end(&self, m: usize, key: usize) -> &[F] {
        &self.keys[pairs(m - 1) * key..][..m * key]
    }

    /// `S <- Diag(D_M) S`.
    pub(super) fn carry(&self, m: usize, shape: ScanShape, state: &mut [F]) {
        for (row, &factor) in state.chunks_exact_mut(shape.value).zip(&self.from_start[(m - 1) * shape.key..]) {
            row.iter_mut().for_each(|s| *s *= factor);
        }
    }
}

/// `x <- x * y`, elementwise.
#[inline(always)]
pub(super) fn multiply<F: Real>(x: &mut [F], y: &[F]) {
    x.iter_mut().zip(y).for_each(|(x, &y)| *x *= y);
}

/// The chunk's lengths after the pass's own.
pub(super) fn with<const N: usize, const M: usize>(chunk: [usize; 8], own: [usize; N]) -> [usize; M] {
    std::array::from_fn(|i| if i < N { own[i] } else { chunk[i - N] })
}
