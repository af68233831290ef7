//! Causal depthwise convolution along T, then SiLU, then (by part) unit vectors, packed into rule inputs.
//!
//! `c[t] = sum_i taps[column, i] x[t - (W - 1) + i]`, `s = c sigmoid(c)`, and for a unit part `y = s / |s|`.

use super::unit;
use crate::Real;
use crate::columns::{by_columns, load, store};
use crate::rows::{Gradient, Rows, put};
use crate::wide::wide;
use palimpsest_plan::ConvPart;

/// What both passes need to know.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a> {
    pub(crate) parts: &'a [ConvPart],
    pub(crate) heads: usize,
    /// T.
    pub(crate) time: usize,
    /// W; 0 without taps.
    pub(crate) taps: usize,
    /// Row length of the packed inputs.
    pub(crate) stride: usize,
}

/// Numbers of scratch for `columns` columns.
pub(crate) fn scratch(shape: Shape, columns: usize) -> usize {
    columns * (2 * shape.taps + shape.time + 1)
}

/// Taps with the column last: `[C, W]` to `[W, C]`, so that inner loops are contiguous.
#[inline(always)]
fn turn<F: Real>(turned: &mut [F], taps: &[F], width: usize) {
    let columns = taps.len() / width;
    for column in 0..columns {
        for i in 0..width {
            turned[i * columns + column] = taps[column * width + i];
        }
    }
}

/// `c [C]` of row `n`, given the turned taps `[W, C]` (none: `c = x`).
#[inline(always)]
fn convolve<F: Real>(c: &mut [F], x: Rows<F>, turned: &[F], shape: Shape, n: usize) {
    let columns = x.width;
    if shape.taps == 0 {
        c.copy_from_slice(x.row(n));
        return;
    }
    by_columns!(columns, |first, L| {
        let mut sums = [F::zero(); L];
        // Taps that fall before the sequence meet zeros.
        for i in (shape.taps - 1).saturating_sub(n % shape.time)..shape.taps {
            let back = shape.taps - 1 - i;
            let (x, taps): ([F; L], [F; L]) = (load(x.row(n - back), first), load(turned, i * columns + first));
            for l in 0..L {
                sums[l] += taps[l] * x[l];
            }
        }
        store(c, first, sums);
    });
}

/// Each part's (column, slot) of a head.
#[inline(always)]
fn pieces(parts: &[ConvPart], heads: usize) -> impl Iterator<Item = (ConvPart, usize, usize)> {
    let mut first = 0;
    parts.iter().flat_map(move |&part| {
        let start = first;
        first += heads * part.width;
        (0..heads).map(move |head| (part, head, start + head * part.width))
    })
}

wide! {
    /// `x` `[N, C]`, `taps` `[C, W]`, `y` `[N, H, stride]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], x: Rows<F>, taps: Option<&[F]>, shape: Shape, scratch: &mut [F]) {
        let columns = x.width;
        let (turned, rest) = scratch.split_at_mut(columns * shape.taps);
        let c = &mut rest[..columns];
        if let Some(taps) = taps {
            turn(turned, taps, shape.taps);
        }
        for (n, y) in y.chunks_exact_mut(shape.heads * shape.stride).enumerate() {
            convolve(c, x, turned, shape, n);
            for c in c.iter_mut() {
                *c *= c.sigmoid();
            }
            for (part, head, column) in pieces(shape.parts, shape.heads) {
                let s = &c[column..][..part.width];
                let y = &mut y[head * shape.stride + part.slot..][..part.width];
                let scale = if part.unit { unit::inverse_length(s) } else { F::one() };
                for j in 0..part.width {
                    y[j] = s[j] * scale;
                }
            }
        }
    }

    /// `ds` from `dy` (unit parts: `ds = (dy - y (y . dy)) / |s|`); `dc = ds sigmoid(c) (1 + c (1 - sigmoid(c)))`;
    /// `dx[t] = sum_i taps[i] dc[t + (W - 1) - i]`; `dtaps[i] = sum_t dc[t] x[t - (W - 1) + i]`.
    pub(crate) fn backward<F: Real>(
        dx: Option<Gradient<F>>,
        dtaps: Option<Gradient<F>>,
        dy: &[F],
        x: Rows<F>,
        taps: Option<&[F]>,
        shape: Shape,
        scratch: &mut [F],
    ) {
    let (mut dx, mut dtaps) = (dx, dtaps);
        let (columns, time) = (x.width, shape.time);
        let row = shape.heads * shape.stride;
        let (turned, rest) = scratch.split_at_mut(columns * shape.taps); // [W, C]
        let (dturned, rest) = rest.split_at_mut(columns * shape.taps); // [W, C]
        let (dc, rest) = rest.split_at_mut(columns * time); // [T, C] of one sequence
        let s = &mut rest[..columns];
        if let Some(taps) = taps {
            turn(turned, taps, shape.taps);
        }
        dturned.fill(F::zero());
        for sequence in 0..x.count() / time {
            for t in 0..time {
                let n = sequence * time + t;
                let (dc, dy) = (&mut dc[t * columns..][..columns], &dy[n * row..][..row]);
                convolve(dc, x, turned, shape, n);
                // Until here dc holds c; now s, and ds / dc in its place.
                for j in 0..columns {
                    let (c, sigmoid) = (dc[j], dc[j].sigmoid());
                    s[j] = c * sigmoid;
                    dc[j] = sigmoid * (F::one() + c * (F::one() - sigmoid));
                }
                for (part, head, column) in pieces(shape.parts, shape.heads) {
                    let dy = &dy[head * shape.stride + part.slot..][..part.width];
                    let dc = &mut dc[column..][..part.width];
                    if part.unit {
                        let s = &s[column..][..part.width];
                        let (scale, along) = unit::slope(s, dy);
                        for j in 0..part.width {
                            dc[j] *= scale * (dy[j] - s[j] * along);
                        }
                    } else {
                        for j in 0..part.width {
                            dc[j] *= dy[j];
                        }
                    }
                }
            }
            // Term 1: dx
            if let Some(dx) = dx.as_mut() {
                let adds = dx.adds;
                for t in 0..time {
                    let dx = dx.row(sequence * time + t);
                    if shape.taps == 0 {
                        dx.iter_mut().zip(&dc[t * columns..][..columns]).for_each(|(dx, &dc)| put(dx, dc, adds));
                        continue;
                    }
                    by_columns!(columns, |first, L| {
                        let mut sums = if adds { load(dx, first) } else { [F::zero(); L] };
                        for i in (t + shape.taps).saturating_sub(time)..shape.taps {
                            let later = t + shape.taps - 1 - i;
                            let (dc, taps): ([F; L], [F; L]) = (load(dc, later * columns + first), load(turned, i * columns + first));
                            for l in 0..L {
                                sums[l] += taps[l] * dc[l];
                            }
                        }
                        store(dx, first, sums);
                    });
                }
            }
            // Term 2: dtaps
            if dtaps.is_some() {
                by_columns!(columns, |first, L| {
                    for i in 0..shape.taps {
                        let back = shape.taps - 1 - i;
                        let mut sums: [F; L] = load(dturned, i * columns + first);
                        for t in back..time {
                            let (dc, x): ([F; L], [F; L]) = (load(dc, t * columns + first), load(x.row(sequence * time + t - back), first));
                            for l in 0..L {
                                sums[l] += dc[l] * x[l];
                            }
                        }
                        store(dturned, i * columns + first, sums);
                    }
                });
            }
        }
        if let Some(dtaps) = dtaps.as_mut() {
            let adds = dtaps.adds;
            for column in 0..columns {
                for i in 0..shape.taps {
                    put(&mut dtaps.data[column * shape.taps + i], dturned[i * columns + column], adds);
                }
            }
        }
    }
}
