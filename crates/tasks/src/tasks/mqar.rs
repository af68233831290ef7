//! Multi-query associative recall: Zoology's generator (`zoology/data/multiquery_ar.py`).
//!
//! Ids: 0 is filler, keys are `1..V/2`, values `V/2..V`, then symbols for filler alone. P distinct keys and P distinct
//! values are drawn. The context `k1 v1 ... kP vP` is repeated R times in the same order, `C = 2PR` tokens. The rest is
//! cut into slots of two tokens; slot j starts at `C + 2j` and has weight `(j + 1)^(a - 1)`. Key i is asked for at the
//! start of the i-th slot drawn. The label stands on the query; the value is not shown again.
//!
//! Differences from Zoology: R > 1 works (there, the context array is sized for R passes, filled with one and then
//! tiled again); T need not be below V; random filler can come from symbols of its own, since in a vocabulary of 64
//! ids drawn from all symbols would be mistaken for writes.

use crate::{Example, Label, Legend, Problem, Role, SettingKind, Task, TaskSetting, TaskSettings, slots};
use rand::RngExt;
use rand::seq::index;
use rand_pcg::Pcg64;

pub(super) const TASK: &dyn Task = &Mqar;

struct Mqar;

const SETTINGS: &[TaskSetting] = &[
    TaskSetting {
        key: "length",
        label: "Sequence length",
        help: "Tokens per sequence, T.",
        kind: SettingKind::Int { min: 8, max: 32768, step: 2 },
        default: 64.0,
        essential: true,
    },
    TaskSetting {
        key: "pairs",
        label: "Pairs",
        help: "Key-value pairs to remember, P; each key is asked for once.",
        kind: SettingKind::Int { min: 1, max: 4096, step: 1 },
        default: 4.0,
        essential: true,
    },
    TaskSetting {
        key: "vocab",
        label: "Vocabulary",
        help: "Symbols, V: the lower half are keys, the upper half values.",
        kind: SettingKind::Int { min: 8, max: 16384, step: 2 },
        default: 64.0,
        essential: true,
    },
    TaskSetting {
        key: "passes",
        label: "Passes",
        help: "How often the list of pairs is shown, R.",
        kind: SettingKind::Int { min: 1, max: 64, step: 1 },
        default: 1.0,
        essential: false,
    },
    TaskSetting {
        key: "power",
        label: "Query power",
        help: "Exponent a of the query positions: 1 spreads them evenly, near 0 puts most right after the pairs.",
        kind: SettingKind::Float { min: 0.0, max: 2.0 },
        default: 0.01,
        essential: false,
    },
    TaskSetting {
        key: "random_non_queries",
        label: "Random filler",
        help: "Fill the gaps with random symbols instead of one blank.",
        kind: SettingKind::Flag,
        default: 0.0,
        essential: false,
    },
    TaskSetting {
        key: "filler",
        label: "Filler symbols",
        help: "Symbols that random filler has for itself; 0 draws it from all keys and values, as Zoology does with V = 8192.",
        kind: SettingKind::Int { min: 0, max: 1024, step: 1 },
        default: 16.0,
        essential: false,
    },
];

const LEGEND: &[Legend] = &[
    Legend { role: Role::Key, text: "key to remember" },
    Legend { role: Role::Value, text: "its value" },
    Legend { role: Role::Query, text: "key asked for: answer its value" },
    Legend { role: Role::Filler, text: "filler" },
];

impl Mqar {
    /// Symbols that only filler uses.
    fn own_filler(settings: &TaskSettings) -> usize {
        if settings.flag("random_non_queries") { settings.int("filler") } else { 0 }
    }
}

impl Task for Mqar {
    fn slug(&self) -> &'static str {
        "mqar"
    }

    fn name(&self) -> &'static str {
        "Associative recall"
    }

    fn about(&self) -> &'static str {
        "Pairs of key and value are listed, then each key is asked for once (MQAR)."
    }

    fn cites(&self) -> &'static str {
        "Arora et al. 2023, Zoology, arXiv:2312.04927"
    }

    fn order(&self) -> u32 {
        0
    }

    fn settings(&self) -> &'static [TaskSetting] {
        SETTINGS
    }

    fn legend(&self) -> &'static [Legend] {
        LEGEND
    }

    fn vocabulary(&self, settings: &TaskSettings) -> usize {
        settings.int("vocab") + Mqar::own_filler(settings)
    }

    fn labels_per_example(&self, settings: &TaskSettings) -> usize {
        settings.int("pairs")
    }

    fn check(&self, settings: &TaskSettings) -> Result<(), Problem> {
        let [length, pairs, vocab, passes] = ["length", "pairs", "vocab", "passes"].map(|key| settings.int(key));
        // room for one pair: 2R + 2 <= T
        let most_passes = length / 2 - 1;
        if passes > most_passes {
            let message = format!("out of range 1 to {most_passes} for length {length}");
            return Err(Problem { key: "passes", message, nearest: most_passes as f64 });
        }
        // id 0 is filler, so there is one key less than values
        let (by_length, by_vocab) = (length / (2 * passes + 2), vocab / 2 - 1);
        if pairs > by_length.min(by_vocab) {
            let most = by_length.min(by_vocab);
            let cause = match passes {
                _ if by_vocab < by_length => format!("vocab {vocab}"),
                1 => format!("length {length}"),
                _ => format!("length {length} and {passes} passes"),
            };
            return Err(Problem { key: "pairs", message: format!("out of range 1 to {most} for {cause}"), nearest: most as f64 });
        }
        Ok(())
    }

    fn sample(&self, settings: &TaskSettings, rng: &mut Pcg64) -> Example {
        let [length, pairs, vocab, passes] = ["length", "pairs", "vocab", "passes"].map(|key| settings.int(key));
        let half = vocab / 2;
        let keys = index::sample(rng, half - 1, pairs).into_vec();
        let values = index::sample(rng, vocab - half, pairs).into_vec();
        let mut example = Example::filled(length, 0);
        for pass in 0..passes {
            for pair in 0..pairs {
                let at = 2 * (pass * pairs + pair);
                example.put(at, (1 + keys[pair]) as u32, Role::Key);
                example.put(at + 1, (half + values[pair]) as u32, Role::Value);
            }
        }
        let context = 2 * pairs * passes;
        for (pair, slot) in slots::draw((length - context) / 2, pairs, settings.float("power"), rng).into_iter().enumerate() {
            let position = context + 2 * slot;
            example.put(position, (1 + keys[pair]) as u32, Role::Query);
            let written = 2 * ((passes - 1) * pairs + pair) + 1;
            example.labels.push(Label {
                position: position as u32,
                target: (half + values[pair]) as u32,
                lag: (position - written) as u32,
                writes: passes as u32,
            });
        }
        example.labels.sort_by_key(|label| label.position);
        if settings.flag("random_non_queries") {
            let ids = match Mqar::own_filler(settings) as u32 {
                0 => 0..vocab as u32,
                own => vocab as u32..vocab as u32 + own,
            };
            for (token, role) in example.tokens.iter_mut().zip(&example.roles) {
                if *role == Role::Filler {
                    *token = rng.random_range(ids.clone());
                }
            }
        }
        example
    }

    fn token_text(&self, settings: &TaskSettings, token: u32) -> String {
        let vocab = settings.int("vocab") as u32;
        match token {
            0 => "·".to_owned(),
            key if key < vocab / 2 => format!("k{key}"),
            value if value < vocab => format!("v{}", value - vocab / 2),
            filler => format!("·{}", filler - vocab),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use statrs::distribution::{ChiSquared, ContinuousCDF};
    use std::collections::HashMap;

    /// Reads the context as pairs, knowing only the format.
    fn solve(settings: &TaskSettings, example: &Example) -> Vec<u32> {
        let context = 2 * settings.int("pairs") * settings.int("passes");
        let pairs: HashMap<u32, u32> = example.tokens[..context].chunks(2).map(|pair| (pair[0], pair[1])).collect();
        example.labels.iter().map(|label| pairs[&example.tokens[label.position as usize]]).collect()
    }

    fn targets(example: &Example) -> Vec<u32> {
        example.labels.iter().map(|label| label.target).collect()
    }

    #[test]
    fn every_answer_stands_in_the_context() {
        let mut rng = Pcg64::seed_from_u64(1);
        for (passes, random, filler) in [(1, 0, 16), (3, 0, 16), (1, 1, 16), (2, 1, 0)] {
            let settings = TASK.defaults().with("passes", passes.into()).with("random_non_queries", random.into());
            let settings = settings.with("filler", filler.into());
            TASK.check(&settings).unwrap();
            for _ in 0..50 {
                let example = TASK.sample(&settings, &mut rng);
                assert_eq!(solve(&settings, &example), targets(&example));
                let mut keys: Vec<u32> = example.labels.iter().map(|label| example.tokens[label.position as usize]).collect();
                keys.sort();
                keys.dedup();
                assert_eq!(keys.len(), 4, "each key is asked for once");
            }
        }
    }

    #[test]
    fn random_filler_uses_its_own_symbols_or_all() {
        let mut rng = Pcg64::seed_from_u64(2);
        let fillers = |settings: TaskSettings, rng: &mut Pcg64| -> Vec<u32> {
            let examples: Vec<Example> = (0..200).map(|_| TASK.sample(&settings, rng)).collect();
            let tokens = examples.iter().flat_map(|example| example.tokens.iter().zip(&example.roles));
            tokens.filter(|(_, role)| **role == Role::Filler).map(|(token, _)| *token).collect()
        };
        let blank = TASK.defaults();
        assert!(fillers(blank, &mut rng).iter().all(|token| *token == 0));
        let own = blank.with("random_non_queries", 1.0);
        let drawn = fillers(own, &mut rng);
        assert!((64..80).all(|id| drawn.contains(&id)) && drawn.iter().all(|id| (64..80).contains(id)));
        assert_eq!(TASK.vocabulary(&own), 80);
        let all = own.with("filler", 0.0);
        let drawn = fillers(all, &mut rng);
        assert!((0..64).all(|id| drawn.contains(&id)) && drawn.iter().all(|id| *id < 64));
        assert_eq!(TASK.vocabulary(&all), 64);
    }

    /// Probability of a chi-square as large as that of the first key's slot against weights of `power`.
    fn slot_law(drawn_with: f64, power: f64) -> f64 {
        let settings = TASK.defaults().with("power", drawn_with);
        let (slots, draws, mut rng) = (28, 20_000, Pcg64::seed_from_u64(3));
        let mut counts = vec![0.0; slots];
        for _ in 0..draws {
            let example = TASK.sample(&settings, &mut rng);
            let first = example.labels.iter().find(|label| example.tokens[label.position as usize] == example.tokens[0]);
            counts[(first.unwrap().position as usize - 8) / 2] += 1.0;
        }
        let weights: Vec<f64> = (0..slots).map(|slot| ((slot + 1) as f64).powf(power - 1.0)).collect();
        let total: f64 = weights.iter().sum();
        let expected = weights.iter().map(|weight| weight / total * f64::from(draws));
        let statistic: f64 = counts.iter().zip(expected).map(|(count, expected)| (count - expected).powi(2) / expected).sum();
        ChiSquared::new((slots - 1) as f64).unwrap().sf(statistic)
    }

    #[test]
    fn the_first_key_is_asked_for_by_the_power_law() {
        for power in [0.01, 0.5, 1.0] {
            assert!(slot_law(power, power) > 1e-3, "power {power}");
        }
        assert!(slot_law(0.01, 0.2) < 1e-6, "another law must be told apart");
    }

    #[test]
    fn too_many_pairs_or_passes_are_named_with_the_nearest() {
        let problem = |key, value: f64| TASK.check(&TASK.defaults().with(key, value)).unwrap_err();
        assert_eq!(problem("pairs", 900.0).to_string(), "pairs is out of range 1 to 16 for length 64: the nearest that fits is 16");
        assert_eq!(problem("passes", 40.0).message, "out of range 1 to 31 for length 64");
        assert_eq!(problem("passes", 20.0).message, "out of range 1 to 1 for length 64 and 20 passes");
        assert_eq!(problem("vocab", 8.0).message, "out of range 1 to 3 for vocab 8");
    }
}
