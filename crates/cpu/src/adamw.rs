//! The update: global-norm clipping and AdamW with decoupled weight decay.

use crate::Real;
use palimpsest_plan::AdamW;

/// The factor that brings a gradient of this norm down to `clip`; 1 when it is shorter, clipping is off, or the norm is NaN.
pub(crate) fn clip_factor(norm: f64, clip: f32) -> f64 {
    let clip = f64::from(clip);
    if clip > 0.0 && norm > clip { clip / norm } else { 1.0 }
}

/// Sum of squares in double precision, in order.
pub(crate) fn square_sum<F: Real>(gradient: &[F]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0f64; LANES];
    for chunk in gradient.chunks(LANES) {
        for (sum, g) in sums.iter_mut().zip(chunk) {
            *sum += g.double() * g.double();
        }
    }
    sums.iter().sum()
}

/// What is the same for every parameter of one step.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    settings: AdamW,
    rate: f64,
    /// `1 - b1^t`, `1 - b2^t`.
    corrections: [f64; 2],
    clip_factor: f64,
}

impl Step {
    /// Step `t` from 1 at learning rate `rate`, for a gradient of this norm.
    pub(crate) fn new(settings: AdamW, rate: f32, step: u32, norm: f64) -> Self {
        let correction = |beta: f32| 1.0 - f64::from(beta).powf(f64::from(step));
        Step {
            settings,
            rate: f64::from(rate),
            corrections: [correction(settings.beta1), correction(settings.beta2)],
            clip_factor: clip_factor(norm, settings.clip),
        }
    }

    /// `m = b1 m + (1 - b1) G`, `v = b2 v + (1 - b2) G^2`,
    /// `p -= rate scale (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon) + decay p)`.
    pub(crate) fn apply<F: Real>(&self, p: &mut [F], gradient: &[F], m: &mut [F], v: &mut [F], scale: f32, decays: bool) {
        let of = |x: f32| F::of(f64::from(x));
        let (beta1, beta2, epsilon) = (of(self.settings.beta1), of(self.settings.beta2), of(self.settings.epsilon));
        let decay = if decays { of(self.settings.weight_decay) } else { F::zero() };
        let rate = F::of(self.rate * f64::from(scale));
        let (first, second) = (F::of(1.0 / self.corrections[0]), F::of(1.0 / self.corrections[1]));
        let factor = F::of(self.clip_factor);
        let len = p.len();
        let (gradient, m, v) = (&gradient[..len], &mut m[..len], &mut v[..len]);
        for i in 0..len {
            let g = gradient[i] * factor;
            m[i] = beta1 * m[i] + (F::one() - beta1) * g;
            v[i] = beta2 * v[i] + (F::one() - beta2) * g * g;
            p[i] -= rate * (m[i] * first / ((v[i] * second).sqrt() + epsilon) + decay * p[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The update written out for one number, in the order of the paper (Loshchilov and Hutter, algorithm 2).
    fn reference(settings: AdamW, gradients: &[[f64; 2]], mut p: [f64; 2], rate: f64, scale: f64, decays: bool) -> [f64; 2] {
        let (b1, b2) = (f64::from(settings.beta1), f64::from(settings.beta2));
        let (mut m, mut v) = ([0.0; 2], [0.0; 2]);
        for (t, g) in (1..).zip(gradients) {
            let norm = (g[0] * g[0] + g[1] * g[1]).sqrt();
            let clip = f64::from(settings.clip);
            let factor = if clip > 0.0 { (clip / norm).min(1.0) } else { 1.0 };
            for i in 0..2 {
                let g = g[i] * factor;
                m[i] = b1 * m[i] + (1.0 - b1) * g;
                v[i] = b2 * v[i] + (1.0 - b2) * g * g;
                let (mean, square) = (m[i] / (1.0 - b1.powi(t)), v[i] / (1.0 - b2.powi(t)));
                let decay = if decays { f64::from(settings.weight_decay) * p[i] } else { 0.0 };
                p[i] -= rate * scale * (mean / (square.sqrt() + f64::from(settings.epsilon)) + decay);
            }
        }
        p
    }

    #[test]
    fn several_steps_match_the_reference() {
        let gradients = [[0.3, -0.4], [3.0, 4.0], [-0.01, 0.0], [0.0, 2.0]];
        for clip in [0.0, 1.0, 100.0] {
            for (scale, decays) in [(1.0f32, true), (1.0, false), (10.0, true)] {
                let settings = AdamW { clip, weight_decay: 0.1, ..AdamW::default() };
                let (mut p, mut m, mut v) = ([0.5f64, -2.0], [0.0; 2], [0.0; 2]);
                for (t, gradient) in (1..).zip(&gradients) {
                    let norm = square_sum(gradient).sqrt();
                    Step::new(settings, 3e-3, t, norm).apply(&mut p, gradient, &mut m, &mut v, scale, decays);
                }
                let expected = reference(settings, &gradients, [0.5, -2.0], f64::from(3e-3f32), f64::from(scale), decays);
                for i in 0..2 {
                    assert!((p[i] - expected[i]).abs() < 1e-12, "clip {clip} scale {scale} decays {decays}: {p:?} {expected:?}");
                }
            }
        }
    }

    #[test]
    fn first_step_by_hand() {
        // One step: m / (1 - b1) = G and v / (1 - b2) = G^2, so p moves by rate * (sign(G) + decay p).
        let settings = AdamW { clip: 0.0, weight_decay: 0.5, ..AdamW::default() };
        let (mut p, mut m, mut v) = ([2.0f64], [0.0], [0.0]);
        Step::new(settings, 0.125, 1, 7.0).apply(&mut p, &[-7.0], &mut m, &mut v, 1.0, true);
        assert!((p[0] - (2.0 - 0.125 * (-1.0 + 0.5 * 2.0))).abs() < 1e-8);
    }

    #[test]
    fn clipping_leaves_short_and_undefined_gradients() {
        assert_eq!(clip_factor(5.0, 1.0), 0.2);
        assert_eq!(clip_factor(0.5, 1.0), 1.0);
        assert_eq!(clip_factor(5.0, 0.0), 1.0);
        assert_eq!(clip_factor(f64::NAN, 1.0), 1.0);
    }
}
