//! Several seeds of a rule in one sentence.

use super::Run;
use crate::figure::percent;

/// A rule with the sentence of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleLine {
    /// Name of the rule.
    pub(crate) rule: String,
    /// Seeds, how many reached 99 %, in how many steps, at what accuracy.
    pub(crate) sentence: String,
}

/// One line for every rule with two or more runs that are over.
pub(crate) fn by_rule<'a>(runs: impl Iterator<Item = &'a Run>) -> Vec<RuleLine> {
    let mut groups: Vec<(&str, Vec<&Run>)> = Vec::new();
    for run in runs.filter(|run| run.over()) {
        match groups.iter_mut().find(|(rule, _)| *rule == run.rule) {
            Some((_, group)) => group.push(run),
            None => groups.push((&run.rule, vec![run])),
        }
    }
    let several = groups.into_iter().filter(|(_, group)| group.len() > 1);
    several.map(|(rule, group)| RuleLine { rule: rule.to_owned(), sentence: sentence(&group) }).collect()
}

fn sentence(group: &[&Run]) -> String {
    let mut steps: Vec<u32> = group.iter().filter_map(|run| run.reached().map(|r| r.0)).collect();
    steps.sort_unstable();
    let mut accuracies: Vec<f64> = group.iter().filter_map(|run| run.evaluation().map(|e| e.accuracy)).collect();
    accuracies.sort_by(f64::total_cmp);
    let reached = format!("{} of {} runs reached 99 %", steps.len(), group.len());
    let span = match (steps.first(), steps.last()) {
        (Some(first), Some(last)) => format!(", after {} steps (median; {first} to {last})", steps[steps.len() / 2]),
        _ => String::new(),
    };
    let last = match (accuracies.first(), accuracies.last()) {
        (Some(low), Some(high)) => format!("; accuracy at the end {} to {}", percent(*low), percent(*high)),
        _ => String::new(),
    };
    reached + &span + &last
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{evaluation, run};
    use super::*;
    use palimpsest_protocol::Phase;

    #[test]
    fn seeds_are_summed_up_and_single_runs_left_out() {
        let mut runs = [run(10), run(10), run(10)];
        for (run, reached) in runs.iter_mut().zip([Some(100), None, Some(300)]) {
            run.phase = Phase::Done;
            run.evaluations = vec![evaluation(400, 0.5)];
            run.evaluations[0].reached_99 = reached.map(|step| (step, 1.0));
        }
        runs[2].rule = "Other".to_owned();
        let lines = by_rule(runs.iter());
        assert_eq!(lines.len(), 1);
        assert_eq!(
            lines[0].sentence,
            "1 of 2 runs reached 99 %, after 100 steps (median; 100 to 100); accuracy at the end 50.0 % to 50.0 %"
        );
    }
}
