//! The chunked form: within a chunk the steps become matrices and one triangular solve.
//!
//! A chunk has C tokens and M = C n steps, counted by i and j in order; `S0` is the state before it. With
//! `E_ij = exp(g_{j+1} + ... + g_i)` per key channel, `D_i = exp(g_1 + ... + g_i)` and `last(t)` the last step of token t:
//!
//! - `A_ij = sum_d a_id E_ijd k_jd` for `j < i`; `P_tj = sum_d q_td E_last(t)jd k_jd` for `j <= last(t)`
//! - `(I + A) R = U - (a * D) S0`
//! - `o = (q * D) S0 + P R`
//! - `S = Diag(D_M) S0 + (E_M * k)^T R`
//!
//! `E` and `D` are running products of `exp g <= 1`: nothing overflows at any decay, and their error grows with `i - j` rather than
//! with the size of the summed exponents. The decayed keys `E_ij * k_j` are kept for every pair, M (M + 1) / 2 rows of K.

use super::chunk::{Chunk, Sizes, lens, multiply, pairs, with};
use super::product::{add_product, transpose};
use super::step::{Step, query, row_of, row_of_mut, set_decay_gradient, set_gradient};
use super::{Backward, Forward, Scratch, start};
use crate::{
    Real,
    reduce::{add_scaled, dot},
};
use palimpsest_plan::ScanShape;
use palimpsest_rules::StepLayout;

/// Most tokens in a chunk: the pairs of a longer one outgrow the caches. A scan asked for more uses this.
pub const LONGEST: usize = 128;

/// `x <- x + y * z`, elementwise.
#[inline(always)]
fn add_multiplied<F: Real>(x: &mut [F], y: &[F], z: &[F]) {
    x.iter_mut().zip(y).zip(z).for_each(|((x, &y), &z)| *x += y * z);
}

/// Runs all sequences, `tokens_per_chunk` tokens at a time. Sizes are the caller's to check.
pub(crate) fn forward<F: Real>(
    layout: &StepLayout,
    shape: ScanShape,
    tokens_per_chunk: usize,
    mut io: Forward<F>,
    scratch: &mut Scratch<F>,
) {
    let ScanShape { batch, time, heads, key, value } = shape;
    let (size, chunks) = (key * value, time.div_ceil(tokens_per_chunk));
    let sizes = Sizes { layout, shape, per_token: layout.steps.len() };
    let [state, reads, a, b, c, d, e, f, g, h] = scratch.parts(with(lens(sizes, tokens_per_chunk), [size, tokens_per_chunk * value]));
    let mut chunk = Chunk { factors: a, from_start: b, keys: c, a: d, p: e, erase: f, query: g, r: h };
    for sequence in 0..batch * heads {
        start(io.initial, sequence, state);
        for index in 0..chunks {
            let tokens = index * tokens_per_chunk..time.min((index + 1) * tokens_per_chunk);
            let m = tokens.len() * sizes.per_token;
            if let Some(checkpoints) = &mut io.checkpoints {
                checkpoints[(sequence * chunks + index) * size..][..size].copy_from_slice(state);
            }
            chunk.gather(sizes, io.steps, sequence, tokens.clone());
            chunk.solve(m, shape, state);
            reads.fill(F::zero());
            add_product([tokens.len(), key, value], F::one(), chunk.query, [key, 1], state, reads);
            add_product([tokens.len(), m, value], F::one(), chunk.p, [m, 1], chunk.r, reads);
            for (t, read) in tokens.zip(reads.chunks_exact(value)) {
                row_of_mut(io.o, shape, value, sequence, t).copy_from_slice(read);
            }
            chunk.carry(m, shape, state);
            add_product([key, m, value], F::one(), chunk.keys_at_end(m, key), [1, key], chunk.r, state);
        }
        if let Some(last) = &mut io.last {
            last[sequence * size..][..size].copy_from_slice(state);
        }
    }
}

/// Gradients. With `X = dU`, `dR = P^T do + (E_M * k) dS` and `(I + A)^T X = dR`:
///
/// - `dA_ij = -X_i . R_j`, `dP_tj = do_t . R_j`, `d(a * D) = -X S0^T`, `d(q * D) = do S0^T`, `d(E_M * k) = R dS^T`
/// - `dS0 = Diag(D_M) dS + (q * D)^T do - (a * D)^T X`, `dD_M = rowsum(dS * S0)`
///
/// and through the running products from the last step to the first, with `dk_j` the gradient of `E_ij * k_j`:
/// `dk_j += dA_ij a_i + dP_tj q_t`, `dg_i = D_i * dD_i + sum_{j < i} (E_ij * k_j) * dk_j`, then `dk_j` and `dD` take the factor `exp g_i`.
pub(crate) fn backward<F: Real>(
    layout: &StepLayout,
    shape: ScanShape,
    tokens_per_chunk: usize,
    mut io: Backward<F>,
    scratch: &mut Scratch<F>,
) {
    let ScanShape { batch, time, heads, key, value } = shape;
    let (size, chunks) = (key * value, time.div_ceil(tokens_per_chunk));
    let sizes = Sizes { layout, shape, per_token: layout.steps.len() };
    let most = tokens_per_chunk * sizes.per_token;
    let own = [size, size, tokens_per_chunk * value, most * value, most * key, tokens_per_chunk * key, most * key, key, key];
    let [d_state, turned, d_reads, x, d_erase, d_query, d_keys, d_start, sum, a, b, c, d, e, f, g, h] =
        scratch.parts(with(lens(sizes, tokens_per_chunk), own));
    let mut chunk = Chunk { factors: a, from_start: b, keys: c, a: d, p: e, erase: f, query: g, r: h };
    for sequence in 0..batch * heads {
        start(io.d_last, sequence, d_state);
        for index in (0..chunks).rev() {
            let tokens = index * tokens_per_chunk..time.min((index + 1) * tokens_per_chunk);
            let (first, count) = (tokens.start, tokens.len());
            let m = count * sizes.per_token;
            let state = &io.checkpoints[(sequence * chunks + index) * size..][..size];
            chunk.gather(sizes, io.steps, sequence, tokens.clone());
            chunk.solve(m, shape, state);
            for (t, d_read) in tokens.zip(d_reads.chunks_exact_mut(value)) {
                d_read.copy_from_slice(row_of(io.d_o, shape, value, sequence, t));
            }

            x.fill(F::zero());
            add_product([m, count, value], F::one(), chunk.p, [1, m], d_reads, x);
            add_product([m, key, value], F::one(), chunk.keys_at_end(m, key), [key, 1], d_state, x);
            for i in (1..m).rev() {
                let (before, x) = x.split_at_mut(i * value);
                for (&a, x_j) in chunk.a[i * m..][..i].iter().zip(before.chunks_exact_mut(value)) {
                    add_scaled(x_j, -a, &x[..value]);
                }
            }

            transpose(state, value, turned);
            [&mut *d_erase, d_query, d_keys].into_iter().for_each(|gradient| gradient.fill(F::zero()));
            add_product([m, value, key], -F::one(), x, [value, 1], turned, d_erase);
            add_product([count, value, key], F::one(), d_reads, [value, 1], turned, d_query);
            transpose(d_state, value, turned);
            add_product([m, value, key], F::one(), chunk.r, [value, 1], turned, d_keys);
            for ((d_start, d_s), s) in d_start.iter_mut().zip(d_state.chunks_exact(value)).zip(state.chunks_exact(value)) {
                *d_start = dot(d_s, s);
            }
            chunk.carry(m, shape, d_state);
            add_product([key, count, value], F::one(), chunk.query, [1, key], d_reads, d_state);
            add_product([key, m, value], -F::one(), chunk.erase, [1, key], x, d_state);

            for i in (0..m).rev() {
                let (token, s) = (i / sizes.per_token, i % sizes.per_token);
                let slots = &layout.steps[s];
                let row = row_of(io.steps, shape, layout.stride, sequence, first + token);
                let d_row = row_of_mut(io.d_steps, shape, layout.stride, sequence, first + token);
                let step = Step::read(slots, row, shape);
                let (from_start, keys) = (&chunk.from_start[i * key..][..key], &chunk.keys[pairs(i) * key..][..(i + 1) * key]);
                let x_i = &x[i * value..][..value];
                set_gradient(slots.write, d_row, x_i);
                if s + 1 == sizes.per_token {
                    let (vector, d_read) = (query(layout, row, shape), &d_reads[token * value..][..value]);
                    let d_query = &mut d_query[token * key..][..key];
                    add_multiplied(d_start, vector, d_query);
                    multiply(d_query, from_start);
                    for ((key_j, d_key), r_j) in keys.chunks_exact(key).zip(d_keys.chunks_exact_mut(key)).zip(chunk.r.chunks_exact(value)) {
                        let d_p = dot(d_read, r_j);
                        add_scaled(d_query, d_p, key_j);
                        add_scaled(d_key, d_p, vector);
                    }
                    set_gradient(Some(layout.query), d_row, d_query);
                }
                let keys = &keys[..i * key];
                if let Some(vector) = step.erase {
                    let d_erase = &mut d_erase[i * key..][..key];
                    add_multiplied(d_start, vector, d_erase);
                    multiply(d_erase, from_start);
                    for ((key_j, d_key), r_j) in keys.chunks_exact(key).zip(d_keys.chunks_exact_mut(key)).zip(chunk.r.chunks_exact(value)) {
                        let d_a = -dot(x_i, r_j);
                        add_scaled(d_erase, d_a, key_j);
                        add_scaled(d_key, d_a, vector);
                    }
                    set_gradient(slots.erase, d_row, d_erase);
                }
                set_gradient(Some(slots.key), d_row, &d_keys[i * key..][..key]);
                if slots.decay.is_some() {
                    sum.fill(F::zero());
                    add_multiplied(sum, from_start, d_start);
                    let factors = &chunk.factors[i * key..][..key];
                    for (key_j, d_key) in keys.chunks_exact(key).zip(d_keys.chunks_exact_mut(key)) {
                        add_multiplied(sum, key_j, d_key);
                        multiply(d_key, factors);
                    }
                    multiply(d_start, factors);
                    set_decay_gradient(slots, d_row, sum);
                }
            }
        }
        if let Some(initial) = &mut io.d_initial {
            initial.put(sequence, d_state);
        }
    }
}
