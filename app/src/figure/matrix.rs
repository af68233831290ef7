//! What a state matrix holds, in a few numbers.

/// A matrix in words: its norm and its largest cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Glance {
    /// Frobenius norm.
    pub(crate) norm: f32,
    /// Number of largest magnitude.
    pub(crate) peak: f32,
    /// Its row (key channel) and column (value channel), from 0.
    pub(crate) cell: (usize, usize),
}

/// Norm and largest cell of a matrix of `columns` columns, or `None` when it is empty.
pub(crate) fn glance(values: &[f32], columns: usize) -> Option<Glance> {
    let (index, peak) = values.iter().copied().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let norm = values.iter().map(|v| v * v).sum::<f32>().sqrt();
    (columns > 0).then(|| Glance { norm, peak, cell: (index / columns, index % columns) })
}

/// Cell by cell `now - before`; a missing past is zero.
pub(crate) fn difference(now: &[f32], before: Option<&[f32]>) -> Vec<f32> {
    match before {
        Some(before) => now.iter().zip(before).map(|(a, b)| a - b).collect(),
        None => now.to_vec(),
    }
}

/// A round number no smaller than every finite magnitude: the limit of a shared colour scale.
pub(crate) fn largest(values: &[f32]) -> f32 {
    let peak = values.iter().filter(|v| v.is_finite()).fold(0.0f32, |peak, v| peak.max(v.abs()));
    if peak <= 0.0 {
        return 1.0;
    }
    let power = 10f32.powf(peak.log10().floor());
    [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
        .map(|m| m * power)
        .into_iter()
        .find(|limit| *limit >= peak * 0.999)
        .unwrap_or(peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_finds_the_largest_magnitude() {
        let seen = glance(&[0.0, 3.0, -4.0, 0.0], 2).unwrap();
        assert_eq!(seen, Glance { norm: 5.0, peak: -4.0, cell: (1, 0) });
        assert_eq!(glance(&[], 2), None);
    }

    #[test]
    fn a_difference_without_past_is_the_matrix() {
        assert_eq!(difference(&[1.0, 2.0], None), vec![1.0, 2.0]);
        assert_eq!(difference(&[1.0, 2.0], Some(&[0.5, 3.0])), vec![0.5, -1.0]);
    }

    #[test]
    fn limits_are_round_and_cover() {
        for (values, limit) in [(&[0.3, -1.7][..], 2.0), (&[0.22], 0.25), (&[0.0], 1.0), (&[f32::NAN, 0.05], 0.05)] {
            let found = largest(values);
            assert!((found - limit).abs() < 1e-6, "{values:?} {found}");
        }
    }
}
