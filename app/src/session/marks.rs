//! Colours and dashes of runs: a colour for each rule, a dash for each seed.

use super::Run;
use crate::figure::Mark;
use palimpsest_spec::Settings;

/// The mark of a new run with these settings: its rule's colour, its seed's dash, and no other run's mark.
pub(crate) fn mark(settings: &Settings, others: &[Run]) -> Mark {
    let rule = settings.rule().name();
    let free = |taken: &dyn Fn(usize) -> bool| (0..).find(|index| !taken(*index)).unwrap_or(0);
    let own = others.iter().find(|run| run.rule == rule).map(|run| run.mark.colour);
    let colour = own.unwrap_or_else(|| free(&|colour| others.iter().any(|run| run.mark.colour == colour)));
    let taken = |dash| others.iter().any(|run| run.mark == Mark { colour, dash });
    let same_seed = others.iter().find(|run| Settings::from_link(&run.link).0.seed() == settings.seed()).map(|run| run.mark.dash);
    let dash = same_seed.filter(|dash| !taken(*dash)).unwrap_or_else(|| free(&taken));
    Mark { colour, dash }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palimpsest_protocol::RunId;

    #[test]
    fn rules_have_colours_and_seeds_have_dashes() {
        let rules = palimpsest_rules::rules();
        let mut runs: Vec<Run> = Vec::new();
        for (id, (rule, seed)) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (0, 1)].into_iter().enumerate() {
            let (settings, _) = Settings::from_link(&format!("v=1&rule={}&seed={seed}", rules[rule].slug()));
            let mut run = Run::asked(RunId(id as u32), String::new(), settings.rule().name().to_owned(), settings.run_link());
            run.mark = mark(&settings, &runs);
            runs.push(run);
        }
        let seen: Vec<(usize, usize)> = runs.iter().map(|run| (run.mark.colour, run.mark.dash)).collect();
        // The last repeats a rule and a seed: another dash keeps it apart.
        assert_eq!(seen, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (0, 2)]);
    }
}
