//! `y[n, h, j] = weight[j] * o / sqrt(mean_j(o^2) + NORM_EPSILON) * sigmoid(gate)`; without a gate its factor is 1.

use super::rms_norm::inverse_rms;
use crate::Real;
use crate::reduce::dot;
use crate::rows::{Gradient, Rows, put};
use crate::wide::wide;

wide! {
    /// `o` and `y` `[N, H * V]`, `weight` `[V]`, `gate` `[N, H * V]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], o: &[F], weight: &[F], gate: Option<Rows<F>>, heads: usize) {
        let value = weight.len();
        for (index, (y, o)) in y.chunks_exact_mut(value).zip(o.chunks_exact(value)).enumerate() {
            let scale = inverse_rms(o);
            for j in 0..value {
                y[j] = weight[j] * (o[j] * scale);
            }
            if let Some(gate) = gate {
                let gate = &gate.row(index / heads)[index % heads * value..][..value];
                for j in 0..value {
                    y[j] *= gate[j].sigmoid();
                }
            }
        }
    }

    /// With `n = o / rms` and `s = sigmoid(gate)`: `dweight = sum dy n s`; `dgate = dy weight n s (1 - s)`;
    /// `dn = dy weight s`; `do = (dn - n mean(dn n)) / rms`. `row` is scratch `[V]`.
    pub(crate) fn backward<F: Real>(
        d_o: Option<Gradient<F>>,
        dweight: Option<Gradient<F>>,
        dgate: Option<Gradient<F>>,
        dy: &[F],
        o: &[F],
        weight: &[F],
        gate: Option<Rows<F>>,
        heads: usize,
        row: &mut [F],
    ) {
    let (mut d_o, mut dweight, mut dgate) = (d_o, dweight, dgate);
        let value = weight.len();
        let dn = &mut row[..value];
        let mut dweight = dweight.as_mut().map(Gradient::accumulator);
        for (index, (dy, o)) in dy.chunks_exact(value).zip(o.chunks_exact(value)).enumerate() {
            let (n, head) = (index / heads, index % heads);
            let scale = inverse_rms(o);
            dn.copy_from_slice(dy);
            if let Some(gate) = gate {
                let gate = &gate.row(n)[head * value..][..value];
                match dgate.as_mut() {
                    Some(dgate) => {
                        let adds = dgate.adds;
                        let dgate = &mut dgate.row(n)[head * value..][..value];
                        for j in 0..value {
                            let s = gate[j].sigmoid();
                            put(&mut dgate[j], dy[j] * weight[j] * (o[j] * scale) * s * (F::one() - s), adds);
                            dn[j] *= s;
                        }
                    }
                    None => (0..value).for_each(|j| dn[j] *= gate[j].sigmoid()),
                }
            }
            // dn is dy s here; weight is still to come.
            if let Some(dweight) = dweight.as_deref_mut() {
                for j in 0..value {
                    dweight[j] += dn[j] * (o[j] * scale);
                }
            }
            let Some(d_o) = d_o.as_mut() else { continue };
            for j in 0..value {
                dn[j] *= weight[j];
            }
            let mean = dot(dn, o) * scale / F::of(value as f64);
            let adds = d_o.adds;
            let d_o = &mut d_o.row(n)[head * value..][..value];
            for j in 0..value {
                put(&mut d_o[j], scale * (dn[j] - o[j] * scale * mean), adds);
            }
        }
    }
}
