//! Curves: their bounds, their value at a step, their path.

use super::Axis;
use std::fmt::Write;

/// Smallest and largest finite positive number, or `None`.
pub(crate) fn bounds(points: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    points.filter(|y| y.is_finite() && *y > 0.0).fold(None, |seen, y| match seen {
        None => Some((y, y)),
        Some((low, high)) => Some((y.min(low), y.max(high))),
    })
}

/// The point at the last step not after `step`: what was known then.
pub(crate) fn value_at(points: &[(u32, f64)], step: u32) -> Option<(u32, f64)> {
    let after = points.partition_point(|point| point.0 <= step);
    after.checked_sub(1).map(|last| points[last])
}

/// At most `limit` points: means over equal stretches, the last step of each.
pub(crate) fn thin(points: &[(u32, f64)], limit: usize) -> Vec<(u32, f64)> {
    if points.len() <= limit || limit == 0 {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(limit);
    points.chunks(stretch).map(|part| (part[part.len() - 1].0, part.iter().map(|p| p.1).sum::<f64>() / part.len() as f64)).collect()
}

/// SVG path through the finite points.
pub(crate) fn path(points: &[(u32, f64)], x: Axis, y: Axis) -> String {
    let mut text = String::new();
    for (step, number) in points.iter().filter(|point| point.1.is_finite()) {
        let verb = if text.is_empty() { 'M' } else { 'L' };
        // Writing to a String cannot fail.
        let _ = write!(text, "{verb}{:.1} {:.1}", x.place(f64::from(*step)), y.place(*number));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_last_known_one() {
        let points = [(10, 1.0), (20, 0.5)];
        assert_eq!(value_at(&points, 9), None);
        assert_eq!(value_at(&points, 19), Some((10, 1.0)));
        assert_eq!(value_at(&points, 500), Some((20, 0.5)));
    }

    #[test]
    fn thinning_keeps_means_and_the_last_step() {
        let points: Vec<(u32, f64)> = (1..=10).map(|i| (i, f64::from(i))).collect();
        assert_eq!(thin(&points, 5), vec![(2, 1.5), (4, 3.5), (6, 5.5), (8, 7.5), (10, 9.5)]);
        assert_eq!(thin(&points, 10), points);
    }

    #[test]
    fn a_path_skips_what_is_not_a_number() {
        let axis = Axis::linear(0.0, 10.0, (0.0, 100.0));
        assert_eq!(path(&[(0, 0.0), (5, f64::NAN), (10, 10.0)], axis, axis), "M0.0 0.0L100.0 100.0");
    }

    #[test]
    fn bounds_are_of_positive_numbers() {
        assert_eq!(bounds([0.0, 2.0, f64::NAN, 0.5].into_iter()), Some((0.5, 2.0)));
        assert_eq!(bounds([0.0].into_iter()), None);
    }
}
