//! `palimpsest train --seeds` from outside.

use assert_cmd::Command;
use serde_json::Value;

const SMALL: &str = "backend=cpu&length=24&pairs=2&vocab=16&width=16&heads=2&key=8&value=8&batch=8&eval=16&steps=8&eval_every=4";

/// Exit code, standard output and standard error of `palimpsest train`.
fn train(args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("palimpsest").unwrap().arg("train").args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn lines(args: &[&str]) -> Vec<Value> {
    let (code, out, error) = train(args);
    assert_eq!((code, error.as_str()), (0, ""));
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Without what a clock says.
fn timeless(mut line: Value) -> Value {
    for part in
        ["/evaluation/seconds", "/progress/seconds", "/progress/seconds_left", "/progress/steps_per_second", "/progress/tokens_per_second"]
    {
        if let Some(value) = line.pointer_mut(part) {
            *value = Value::Null;
        }
    }
    line
}

#[test]
fn each_seed_reports_what_it_reports_by_itself() {
    let together = lines(&[&format!("{SMALL}&seed=4"), "--seeds", "2", "--json"]);
    assert_eq!(together[0]["seeds"], serde_json::json!([4, 5]));
    for seed in [4, 5] {
        let alone = lines(&[&format!("{SMALL}&seed={seed}"), "--json"]);
        let evaluations =
            |all: &[Value]| all.iter().filter(|line| line["event"] == "evaluation").cloned().map(timeless).collect::<Vec<_>>();
        let own: Vec<Value> = evaluations(&together).into_iter().filter(|line| line["seed"] == seed).collect();
        let mut expected = evaluations(&alone);
        assert_eq!(expected.len(), 3);
        expected.iter_mut().for_each(|line| line["seed"] = seed.into());
        assert_eq!(own, expected);
        assert!(alone.iter().all(|line| line.get("seed").is_none() && line.get("seeds").is_none()));
    }
    let end = together.last().unwrap();
    assert_eq!((end["event"].as_str(), end["steps"].as_u64(), end["stopped"].as_u64()), (Some("end"), Some(8), Some(0)));
    assert_eq!(end["seeds"].as_array().unwrap().len(), 2);
    assert!(end["steps_per_second"].as_f64().unwrap() > 0.0 && end["accuracy"].as_array().unwrap().len() == 3);
    assert_eq!(end["seeds"][1]["evaluation"]["step"], 8);
}

#[test]
fn a_line_for_each_seed_and_one_for_all() {
    let (code, out, _) = train(&[SMALL, "--seeds", "3"]);
    let last: Vec<&str> = out.lines().rev().take(4).collect();
    assert_eq!(code, 0);
    assert!(last[0].starts_with("3 seeds: 0 reached 99 %; held-out accuracy ") && last[0].contains("; 8 steps in "), "{out}");
    assert!(last[1].starts_with("seed 2  held-out accuracy ") && last[3].starts_with("seed 0  held-out accuracy "), "{out}");
    // the settings' own number of seeds counts where none is given
    let (_, own, note) = train(&[&format!("{SMALL}&seeds=3")]);
    assert_eq!((own.lines().count(), note.contains("note:")), (out.lines().count(), false), "{note}");
    assert_eq!(train(&[&format!("{SMALL}&seeds=3"), "--seeds", "1"]).1.lines().count(), 4);
}

#[test]
fn seeds_that_do_not_fit_together_are_advised_to_be_fewer() {
    let (code, out, error) = train(&["length=1024&steps=1", "--backend=gpu", "--seeds=1000"]);
    assert_eq!((code, out.as_str(), error.trim_end().lines().count()), (2, "", 1), "{error}");
    assert!(error.starts_with("error: 1000 seeds do not fit together, fewer may: "), "{error}");
}

#[test]
fn seeds_beyond_the_last_are_refused() {
    let last = u32::MAX;
    for (settings, args) in [(format!("{SMALL}&seed={last}"), &["--seeds", "3"][..]), (format!("{SMALL}&seed={last}&seeds=3"), &[])] {
        let (code, out, error) = train(&[&[settings.as_str()], args].concat());
        assert_eq!((code, out.as_str(), error.trim_end().lines().count()), (2, "", 1), "{error}");
        assert!(error.contains("seeds=3 is more than there are from seed=4294967295 on") && error.contains("nearest valid: 1"), "{error}");
    }
    assert_eq!(train(&[&format!("{SMALL}&seed={}", last - 1), "--seeds", "2"]).0, 0);
}

#[test]
fn seeds_out_of_range_are_refused() {
    let (code, out, error) = train(&[SMALL, "--seeds", "0"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(error.contains("--seeds") && error.trim_end().lines().count() == 1, "{error}");
    // as a setting and as an argument: one range
    let most = palimpsest_spec::MOST_SEEDS;
    let (code, _, error) = train(&[SMALL, "--seeds", &(most + 1).to_string()]);
    assert!(code == 2 && error.contains(&format!("1..={most}")), "{error}");
    let (code, _, error) = train(&[&format!("{SMALL}&seeds={}", most + 1)]);
    assert!(code == 2 && error.contains(&format!("out of range 1 to {most}: nearest valid: {most}")), "{error}");
}
