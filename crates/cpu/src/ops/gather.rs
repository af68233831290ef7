//! `y[i] = x[rows[i]]`.

use crate::Real;
use crate::rows::Gradient;
use crate::wide::wide;

wide! {
    /// `x` `[N, d]`, `rows` `[L]`, `y` `[L, d]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], x: &[F], rows: &[u32], d: usize) {
        for (y, &row) in y.chunks_exact_mut(d).zip(rows) {
            y.copy_from_slice(&x[row as usize * d..][..d]);
        }
    }

    /// `dx[rows[i]] = dy[i]`, zero in the other rows.
    pub(crate) fn backward<F: Real>(dx: Option<Gradient<F>>, dy: &[F], rows: &[u32], d: usize) {
        let Some(mut dx) = dx else { return };
        let dx = dx.accumulator();
        for (dy, &row) in dy.chunks_exact(d).zip(rows) {
            for (dx, &dy) in dx[row as usize * d..][..d].iter_mut().zip(dy) {
                *dx += dy;
            }
        }
    }
}
