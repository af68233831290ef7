//! The table, changing settings by name, and names of runs.

use palimpsest_rules::{default_rule, rules};
use palimpsest_spec::{Backend, Group, Kind, Schedule, Settings, describe_difference, example, help_text};
use palimpsest_tasks::tasks;
use std::collections::HashSet;

fn settings(link: &str) -> Settings {
    Settings::from_text_strict(link).unwrap()
}

#[test]
fn every_default_is_valid_and_no_key_comes_twice() {
    for task in tasks() {
        let settings = settings(&format!("task={}", task.slug()));
        let rows = settings.rows();
        let keys: HashSet<&str> = rows.iter().map(|row| row.key).collect();
        assert_eq!(keys.len(), rows.len(), "task {}", task.slug());
        assert!(!keys.contains("v"));
        for row in &rows {
            let mut again = settings.clone();
            assert_eq!(again.set(row.key, &row.default.to_string()), Ok(Vec::new()), "{}", row.key);
            assert!(row.help.ends_with('.') && !row.label.is_empty(), "{}", row.key);
            assert_eq!(row.needs_restart, row.group != Group::View && !["rules", "seeds"].contains(&row.key), "{}", row.key);
            assert_eq!(settings.row(row.key).as_ref(), Some(row));
        }
        let groups: Vec<Group> = rows.iter().map(|row| row.group).collect();
        assert!(groups.is_sorted(), "groups stand together");
    }
}

#[test]
fn rules_and_tasks_come_from_their_registries() {
    let words = |key: &str| match Settings::default().row(key).map(|row| row.kind) {
        Some(Kind::Choice(choices)) => choices.iter().map(|choice| choice.word).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(words("rule"), rules().iter().map(|rule| rule.slug()).collect::<Vec<_>>());
    assert_eq!(words("task"), tasks().iter().map(|task| task.slug()).collect::<Vec<_>>());
    let defaults = Settings::default();
    assert_eq!(defaults.rule().slug(), default_rule().slug());
    assert_eq!(defaults.task().slug(), palimpsest_tasks::default().slug());
}

#[test]
fn the_defaults_are_the_run_known_to_learn() {
    let s = Settings::default();
    assert_eq!((s.layers(), s.width(), s.heads(), s.key(), s.value(), s.mlp(), s.conv()), (2, 64, 2, 32, 32, 2, 4));
    assert_eq!((s.batch(), s.steps(), s.warmup(), s.lr(), s.clip(), s.schedule()), (64, 1500, 50, 0.003, 1.0, Schedule::Cosine));
    assert_eq!((s.length(), s.task_settings().int("pairs"), s.task_settings().int("vocab")), (64, 4, 64));
    assert_eq!((s.eval(), s.seed(), s.layer(), s.head()), (512, 0, 0, 0));
}

#[test]
fn setting_by_name_moves_what_no_longer_fits() {
    let mut s = settings("pairs=8");
    let notes = s.set("length", "16").unwrap();
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].sentence, "pairs=8 is out of range 1 to 4 for length 16: using 4");
    assert_eq!(s.task_settings().int("pairs"), 4);
    assert_eq!(s.set("layers", "99").unwrap()[0].sentence, "layers=99 is out of range 1 to 24: using 24");
    assert_eq!(s.set("lr", "x").unwrap_err().sentence, "lr=x is not a number: using 0.003");
    assert_eq!(s.set("lrr", "1").unwrap_err().sentence, "lrr is not a setting: ignored, did you mean lr?");
    assert!(s.differs("layers") && !s.differs("lr") && !s.differs("lrr"));
    s.reset("layers");
    assert!(!s.differs("layers"));
    s.set("backend", "cpu").unwrap();
    assert_eq!((s.backend(), s.wants_cpu()), (Backend::Cpu, true));
}

#[test]
fn a_change_of_task_keeps_what_both_have() {
    let mut s = settings("length=128&passes=2");
    for task in tasks() {
        s.set("task", task.slug()).unwrap();
        assert_eq!(s.length(), 128);
        s.task().check(&s.task_settings()).unwrap();
    }
    s.set("task", palimpsest_tasks::default().slug()).unwrap();
    assert_eq!(s.to_link(), "v=1&length=128", "what another task lacks is forgotten");
}

#[test]
fn the_view_makes_no_other_run() {
    let (a, b) = (settings("lr=0.01"), settings("lr=0.01&layer=2&theme=dark&seeds=3"));
    assert!(a.same_run(&b) && a != b);
    assert_eq!((b.run_link(), b.to_link()), (a.to_link(), "v=1&lr=0.01&seeds=3&layer=2&theme=dark".to_owned()));
    assert!(!a.same_run(&settings("lr=0.02")) && !a.same_run(&settings("lr=0.01&pairs=5")));
}

#[test]
fn what_only_the_page_reads_is_named() {
    let slug = rules()[0].slug();
    assert_eq!(settings("lr=0.01&pairs=5&seeds=3").only_for_the_page(), Vec::<&str>::new());
    assert_eq!(settings(&format!("seeds=3&rules={slug}&layer=2&theme=dark")).only_for_the_page(), ["rules", "layer", "theme"]);
    assert!(Settings::default().rows().iter().all(|row| !(row.page_only && row.needs_restart)), "a run depends on no such row");
}

#[test]
fn runs_are_named_by_what_differs() {
    let default = Settings::default();
    let rule = |s: &Settings| s.rule().name().to_owned();
    assert_eq!(default.name(), rule(&default));
    let other = rules().iter().find(|rule| rule.slug() != default.rule().slug()).unwrap();
    let s = settings(&format!("rule={}&lr=0.001&output_gate=0&layer=2", other.slug()));
    assert_eq!(s.name(), format!("{}, no output gate, lr 0.001", other.name()));
    assert_eq!(describe_difference(&default, &s), s.name());
    assert_eq!(describe_difference(&s, &settings(&format!("rule={}&lr=0.001&output_gate=0&pairs=8", other.slug()))), "pairs 8");
    assert_eq!(describe_difference(&s, &s), rule(&s));
}

#[test]
fn seeds_go_on() {
    let mut s = settings("seed=4294967295");
    s.next_seed();
    assert_eq!(s.seed(), 0);
    s.next_seed();
    assert_eq!(s.to_link(), "v=1&seed=1");
    let mut s = settings("seed=4294967293&seeds=3");
    s.next_seed();
    assert_eq!(s.to_link(), "v=1&seed=4294967294&seeds=2", "the next may have fewer after it");
    for rule in rules() {
        assert_eq!(s.with_rule(rule.slug()).rule().slug(), rule.slug());
    }
}

#[test]
fn the_help_names_every_setting() {
    let help = help_text();
    assert!(help.contains(&example()) && Settings::from_text_strict(&example()).is_ok());
    for task in tasks() {
        for row in settings(&format!("task={}", task.slug())).rows() {
            assert!(help.contains(&format!("  {:<18} {}", row.key, row.help)), "{}", row.key);
        }
    }
}
