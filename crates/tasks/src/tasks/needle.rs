//! A needle in a haystack: a toy of RULER's S-NIAH, where one fact is hidden in a long text and asked for at its end.
//!
//! Ids: 0 marks the needle, 1 the question, then keys, values and haystack symbols. An example is a haystack with
//! `N k v1 ... vm` written over it at a uniform depth, and ends with `Q k v1 ... v(m-1)`. The labels are `v1 ... vm` at the
//! last m positions, so that each value is answered given those before it.
//!
//! By default the haystack is drawn uniformly from all keys, values and haystack symbols: only the marker tells the needle
//! from its surroundings, and everything else must be kept from filling the memory. A disjoint haystack, as in S-NIAH-1, is
//! far easier.

use crate::{Example, Label, Legend, Problem, Role, SettingKind, Task, TaskSetting, TaskSettings};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::ops::Range;

pub(super) const TASK: &dyn Task = &Needle;

struct Needle;

/// Id that opens the needle.
const NEEDLE: u32 = 0;
/// Id that opens the question.
const QUESTION: u32 = 1;
/// Ids before the first key.
const MARKERS: u32 = 2;

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
        key: "answer",
        label: "Answer length",
        help: "Values of the needle, m, all to be answered.",
        kind: SettingKind::Int { min: 1, max: 64, step: 1 },
        default: 2.0,
        essential: true,
    },
    TaskSetting {
        key: "vocab",
        label: "Vocabulary",
        help: "Symbols, V: two markers, the haystack's own, and keys and values in equal parts.",
        kind: SettingKind::Int { min: 8, max: 16384, step: 2 },
        default: 64.0,
        essential: true,
    },
    TaskSetting {
        key: "haystack",
        label: "Haystack symbols",
        help: "Symbols that occur in the haystack only.",
        kind: SettingKind::Int { min: 1, max: 8192, step: 1 },
        default: 16.0,
        essential: false,
    },
    TaskSetting {
        key: "disjoint",
        label: "Disjoint haystack",
        help: "Draw the haystack from its own symbols only, never from keys and values: much easier.",
        kind: SettingKind::Flag,
        default: 0.0,
        essential: false,
    },
];

const LEGEND: &[Legend] = &[
    Legend { role: Role::Marker, text: "start of needle or question" },
    Legend { role: Role::Key, text: "the needle's key" },
    Legend { role: Role::Value, text: "the needle's values" },
    Legend { role: Role::Query, text: "key asked for: answer its values" },
    Legend { role: Role::Filler, text: "haystack" },
];

/// Ids of each kind.
struct Ids {
    keys: Range<u32>,
    values: Range<u32>,
    haystack: Range<u32>,
}

impl Ids {
    fn new(settings: &TaskSettings) -> Ids {
        let vocab = settings.int("vocab") as u32;
        let first_hay = vocab.saturating_sub(settings.int("haystack") as u32);
        let first_value = MARKERS + first_hay.saturating_sub(MARKERS) / 2;
        Ids { keys: MARKERS..first_value, values: first_value..first_hay, haystack: first_hay..vocab }
    }
}

impl Task for Needle {
    fn slug(&self) -> &'static str {
        "needle"
    }

    fn name(&self) -> &'static str {
        "Needle in a haystack"
    }

    fn about(&self) -> &'static str {
        "One marked key with its values is hidden among random symbols and asked for at the end (S-NIAH)."
    }

    fn cites(&self) -> &'static str {
        "After Hsieh et al. 2024, RULER, arXiv:2404.06654"
    }

    fn order(&self) -> u32 {
        1
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
        settings.int("answer")
    }

    fn check(&self, settings: &TaskSettings) -> Result<(), Problem> {
        let [length, answer, vocab, haystack] = ["length", "answer", "vocab", "haystack"].map(|key| settings.int(key));
        // needle m + 2, question m + 1
        let most_answer = (length - 3) / 2;
        if answer > most_answer {
            let message = format!("out of range 1 to {most_answer} for length {length}");
            return Err(Problem { key: "answer", message, nearest: most_answer as f64 });
        }
        // one key and one value must be left
        let most_haystack = vocab - MARKERS as usize - 2;
        if haystack > most_haystack {
            let message = format!("out of range 1 to {most_haystack} for vocab {vocab}");
            return Err(Problem { key: "haystack", message, nearest: most_haystack as f64 });
        }
        Ok(())
    }

    fn sample(&self, settings: &TaskSettings, rng: &mut Pcg64) -> Example {
        let [length, answer] = ["length", "answer"].map(|key| settings.int(key));
        let ids = Ids::new(settings);
        let mut example = Example::filled(length, NEEDLE);
        let hay = if settings.flag("disjoint") { ids.haystack } else { MARKERS..ids.haystack.end };
        example.tokens.fill_with(|| rng.random_range(hay.clone()));
        let key = rng.random_range(ids.keys);
        let values: Vec<u32> = (0..answer).map(|_| rng.random_range(ids.values.clone())).collect();
        let question = length - (answer + 1);
        let needle = rng.random_range(0..=(question - (answer + 2)) as u32) as usize;
        example.put(needle, NEEDLE, Role::Marker);
        example.put(needle + 1, key, Role::Key);
        example.put(question, QUESTION, Role::Marker);
        example.put(question + 1, key, Role::Query);
        for (place, &target) in values.iter().enumerate() {
            let (written, position) = (needle + 2 + place, question + 1 + place);
            example.put(written, target, Role::Value);
            // the last value is answered but not shown
            if position + 1 < length {
                example.put(position + 1, target, Role::Value);
            }
            example.labels.push(Label { position: position as u32, target, lag: (position - written) as u32, writes: 1 });
        }
        example
    }

    fn token_text(&self, settings: &TaskSettings, token: u32) -> String {
        let ids = Ids::new(settings);
        match token {
            NEEDLE => "N".to_owned(),
            QUESTION => "Q".to_owned(),
            key if ids.keys.contains(&key) => format!("k{}", key - ids.keys.start),
            value if ids.values.contains(&value) => format!("v{}", value - ids.values.start),
            hay => format!("h{}", hay.saturating_sub(ids.haystack.start)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn the_marked_values_are_the_answer() {
        let mut rng = Pcg64::seed_from_u64(1);
        for answer in [1, 2, 7] {
            let settings = TASK.defaults().with("answer", answer.into());
            let (mut first, mut last) = (usize::MAX, 0);
            for _ in 0..2000 {
                let Example { tokens, labels, .. } = TASK.sample(&settings, &mut rng);
                let needle = tokens.iter().position(|token| *token == NEEDLE).unwrap();
                let question = tokens.iter().position(|token| *token == QUESTION).unwrap();
                assert_eq!(tokens.iter().filter(|token| **token < MARKERS).count(), 2, "the haystack holds no marker");
                assert_eq!(tokens[needle + 1], tokens[question + 1]);
                let answer = answer as usize;
                let targets: Vec<u32> = labels.iter().map(|label| label.target).collect();
                assert_eq!(targets, tokens[needle + 2..][..answer]);
                assert_eq!(targets[..answer - 1], tokens[question + 2..]);
                assert_eq!(labels.last().unwrap().position, 63);
                (first, last) = (first.min(needle), last.max(needle));
            }
            assert_eq!((first, last), (0, 64 - 2 * answer as usize - 3), "every depth occurs");
        }
    }

    #[test]
    fn the_haystack_holds_all_symbols_unless_disjoint() {
        let mut rng = Pcg64::seed_from_u64(2);
        for (disjoint, lowest) in [(0.0, 2), (1.0, 48)] {
            let settings = TASK.defaults().with("disjoint", disjoint);
            let mut seen = [false; 64];
            for _ in 0..200 {
                let example = TASK.sample(&settings, &mut rng);
                for (token, role) in example.tokens.iter().zip(&example.roles) {
                    seen[*token as usize] |= *role == Role::Filler;
                }
            }
            assert!((0..64).all(|id| seen[id] == (id >= lowest)), "disjoint {disjoint}: {seen:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named_with_the_nearest() {
        let problem = |key, value: f64| TASK.check(&TASK.defaults().with(key, value)).unwrap_err().message;
        assert_eq!(problem("answer", 64.0), "out of range 1 to 30 for length 64");
        assert_eq!(problem("vocab", 8.0), "out of range 1 to 4 for vocab 8");
    }
}
