//! `y = silu(a) * b` with `a = x[:, ..M]`, `b = x[:, M..]`.

use crate::Real;
use crate::rows::{Gradient, put};
use crate::wide::wide;

wide! {
    /// `x` `[N, 2 M]`, `y` `[N, M]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], x: &[F], m: usize) {
        for (y, x) in y.chunks_exact_mut(m).zip(x.chunks_exact(2 * m)) {
            let (a, b) = x.split_at(m);
            let b = &b[..m];
            for j in 0..m {
                y[j] = a[j] * a[j].sigmoid() * b[j];
            }
        }
    }

    /// With `s = sigmoid(a)`: `da = dy b s (1 + a (1 - s))`; `db = dy a s`.
    pub(crate) fn backward<F: Real>(dx: Option<Gradient<F>>, dy: &[F], x: &[F], m: usize) {
        let Some(mut dx) = dx else { return };
        let adds = dx.adds;
        for (n, (dy, x)) in dy.chunks_exact(m).zip(x.chunks_exact(2 * m)).enumerate() {
            let ((a, b), (da, db)) = (x.split_at(m), dx.row(n).split_at_mut(m));
            let (b, db) = (&b[..m], &mut db[..m]);
            for j in 0..m {
                let s = a[j].sigmoid();
                put(&mut da[j], dy[j] * b[j] * s * (F::one() + a[j] * (F::one() - s)), adds);
                put(&mut db[j], dy[j] * a[j] * s, adds);
            }
        }
    }
}
