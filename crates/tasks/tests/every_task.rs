//! What holds for every task of the registry, over random settings.

use palimpsest_tasks::{Example, Role, SettingKind, Stream, Task, TaskSettings, default, find, tasks};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// Settings from numbers in 0..1, made to fit by following [`Task::check`].
fn settings(task: &dyn Task, shares: &[f64]) -> TaskSettings {
    let mut settings = task.defaults();
    for (setting, share) in task.settings().iter().zip(shares) {
        let value = match setting.kind {
            // squared twice: mostly small sizes, now and then a large one
            SettingKind::Int { min, max, .. } => f64::from(min) + share.powi(4) * f64::from(max.min(1024) - min.min(1024)),
            SettingKind::Float { min, max } => min + share * (max - min),
            SettingKind::Flag => share.round(),
        };
        settings.set(setting.key, setting.kind.nearest(value));
    }
    for _ in 0..=task.settings().len() {
        let Err(problem) = task.check(&settings) else { return settings };
        let kind = task.settings().iter().find(|setting| setting.key == problem.key).map(|setting| setting.kind).unwrap();
        assert!(kind.allows(problem.nearest), "{}: {problem}", task.slug());
        assert_ne!(settings.get(problem.key), Some(problem.nearest), "{}: {problem}", task.slug());
        settings.set(problem.key, problem.nearest);
    }
    panic!("{}: checks do not end: {settings:?}", task.slug());
}

/// The answers that a dictionary gives: each key holds the values that followed its last write.
fn dictionary(example: &Example) -> Vec<(u32, usize)> {
    let role = |at: usize| example.roles.get(at).copied();
    let mut answers = Vec::new();
    for label in &example.labels {
        let position = label.position as usize;
        let query = (0..=position).rev().find(|at| role(*at) == Some(Role::Query)).unwrap();
        let mut memory: HashMap<u32, (usize, usize)> = HashMap::new();
        for at in (0..query).filter(|at| role(*at) == Some(Role::Key)) {
            memory.entry(example.tokens[at]).and_modify(|entry| *entry = (at, entry.1 + 1)).or_insert((at, 1));
        }
        let (at, writes) = memory[&example.tokens[query]];
        assert_eq!(writes as u32, label.writes);
        answers.push((example.tokens[at + 1 + position - query], at + 1 + position - query));
    }
    answers
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn examples_are_well_formed_and_solvable(shares in prop::array::uniform16(0.0f64..1.0), index in any::<u64>()) {
        for task in tasks() {
            let settings = settings(*task, &shares);
            let example = Stream::held_out(*task, settings).example(index);
            prop_assert_eq!(example.tokens.len(), settings.length());
            prop_assert_eq!(example.roles.len(), settings.length());
            prop_assert_eq!(example.labels.len(), task.labels_per_example(&settings));
            prop_assert!(!example.labels.is_empty());
            let vocabulary = task.vocabulary(&settings) as u32;
            prop_assert!(example.tokens.iter().all(|token| *token < vocabulary));
            prop_assert!(example.labels.windows(2).all(|pair| pair[0].position < pair[1].position));
            let legend: Vec<Role> = task.legend().iter().map(|legend| legend.role).collect();
            prop_assert!(example.roles.iter().all(|role| legend.contains(role)));
            for (label, (answer, written)) in example.labels.iter().zip(dictionary(&example)) {
                prop_assert_eq!(label.target, answer, "{} {:?}", task.slug(), label);
                prop_assert_eq!((label.position - label.lag) as usize, written);
            }
        }
    }
}

#[test]
fn every_token_reads_differently() {
    for task in tasks() {
        for share in [0.0, 0.5, 0.99] {
            let settings = settings(*task, &[share; 16]);
            let texts: HashSet<String> = (0..task.vocabulary(&settings) as u32).map(|token| task.token_text(&settings, token)).collect();
            assert_eq!(texts.len(), task.vocabulary(&settings), "{}", task.slug());
        }
    }
}

#[test]
fn defaults_fit_and_slugs_and_keys_are_unique() {
    let slugs: HashSet<&str> = tasks().iter().map(|task| task.slug()).collect();
    assert_eq!(slugs.len(), tasks().len());
    assert!(tasks().len() >= 3);
    assert_eq!(default().slug(), tasks()[0].slug());
    for task in tasks() {
        assert_eq!(find(task.slug()).map(|task| task.name()), Some(task.name()));
        task.check(&task.defaults()).unwrap();
        assert!(task.settings().len() <= TaskSettings::MOST, "{} declares too many settings", task.slug());
        let keys: HashSet<&str> = task.settings().iter().map(|setting| setting.key).collect();
        assert_eq!(keys.len(), task.settings().len());
        assert!(keys.contains("length") && keys.contains("vocab"));
        for setting in task.settings() {
            assert!(setting.kind.allows(setting.default), "{} {}", task.slug(), setting.key);
            assert!(setting.help.ends_with('.') && !setting.label.is_empty());
        }
    }
}

#[test]
fn slugs_are_file_names() {
    for task in tasks() {
        let file = format!("{}/src/tasks/{}.rs", env!("CARGO_MANIFEST_DIR"), task.slug());
        assert!(std::path::Path::new(&file).exists(), "{} is not in a file of its name", task.slug());
    }
}
