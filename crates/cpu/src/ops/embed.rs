//! `y[n] = table[tokens[n]]`.

use crate::Real;
use crate::rows::Gradient;
use crate::wide::wide;

wide! {
    /// `tokens` `[N]`, `table` `[vocab, d]`, `y` `[N, d]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], tokens: &[u32], table: &[F], d: usize) {
        for (y, &token) in y.chunks_exact_mut(d).zip(tokens) {
            y.copy_from_slice(&table[token as usize * d..][..d]);
        }
    }

    /// `dtable[token] = sum of dy over the token's positions`, in order of position.
    pub(crate) fn backward<F: Real>(dtable: Option<Gradient<F>>, dy: &[F], tokens: &[u32], d: usize) {
        let Some(mut dtable) = dtable else { return };
        let dtable = dtable.accumulator();
        for (dy, &token) in dy.chunks_exact(d).zip(tokens) {
            for (dtable, &dy) in dtable[token as usize * d..][..d].iter_mut().zip(dy) {
                *dtable += dy;
            }
        }
    }
}
