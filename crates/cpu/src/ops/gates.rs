//! `y[n, h, slot + j] = sigmoid(x[n, column] + bias[column])`; columns part-major, then head, then element.

use crate::Real;
use crate::rows::{Gradient, Rows, put};
use crate::wide::wide;
use palimpsest_plan::GatePart;

wide! {
    /// `x` `[N, C]`, `bias` `[C]`, `y` `[N, H, stride]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], x: Rows<F>, bias: &[F], parts: &[GatePart], heads: usize, stride: usize) {
        for (n, y) in y.chunks_exact_mut(heads * stride).enumerate() {
            let x = x.row(n);
            let mut column = 0;
            for part in parts {
                for y in y.chunks_exact_mut(stride) {
                    let (x, bias) = (&x[column..][..part.width], &bias[column..][..part.width]);
                    let y = &mut y[part.slot..][..part.width];
                    for j in 0..part.width {
                        y[j] = (x[j] + bias[j]).sigmoid();
                    }
                    column += part.width;
                }
            }
        }
    }

    /// `dx = dy y (1 - y)`; `dbias = sum dx`. `row` is scratch `[C]`.
    pub(crate) fn backward<F: Real>(
        dx: Option<Gradient<F>>,
        dbias: Option<Gradient<F>>,
        dy: &[F],
        y: &[F],
        parts: &[GatePart],
        heads: usize,
        stride: usize,
        row: &mut [F],
    ) {
    let (mut dx, mut dbias) = (dx, dbias);
        let columns = heads * parts.iter().map(|part| part.width).sum::<usize>();
        let slopes = &mut row[..columns];
        let mut dbias = dbias.as_mut().map(Gradient::accumulator);
        for (n, (dy, y)) in dy.chunks_exact(heads * stride).zip(y.chunks_exact(heads * stride)).enumerate() {
            let mut column = 0;
            for part in parts {
                for head in 0..heads {
                    let at = head * stride + part.slot;
                    let (dy, y) = (&dy[at..][..part.width], &y[at..][..part.width]);
                    let slopes = &mut slopes[column..][..part.width];
                    for j in 0..part.width {
                        slopes[j] = dy[j] * y[j] * (F::one() - y[j]);
                    }
                    column += part.width;
                }
            }
            if let Some(dx) = dx.as_mut() {
                let adds = dx.adds;
                dx.row(n).iter_mut().zip(&*slopes).for_each(|(dx, &slope)| put(dx, slope, adds));
            }
            if let Some(dbias) = dbias.as_deref_mut() {
                dbias.iter_mut().zip(&*slopes).for_each(|(dbias, &slope)| *dbias += slope);
            }
        }
    }
}
