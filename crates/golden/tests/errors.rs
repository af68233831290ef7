//! Bad files are refused in one line that says what would be valid.

use palimpsest_golden::{Golden, GoldenError};
use palimpsest_rules::rules;
use serde_json::{Value, json};

fn sound() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/qed.strong.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The message for a sound file after this change.
fn message(change: impl FnOnce(&mut Value)) -> String {
    let mut file = sound();
    change(&mut file);
    let error: GoldenError = Golden::parse(&file.to_string()).map(|golden| golden.shape()).unwrap_err();
    let message = error.to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn sound_file_is_accepted() {
    Golden::parse(&sound().to_string()).unwrap();
}

#[test]
fn text_that_is_no_golden_file() {
    for text in ["", "{", "[]", "{\"rule\": \"qed\"}", "null", "{\"rule\": 3}"] {
        let message = Golden::parse(text).map(|golden| golden.shape()).unwrap_err().to_string();
        assert!(message.starts_with("not a golden file: ") && message.contains("line 1"), "{message}");
    }
}

#[test]
fn unknown_rule_lists_the_valid_ones() {
    let message = message(|file| file["rule"] = json!("qde"));
    assert!(message.contains("'qde'") && rules().iter().all(|rule| message.contains(rule.slug())), "{message}");
}

#[test]
fn what_a_file_holds_is_repeated_in_part() {
    let long = "ä".repeat(1 << 20);
    let array = json!({"shape": [1], "data": [1.0]});
    let messages = [
        message(|file| file["rule"] = json!(long)),
        message(|file| file["inputs"][&long] = array.clone()),
        message(|file| file["outputs"][&long] = array.clone()),
        message(|file| file["dims"]["K"] = json!(long)),
        message(|file| file["inputs"]["q"]["data"][0] = json!(long)),
        message(|file| file["inputs"]["q"]["shape"] = json!(vec![7; 1 << 20])),
        message(|file| file["inputs"]["q"]["data"][3] = json!(-1e300)),
    ];
    for message in &messages {
        assert!(message.chars().count() < 400, "{} characters: {:.200}", message.len(), message);
    }
    assert!(messages[..6].iter().all(|message| message.contains('…')), "{messages:?}");
    assert!(messages[0].ends_with(rules().last().map_or("", |rule| rule.slug())), "{}", messages[0]);
    assert!(messages[3].contains(" at line 1 column "), "{}", messages[3]);
    assert!(messages[6].contains("holds -1e300 at 3"), "{}", messages[6]);
}

#[test]
fn sizes_outside_the_range() {
    assert_eq!(message(|file| file["dims"]["K"] = json!(6)), "K is 6; it must be a multiple of 4 from 4 to 128");
    assert_eq!(message(|file| file["dims"]["V"] = json!(132)), "V is 132; it must be a multiple of 4 from 4 to 128");
    assert_eq!(message(|file| file["dims"]["T"] = json!(0)), "T is 0; it must be at least 1");
    assert!(message(|file| file["dims"]["T"] = json!(-3)).starts_with("not a golden file: "));
    assert!(message(|file| file["dims"]["T"] = json!(u64::MAX)).contains("has shape"));
}

#[test]
fn missing_and_unexpected_arrays() {
    let remove = |section: &'static str, name: &'static str| {
        message(move |file| {
            file[section].as_object_mut().unwrap().remove(name);
        })
    };
    assert_eq!(remove("inputs", "b"), "'b' is missing from inputs; it must have shape [1, 19, 1, 16]");
    assert_eq!(remove("inputs", "S0"), "'S0' is missing from inputs; it must have shape [1, 1, 16, 8]");
    assert_eq!(remove("outputs", "S"), "'S' is missing from outputs; it must have shape [1, 1, 16, 8]");
    assert_eq!(remove("output_grads", "o"), "'o' is missing from output_grads; it must have shape [1, 19, 1, 8]");
    assert_eq!(remove("input_grads", "lam"), "'lam' is missing from input_grads; it must have shape [1]");
    let array = json!({"shape": [1], "data": [1.0]});
    let found = message(|file| file["inputs"]["nonsense"] = array.clone());
    assert!(found.contains("nonsense") && found.contains("qed"), "{found}");
    let found = message(|file| file["input_grads"]["nonsense"] = array.clone());
    assert!(found.contains("'nonsense' in input_grads") && found.contains("S0"), "{found}");
}

#[test]
fn wrong_shapes_lengths_and_numbers() {
    assert_eq!(
        message(|file| file["inputs"]["w"]["shape"] = json!([1, 19, 1, 16])),
        "'w' in inputs has shape [1, 19, 1, 16]; it must be [1, 19, 1, 8]"
    );
    let found = message(|file| {
        file["outputs"]["o"]["data"].as_array_mut().unwrap().pop();
    });
    assert_eq!(found, "'o' in outputs has 151 numbers; its shape [1, 19, 1, 8] needs 152");
    let found = message(|file| file["inputs"]["q"]["data"][3] = json!(1e300));
    assert!(found.starts_with("'q' in inputs holds 1") && found.contains("at 3"), "{found}");
    assert!(message(|file| file["inputs"]["q"]["data"][3] = json!(null)).starts_with("not a golden file: "));
    assert!(message(|file| file["inputs"]["q"]["data"][3] = json!("x")).starts_with("not a golden file: "));
}
