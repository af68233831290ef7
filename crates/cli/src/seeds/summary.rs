//! Several seeds at a glance.

use super::Seed;
use palimpsest_train::LEARNED;
use serde::Serialize;

/// What all seeds together did. Spreads are `[least, median, most]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Summary {
    /// Seeds that reached 99 %.
    pub(super) reached_99: usize,
    /// Seeds that stopped on the way; the rest of the numbers is without them.
    pub(super) stopped: usize,
    /// Steps to 99 % of the seeds that reached it.
    pub(super) steps_to_99: Option<[f64; 3]>,
    /// Last held-out accuracy, 0 to 1.
    pub(super) accuracy: Option<[f64; 3]>,
}

impl Summary {
    pub(super) fn new(seeds: &[Seed]) -> Summary {
        let evaluations = || seeds.iter().filter_map(Seed::evaluation);
        let steps = evaluations().filter_map(|evaluation| evaluation.reached_99).map(|(step, _)| f64::from(step));
        let steps: Vec<f64> = steps.collect();
        Summary {
            reached_99: steps.len(),
            stopped: seeds.iter().filter(|seed| seed.stopped.is_some()).count(),
            steps_to_99: spread(steps),
            accuracy: spread(evaluations().map(|evaluation| evaluation.accuracy).collect()),
        }
    }

    /// One sentence, without its full stop.
    pub(super) fn sentence(&self, seeds: usize) -> String {
        let mut text = format!("{seeds} seeds: {} reached {:.0} %", self.reached_99, LEARNED * 100.0);
        if let Some([least, median, most]) = self.steps_to_99 {
            text.push_str(&format!(", after {median:.0} steps (median; {least:.0} to {most:.0})"));
        }
        if let Some([least, median, most]) = self.accuracy.map(|accuracy| accuracy.map(|accuracy| accuracy * 100.0)) {
            text.push_str(&format!("; held-out accuracy {median:.1} % (median; {least:.1} to {most:.1})"));
        }
        if self.stopped > 0 {
            text.push_str(&format!("; {} stopped on the way", self.stopped));
        }
        text
    }
}

/// Least, median and most of some numbers, if there are any.
fn spread(mut numbers: Vec<f64>) -> Option<[f64; 3]> {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    let upper = *numbers.get(half)?;
    let median = if numbers.len() % 2 == 1 { upper } else { (numbers[half - 1] + upper) / 2.0 };
    Some([*numbers.first()?, median, *numbers.last()?])
}

#[cfg(test)]
mod tests {
    use super::{Summary, spread};

    #[test]
    fn medians_of_even_and_odd_counts() {
        assert_eq!(spread(vec![]), None);
        assert_eq!(spread(vec![4.0, 1.0, 2.0]), Some([1.0, 2.0, 4.0]));
        assert_eq!(spread(vec![4.0, 1.0, 2.0, 3.0]), Some([1.0, 2.5, 4.0]));
    }

    #[test]
    fn a_sentence_says_what_there_is() {
        let mut summary = Summary { reached_99: 0, stopped: 2, steps_to_99: None, accuracy: None };
        assert_eq!(summary.sentence(2), "2 seeds: 0 reached 99 %; 2 stopped on the way");
        summary = Summary { reached_99: 1, stopped: 0, steps_to_99: Some([250.0; 3]), accuracy: Some([0.5, 0.75, 1.0]) };
        let expected = "2 seeds: 1 reached 99 %, after 250 steps (median; 250 to 250); held-out accuracy 75.0 % (median; 50.0 to 100.0)";
        assert_eq!(summary.sentence(2), expected);
    }
}
