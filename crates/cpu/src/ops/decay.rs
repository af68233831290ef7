//! Log-decay from a projection: `D = softplus(x + bias)`, `A = exp(log_rate)`;
//! `g = -A D` (exponential) or `g = l (1 - exp(-A D / |l|))` (safe), written to `y[n, h, slot + j]`.

use crate::Real;
use crate::rows::{Gradient, Rows, put};
use crate::wide::wide;
use palimpsest_plan::{DecayForm, SAFE_FLOOR};

/// Where a head's decay goes in the packed inputs, and which formula.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) form: DecayForm,
    /// 1 or K.
    pub(crate) width: usize,
    pub(crate) slot: usize,
    pub(crate) heads: usize,
    /// Row length of the packed inputs.
    pub(crate) stride: usize,
}

wide! {
    /// `x` `[N, H * width]`, `log_rate` `[H]`, `bias` `[H * width]`, `y` `[N, H, stride]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], x: Rows<F>, log_rate: &[F], bias: &[F], shape: Shape) {
        let Shape { form, width, slot, heads, stride } = shape;
        let floor = F::of(f64::from(SAFE_FLOOR));
        for (n, y) in y.chunks_exact_mut(heads * stride).enumerate() {
            for head in 0..heads {
                let rate = log_rate[head].exponential();
                let (x, bias) = (&x.row(n)[head * width..][..width], &bias[head * width..][..width]);
                let y = &mut y[head * stride + slot..][..width];
                match form {
                    DecayForm::Exponential => {
                        for j in 0..width {
                            y[j] = -rate * (x[j] + bias[j]).softplus_and_slope().0;
                        }
                    }
                    DecayForm::Safe => {
                        for j in 0..width {
                            let softplus = (x[j] + bias[j]).softplus_and_slope().0;
                            y[j] = -floor * (rate * softplus / floor).exponential_less_one();
                        }
                    }
                }
            }
        }
    }

    /// With `z = A D` and `E = -dg/dz` (1, or `exp(-z / |l|)`): `dx = -dg E A sigmoid(x + bias)`; `dbias = sum dx`;
    /// `dlog_rate = sum -dg E z`. `row` is scratch `[2 width]`.
    pub(crate) fn backward<F: Real>(
        dx: Option<Gradient<F>>,
        dlog_rate: Option<Gradient<F>>,
        dbias: Option<Gradient<F>>,
        dy: &[F],
        x: Rows<F>,
        log_rate: &[F],
        bias: &[F],
        shape: Shape,
        row: &mut [F],
    ) {
    let (mut dx, mut dlog_rate, mut dbias) = (dx, dlog_rate, dbias);
        let Shape { form, width, slot, heads, stride } = shape;
        let floor = F::of(f64::from(SAFE_FLOOR));
        let (slopes, along_rate) = row[..2 * width].split_at_mut(width);
        let mut dlog_rate = dlog_rate.as_mut().map(Gradient::accumulator);
        let mut dbias = dbias.as_mut().map(Gradient::accumulator);
        for (n, dy) in dy.chunks_exact(heads * stride).enumerate() {
            for head in 0..heads {
                let rate = log_rate[head].exponential();
                let first = head * width;
                let (x, bias) = (&x.row(n)[first..][..width], &bias[first..][..width]);
                let dy = &dy[head * stride + slot..][..width];
                for j in 0..width {
                    let (softplus, slope) = (x[j] + bias[j]).softplus_and_slope();
                    let z = rate * softplus;
                    let dz = match form {
                        DecayForm::Exponential => -dy[j],
                        DecayForm::Safe => -dy[j] * (z / floor).exponential(),
                    };
                    slopes[j] = dz * rate * slope;
                    along_rate[j] = dz * z;
                }
                if let Some(dx) = dx.as_mut() {
                    let adds = dx.adds;
                    dx.row(n)[first..][..width].iter_mut().zip(&*slopes).for_each(|(dx, &slope)| put(dx, slope, adds));
                }
                if let Some(dbias) = dbias.as_deref_mut() {
                    dbias[first..][..width].iter_mut().zip(&*slopes).for_each(|(dbias, &slope)| *dbias += slope);
                }
                if let Some(dlog_rate) = dlog_rate.as_deref_mut() {
                    dlog_rate[head] += along_rate.iter().copied().sum::<F>();
                }
            }
        }
    }
}
