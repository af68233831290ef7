//! The learning rate over a run.

/// Shape of the learning rate after warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Half a cosine from 1 to [`FLOOR`].
    Cosine,
    /// Warm-up, stable, decay: flat, then linear to [`FLOOR`] over the last fifth.
    Wsd,
    /// Flat.
    Constant,
}

/// Last learning rate as a share of the highest.
pub const FLOOR: f32 = 0.1;

/// Share of the steps over which WSD decays.
const WSD_DECAY: f32 = 0.2;

/// Learning rates of a run of `steps` steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Highest learning rate.
    pub peak: f32,
    /// Steps of linear warm-up.
    pub warmup: u32,
    /// Steps of the run.
    pub steps: u32,
    /// Shape after warm-up.
    pub shape: Shape,
}

impl Schedule {
    /// The learning rate of a step, counted from 1.
    pub fn rate(&self, step: u32) -> f32 {
        if step <= self.warmup {
            return self.peak * step as f32 / self.warmup.max(1) as f32;
        }
        let span = self.steps.saturating_sub(self.warmup).max(1) as f32;
        let progress = ((step - self.warmup) as f32 / span).min(1.0);
        let share = match self.shape {
            Shape::Constant => 1.0,
            Shape::Cosine => FLOOR + (1.0 - FLOOR) * 0.5 * (1.0 + (std::f32::consts::PI * progress).cos()),
            Shape::Wsd => 1.0 - (1.0 - FLOOR) * ((progress - (1.0 - WSD_DECAY)) / WSD_DECAY).max(0.0),
        };
        self.peak * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warms_up_peaks_and_ends_at_the_floor() {
        for shape in [Shape::Cosine, Shape::Wsd] {
            let schedule = Schedule { peak: 2.0, warmup: 10, steps: 100, shape };
            assert_eq!(schedule.rate(5), 1.0);
            assert_eq!(schedule.rate(10), 2.0);
            assert!((schedule.rate(100) - 0.2).abs() < 1e-6);
            assert!(schedule.rate(50) >= schedule.rate(60));
        }
        assert_eq!(Schedule { peak: 2.0, warmup: 0, steps: 10, shape: Shape::Constant }.rate(7), 2.0);
    }
}
