//! Axes of the charts and their tick marks.

/// A stretch of numbers laid along pixels, linear or logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    /// Number at the first pixel.
    low: f64,
    /// Number at the last pixel.
    high: f64,
    /// First and last pixel.
    pixels: (f64, f64),
    logarithmic: bool,
}

impl Axis {
    /// A linear axis; an empty stretch is widened so that it has a middle.
    pub(crate) fn linear(low: f64, high: f64, pixels: (f64, f64)) -> Axis {
        let high = if high > low { high } else { low + 1.0 };
        Axis { low, high, pixels, logarithmic: false }
    }

    /// A logarithmic axis over positive numbers.
    pub(crate) fn logarithmic(low: f64, high: f64, pixels: (f64, f64)) -> Axis {
        let low = low.max(1e-6);
        let high = if high > low { high } else { low * 10.0 };
        Axis { low, high, pixels, logarithmic: true }
    }

    fn warp(self, number: f64) -> f64 {
        if self.logarithmic { number.max(self.low * 1e-3).ln() } else { number }
    }

    /// Pixel of a number, kept within the axis.
    pub(crate) fn place(self, number: f64) -> f64 {
        let share = (self.warp(number) - self.warp(self.low)) / (self.warp(self.high) - self.warp(self.low));
        self.pixels.0 + share.clamp(0.0, 1.0) * (self.pixels.1 - self.pixels.0)
    }

    /// Number at a pixel, kept within the axis.
    pub(crate) fn number_at(self, pixel: f64) -> f64 {
        let share = ((pixel - self.pixels.0) / (self.pixels.1 - self.pixels.0)).clamp(0.0, 1.0);
        let warped = self.warp(self.low) + share * (self.warp(self.high) - self.warp(self.low));
        if self.logarithmic { warped.exp() } else { warped }
    }

    /// Numbers worth a tick mark.
    pub(crate) fn ticks(self, about: usize) -> Vec<f64> {
        if !self.logarithmic {
            return ticks(self.low, self.high, about);
        }
        let decades = (self.high / self.low).log10();
        let steps: &[f64] = if decades > 2.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let mut found = Vec::new();
        for decade in self.low.log10().floor() as i32..=self.high.log10().ceil() as i32 {
            for step in steps {
                let tick = step * 10f64.powi(decade);
                if tick >= self.low * 0.999 && tick <= self.high * 1.001 {
                    found.push(tick);
                }
            }
        }
        // Less than half a decade may hold no such number.
        if found.len() < 2 { ticks(self.low, self.high, about + 2) } else { found }
    }
}

/// Round numbers (1, 2 or 5 times a power of ten apart) within `low..=high`, near `about` of them.
fn ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 || about == 0 {
        return vec![low];
    }
    let raw = span / about as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= raw * 0.999).unwrap_or(raw);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(0.0, 1000.0, 5), vec![0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        assert_eq!(ticks(0.0, 0.0, 5), vec![0.0]);
        let odd = ticks(-3.0, 7.0, 4);
        assert!(odd.iter().all(|t| (-3.0..=7.0).contains(t)) && odd.contains(&0.0), "{odd:?}");
    }

    #[test]
    fn a_place_leads_back_to_its_number() {
        for axis in [Axis::linear(2.0, 12.0, (40.0, 240.0)), Axis::logarithmic(0.01, 5.0, (200.0, 10.0))] {
            for number in [2.5, 3.0, 4.9] {
                assert!((axis.number_at(axis.place(number)) - number).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn numbers_outside_stay_at_the_border() {
        let axis = Axis::linear(0.0, 1.0, (0.0, 10.0));
        assert_eq!((axis.place(-5.0), axis.place(9.0), axis.number_at(99.0)), (0.0, 10.0, 1.0));
    }

    #[test]
    fn logarithmic_ticks_cover_decades() {
        assert_eq!(Axis::logarithmic(0.001, 10.0, (0.0, 1.0)).ticks(5).len(), 5);
        assert_eq!(Axis::logarithmic(0.9, 6.0, (0.0, 1.0)).ticks(5), vec![1.0, 2.0, 5.0]);
        let narrow = Axis::logarithmic(3.6, 4.3, (0.0, 1.0)).ticks(2);
        assert!(narrow.len() == 4 && (narrow[2] - 4.0).abs() < 1e-9, "{narrow:?}");
    }
}
