//! Overwriting: keys are written again and again, and the latest value counts.
//!
//! The layout is that of multi-query recall, after Zoology's forgetting variant (`forgetting_mqar.py`), but the updates are
//! mixed with the first writes. Ids: 0 is filler, keys are `1..V/2`, values `V/2..V`. W writes `k v` to P keys come in random
//! order: one for each key, the other W - P drawn with replacement. Then each key is asked for once, in slots drawn by the
//! power law `(j + 1)^(a - 1)`; the label is the key's latest value. No value occurs twice, so that an old value among the
//! answers can be told from a guess.

use crate::{Example, Label, Legend, Problem, Role, SettingKind, Task, TaskSetting, TaskSettings, slots};
use rand::RngExt;
use rand::seq::{SliceRandom, index};
use rand_pcg::Pcg64;

pub(super) const TASK: &dyn Task = &Overwrite;

struct Overwrite;

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
        label: "Keys",
        help: "Keys in use, P; each is asked for once.",
        kind: SettingKind::Int { min: 1, max: 4096, step: 1 },
        default: 4.0,
        essential: true,
    },
    TaskSetting {
        key: "writes",
        label: "Writes",
        help: "Writes in all, W: each key once, the rest to random keys; the latest value counts.",
        kind: SettingKind::Int { min: 1, max: 8192, step: 1 },
        default: 12.0,
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
        key: "power",
        label: "Query power",
        help: "Exponent a of the query positions: 1 spreads them evenly, near 0 puts most right after the writes.",
        kind: SettingKind::Float { min: 0.0, max: 2.0 },
        default: 1.0,
        essential: false,
    },
];

const LEGEND: &[Legend] = &[
    Legend { role: Role::Key, text: "key being written, maybe again" },
    Legend { role: Role::Value, text: "its new value" },
    Legend { role: Role::Query, text: "key asked for: answer its latest value" },
    Legend { role: Role::Filler, text: "filler" },
];

/// What is known of a key after all writes.
#[derive(Clone, Copy, Default)]
struct Written {
    value: u32,
    at: usize,
    times: u32,
}

impl Task for Overwrite {
    fn slug(&self) -> &'static str {
        "overwrite"
    }

    fn name(&self) -> &'static str {
        "Overwriting"
    }

    fn about(&self) -> &'static str {
        "Keys are written several times; each is asked for once and its latest value counts."
    }

    fn cites(&self) -> &'static str {
        "After Zoology's forgetting MQAR, arXiv:2312.04927"
    }

    fn order(&self) -> u32 {
        2
    }

    fn settings(&self) -> &'static [TaskSetting] {
        SETTINGS
    }

    fn legend(&self) -> &'static [Legend] {
        LEGEND
    }

    fn vocabulary(&self, settings: &TaskSettings) -> usize {
        settings.int("vocab")
    }

    fn labels_per_example(&self, settings: &TaskSettings) -> usize {
        settings.int("pairs")
    }

    fn check(&self, settings: &TaskSettings) -> Result<(), Problem> {
        let [length, pairs, writes, vocab] = ["length", "pairs", "writes", "vocab"].map(|key| settings.int(key));
        // with the fewest writes, W = P: 2P + 2P <= T
        let (by_length, by_vocab) = (length / 4, vocab / 2 - 1);
        if pairs > by_length.min(by_vocab) {
            let most = by_length.min(by_vocab);
            let cause = if by_vocab < by_length { format!("vocab {vocab}") } else { format!("length {length}") };
            return Err(Problem { key: "pairs", message: format!("out of range 1 to {most} for {cause}"), nearest: most as f64 });
        }
        // 2W + 2P <= T, and a value of its own for every write
        let (by_length, by_vocab) = (length / 2 - pairs, vocab / 2);
        let most = by_length.min(by_vocab);
        if !(pairs..=most).contains(&writes) {
            let cause = if by_vocab < by_length { format!("vocab {vocab}") } else { format!("length {length}") };
            let message = format!("out of range {pairs} to {most} for {pairs} pairs and {cause}");
            return Err(Problem { key: "writes", message, nearest: writes.clamp(pairs, most) as f64 });
        }
        Ok(())
    }

    fn sample(&self, settings: &TaskSettings, rng: &mut Pcg64) -> Example {
        let [length, pairs, writes, vocab] = ["length", "pairs", "writes", "vocab"].map(|key| settings.int(key));
        let half = vocab / 2;
        let keys = index::sample(rng, half - 1, pairs).into_vec();
        let values = index::sample(rng, vocab - half, writes).into_vec();
        let mut order: Vec<usize> = (0..pairs).collect();
        order.extend((pairs..writes).map(|_| rng.random_range(0..pairs as u32) as usize));
        order.shuffle(rng);
        let mut example = Example::filled(length, 0);
        let mut written = vec![Written::default(); pairs];
        for (place, (&pair, &value)) in order.iter().zip(&values).enumerate() {
            let (at, value) = (2 * place + 1, (half + value) as u32);
            example.put(at - 1, (1 + keys[pair]) as u32, Role::Key);
            example.put(at, value, Role::Value);
            written[pair] = Written { value, at, times: written[pair].times + 1 };
        }
        let context = 2 * writes;
        for (pair, slot) in slots::draw((length - context) / 2, pairs, settings.float("power"), rng).into_iter().enumerate() {
            let position = context + 2 * slot;
            let Written { value: target, at, times: writes } = written[pair];
            example.put(position, (1 + keys[pair]) as u32, Role::Query);
            example.labels.push(Label { position: position as u32, target, lag: (position - at) as u32, writes });
        }
        example.labels.sort_by_key(|label| label.position);
        example
    }

    fn token_text(&self, settings: &TaskSettings, token: u32) -> String {
        let half = settings.int("vocab") as u32 / 2;
        match token {
            0 => "·".to_owned(),
            key if key < half => format!("k{key}"),
            value => format!("v{}", value - half),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn the_latest_value_is_the_answer() {
        let mut rng = Pcg64::seed_from_u64(1);
        let settings = TASK.defaults();
        let mut stale = 0;
        for _ in 0..500 {
            let example = TASK.sample(&settings, &mut rng);
            let mut latest: HashMap<u32, Vec<u32>> = HashMap::new();
            for pair in example.tokens[..24].chunks(2) {
                latest.entry(pair[0]).or_default().push(pair[1]);
            }
            assert_eq!(latest.len(), 4, "every key is written");
            let values: HashSet<u32> = latest.values().flatten().copied().collect();
            assert_eq!(values.len(), 12, "no value occurs twice");
            for label in &example.labels {
                let history = &latest[&example.tokens[label.position as usize]];
                assert_eq!((history.last(), history.len() as u32), (Some(&label.target), label.writes));
                stale += history.len() - 1;
            }
        }
        assert_eq!(stale, 500 * 8, "W - P writes of each example are overwritten");
    }

    #[test]
    fn what_does_not_fit_is_named_with_the_nearest() {
        let problem = |key, value: f64| TASK.check(&TASK.defaults().with(key, value)).unwrap_err();
        assert_eq!(problem("writes", 3.0).message, "out of range 4 to 28 for 4 pairs and length 64");
        assert_eq!(problem("writes", 3.0).nearest, 4.0);
        assert_eq!(problem("writes", 99.0).nearest, 28.0);
        assert_eq!(problem("pairs", 20.0).message, "out of range 1 to 16 for length 64");
        assert_eq!(problem("vocab", 16.0).message, "out of range 4 to 8 for 4 pairs and vocab 16");
    }
}
