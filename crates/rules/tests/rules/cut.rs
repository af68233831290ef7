//! Rules cut at a symbol.

use palimpsest_rules::{Input, Kind, Rule, Scope, Source, find, rules};

fn names(rule: &Rule) -> Vec<&str> {
    rule.inputs().iter().map(|input| input.name.as_str()).collect()
}

fn input<'a>(rule: &'a Rule, name: &str) -> &'a Input {
    rule.inputs().iter().find(|input| input.name == name).unwrap()
}

#[test]
fn a_symbol_of_head_scope_replaces_what_fed_it() {
    let qed = find("qed").unwrap();
    assert_eq!(names(qed), ["q", "k", "v", "g", "b", "w", "theta"]);
    assert_eq!(input(qed, "theta").source, Source::Parameter { init: -2.0, rate: 10.0, weight_decay: false });
    let cut = qed.cut(&["lam"]).unwrap();
    assert_eq!(names(&cut), ["q", "k", "v", "g", "b", "w", "lam"]);
    let lam = input(&cut, "lam");
    assert_eq!((lam.kind, lam.scope, &lam.source), (Kind::Scalar, Scope::Head, &Source::Cut));
    assert_eq!(cut.steps(), qed.steps());
    assert_eq!(cut.source(), qed.source());
}

#[test]
fn a_symbol_of_token_scope_stays_at_token_scope() {
    let cut = find("qed").unwrap().cut(&["d", "lam"]).unwrap();
    assert_eq!(names(&cut), ["q", "k", "v", "g", "b", "w", "lam", "d"]);
    assert_eq!((input(&cut, "d").kind, input(&cut, "d").scope), (Kind::Key, Scope::Token));
    let twice = find("qed").unwrap().cut(&["lam"]).unwrap().cut(&["d"]).unwrap();
    assert_eq!(names(&twice), names(&cut));
    // b fed only u, which fed only d
    let text = "rule \"x\"\nb = gate(key)\nz = fixed(key)\nu = b * z\ny = -z\nstep key k, erase u + y, write v";
    let cut = Rule::parse("x", text).unwrap().cut(&["u"]).unwrap();
    assert_eq!(names(&cut), ["q", "k", "v", "z", "u"]);
    let cut = Rule::parse("x", text).unwrap().cut(&["y", "u"]).unwrap();
    assert_eq!(names(&cut), ["q", "k", "v", "u", "y"]);
    assert_eq!((input(&cut, "y").kind, input(&cut, "y").scope), (Kind::Key, Scope::Head));
}

#[test]
fn a_cut_rule_computes_the_same_from_the_symbol() {
    let (qed, cut) = (find("qed").unwrap(), find("qed").unwrap().cut(&["lam"]).unwrap());
    let layout = qed.input_layout(8, 4);
    assert_eq!(layout.stride, cut.input_layout(8, 4).stride);
    let token: Vec<f64> = (0..layout.stride).map(|j| (j as f64 * 0.7).sin()).collect();
    let theta = -1.3f64;
    let run = |rule: &Rule, head: f64| {
        let program = rule.program(8, 4);
        let mut steps = vec![0.0; rule.step_layout(8, 4).stride];
        program.forward(&token, &[&[head]], &mut steps, &mut program.scratch());
        steps
    };
    let lam = 0.25 / (1.0 + (-theta).exp());
    for (x, y) in run(qed, theta).iter().zip(run(&cut, lam)) {
        assert!((x - y).abs() < 1e-15);
    }
}

#[test]
fn an_unknown_symbol_is_refused() {
    let error = find("qed").unwrap().cut(&["nonsense"]).unwrap_err().to_string();
    assert_eq!(error, "qed.rule:1:1: found no symbol 'nonsense' to cut at, expected one of b, d, g, k, lam, q, theta, u, v, w");
}

#[test]
fn without_names_nothing_changes() {
    for rule in rules() {
        let same = rule.cut(&[]).unwrap();
        assert_eq!((same.inputs(), same.steps()), (rule.inputs(), rule.steps()));
    }
}

#[test]
fn layouts_are_aligned_and_do_not_overlap() {
    for rule in rules() {
        for (key, value) in [(4, 8), (12, 4), (128, 64)] {
            let layout = rule.input_layout(key, value);
            let (mut token, mut head) = (0, 0);
            for (index, input) in rule.inputs().iter().enumerate() {
                let next = if input.scope == Scope::Token { &mut token } else { &mut head };
                assert_eq!(layout.slot(index), *next);
                *next += input.kind.width(key, value).next_multiple_of(4);
            }
            assert_eq!((layout.stride, layout.head_stride), (token, head));
            let steps = rule.step_layout(key, value);
            let parts = steps.steps.iter().zip(rule.steps()).flat_map(|(slots, parts)| {
                assert_eq!(
                    (slots.decay.map(|(_, kind)| kind), slots.erase.is_some(), slots.write.is_some()),
                    (parts.decay, parts.erase, parts.write)
                );
                let decay = slots.decay.map(|(at, kind)| (at, kind.width(key, value)));
                [decay, Some((slots.key, key)), slots.erase.map(|at| (at, key)), slots.write.map(|at| (at, value))]
            });
            let end = parts.flatten().fold(key, |end, (at, width)| {
                assert_eq!(at, end);
                end + width.next_multiple_of(4)
            });
            assert_eq!((steps.query, steps.stride), (0, end));
        }
    }
}
