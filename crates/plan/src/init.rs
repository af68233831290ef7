//! First values of parameters and constants, drawn from the run's seed (science: GDN-2 3.2, KDA and GDN 3.1).

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// A distribution of first values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// The same value everywhere.
    Constant(f32),
    /// Normal with mean 0 and this standard deviation.
    Normal(f32),
    /// Uniform in `-bound..bound`.
    Uniform(f32),
    /// `log A`, A uniform in 1..16: the decay rate of GDN, KDA and GDN-2.
    LogRate,
    /// `softplus^-1(dt)`, dt log-uniform in 1e-3..1e-1, floor 1e-4: the decay's bias.
    StepBias,
    /// Rows of this length, each a uniform random unit vector.
    UnitRows(usize),
}

impl Init {
    /// Draws `len` values.
    pub fn draw(self, len: usize, rng: &mut Pcg64) -> Vec<f32> {
        let normal = |rng: &mut Pcg64| -> f32 { StandardNormal.sample(rng) };
        match self {
            Init::Constant(value) => vec![value; len],
            Init::Normal(std) => (0..len).map(|_| std * normal(rng)).collect(),
            Init::Uniform(bound) => (0..len).map(|_| bound * (2.0 * rng.random::<f32>() - 1.0)).collect(),
            Init::LogRate => (0..len).map(|_| (1.0 + 15.0 * rng.random::<f32>()).ln()).collect(),
            Init::StepBias => (0..len)
                .map(|_| {
                    let (low, high) = (1e-3f32.ln(), 1e-1f32.ln());
                    let dt = (low + (high - low) * rng.random::<f32>()).exp().max(1e-4);
                    // softplus^-1(x) = x + log(1 - exp(-x)), stable for small x
                    dt + (-(-dt).exp_m1()).ln()
                })
                .collect(),
            Init::UnitRows(width) => {
                let mut values: Vec<f32> = (0..len).map(|_| normal(rng)).collect();
                for row in values.chunks_mut(width.max(1)) {
                    let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
                    row.iter_mut().for_each(|x| *x /= norm);
                }
                values
            }
        }
    }
}
