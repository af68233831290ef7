//! The WGSL of every rule and of its gradient is valid at every size.

use palimpsest_rules::{Rule, rules};

#[test]
fn every_rule_validates() {
    for rule in rules() {
        for (key, value) in [(4, 4), (8, 4), (16, 128), (128, 64)] {
            for lanes in [1, 4, 16, 64] {
                crate::harness::validate(rule, key, value, lanes).unwrap();
            }
        }
    }
}

#[test]
fn a_cut_rule_validates() {
    for rule in rules() {
        for name in ["lam", "u", "d"] {
            if let Ok(cut) = rule.cut(&[name]) {
                crate::harness::validate(&cut, 8, 4, 16).unwrap();
            }
        }
    }
}

#[test]
fn sums_stand_in_uniform_control_flow() {
    for rule in rules() {
        for text in [rule.wgsl_map(8, 4, 16), rule.wgsl_map_gradient(8, 4, 16)] {
            let sums: Vec<&str> = text.lines().filter(|line| line.contains("row_sum(")).collect();
            assert!(sums.iter().all(|line| line.starts_with("    let s")), "{text}");
        }
    }
}

/// The checks above can fail. A sum that some lanes skip is not among what naga refuses, hence the test of lines.
#[test]
fn bad_text_is_refused() {
    let rule = &rules()[0];
    let check = |body: &str| {
        let text = format!("fn rule_map(row: u32, head: u32, lane: u32) {{ {body} }}");
        crate::harness::module(rule, &text, "rule_map", &["steps"], 16)
    };
    check("steps[row] = row_sum(1.0, lane);").unwrap();
    for bad in ["steps[row] = nothing;", "steps[row] = row;", "for (var j = lane; j < 4u; j += 4u) { let steps = j }"] {
        assert!(check(bad).is_err(), "{bad}");
    }
}

#[test]
fn numbers_are_exact_singles() {
    for (written, expected) in [
        ("0.1", "0.1f"),
        ("0.25", "0.25f"),
        ("16777217", "16777216.0f"),
        ("1e-7", "1e-7f"),
        ("3", "3.0f"),
        ("1e30", "1e30f"),
        ("0.30000001", "0.3f"),
    ] {
        let rule = Rule::parse("x", &format!("rule \"x\"\nstep key {written} * k, write v")).unwrap();
        let text = rule.wgsl_map(4, 4, 4);
        assert!(text.contains(&format!("= {expected};")), "{written}:\n{text}");
        let literal: f32 = expected.trim_end_matches('f').parse().unwrap();
        assert_eq!(literal, written.parse::<f64>().unwrap() as f32);
        crate::harness::validate(&rule, 4, 4, 4).unwrap();
    }
}

#[test]
fn only_the_two_functions_are_declared() {
    for rule in rules() {
        let (map, gradient) = (rule.wgsl_map(8, 4, 16), rule.wgsl_map_gradient(8, 4, 16));
        assert!(map.starts_with("fn rule_map(row: u32, head: u32, lane: u32) {") && map.matches("fn ").count() == 1);
        assert!(gradient.starts_with("fn rule_map_gradient(row: u32, head: u32, lane: u32) {") && gradient.matches("fn ").count() == 1);
        assert!(!map.contains("@") && !gradient.contains("@"));
    }
}
