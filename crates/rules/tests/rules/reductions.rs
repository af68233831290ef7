//! What the papers say about how the rules relate, over sequences in f64.

use crate::recurrence::{Named, State, difference, dot, noise, run, steps, unit};
use palimpsest_rules::{Rule, find};

const KEY: usize = 8;
const VALUE: usize = 5;
const TIME: usize = 37;
const ROUNDING: f64 = 1e-13;

fn rule(slug: &str) -> &'static Rule {
    find(slug).unwrap()
}

/// A sequence with every input that any rule names, and a state to start from.
fn sequence(seed: u64) -> (State, Vec<Named>) {
    let mut random = noise(seed);
    let mut many = |width: usize| (0..width).map(|_| random()).collect::<Vec<f64>>();
    let state = State { key: KEY, value: VALUE, s: many(KEY * VALUE) };
    let z = unit(KEY, &mut || many(1)[0]);
    let tokens = (0..TIME).map(|_| {
        let gate = |x: Vec<f64>| x.into_iter().map(|x| 0.5 + 0.5 * x).collect::<Vec<f64>>();
        let decay = |x: Vec<f64>| x.into_iter().map(|x| -(1.0 + x)).collect::<Vec<f64>>();
        Named::from([
            ("q", unit(KEY, &mut || many(1)[0])),
            ("k", unit(KEY, &mut || many(1)[0])),
            ("v", many(VALUE)),
            ("g1", decay(many(1))),
            ("g", decay(many(KEY))),
            ("beta", gate(many(1))),
            ("b", gate(many(KEY))),
            ("w", gate(many(VALUE))),
            ("e", unit(KEY, &mut || many(1)[0])),
            ("gamma", gate(many(1))),
            ("z", z.clone()),
            ("lam", vec![0.2]),
        ])
    });
    let tokens = tokens.collect();
    (state, tokens)
}

/// Both rules agree on sequences once `change` is made, and do not without it.
fn reduces(from: &Rule, to: &Rule, change: impl Fn(&mut Named)) {
    for seed in [1, 3, 5] {
        let (state, tokens) = sequence(seed);
        let mut changed = tokens.clone();
        changed.iter_mut().for_each(&change);
        let far = difference(&run(from, state.clone(), &tokens), &run(to, state.clone(), &tokens));
        assert!(far > 1e-3, "{} and {} do not differ: the test shows nothing", from.slug(), to.slug());
        let near = difference(&run(from, state.clone(), &changed), &run(to, state, &changed));
        assert!(near < ROUNDING, "{} and {} differ by {near:e}", from.slug(), to.slug());
    }
}

#[test]
fn gdn2_with_one_gate_is_kda() {
    reduces(rule("gdn2"), rule("kda"), |token| {
        let beta = token["beta"][0];
        token.insert("b", vec![beta; KEY]);
        token.insert("w", vec![beta; VALUE]);
    });
}

#[test]
fn kda_with_equal_channels_is_gdn() {
    reduces(rule("kda"), rule("gdn"), |token| {
        let g = token["g1"][0];
        token.insert("g", vec![g; KEY]);
    });
}

#[test]
fn gdn_without_decay_is_deltanet() {
    reduces(rule("gdn"), rule("delta"), |token| {
        token.insert("g1", vec![0.0]);
    });
}

#[test]
fn qed_and_its_arms_without_strength_are_gdn2() {
    for slug in ["qed", "qed_noproj", "qed_nogate", "qed_nogate_noproj", "qed_rand"] {
        reduces(&rule(slug).cut(&["lam"]).unwrap(), rule("gdn2"), |token| {
            token.insert("lam", vec![0.0]);
        });
    }
}

#[test]
fn qed_arms_are_qed_where_the_differences_vanish() {
    let cut = |slug: &str| rule(slug).cut(&["lam"]).unwrap();
    // an open gate leaves the query as it is
    reduces(&cut("qed_nogate"), &cut("qed"), |token| {
        token.insert("b", vec![1.0; KEY]);
    });
    reduces(&cut("qed_nogate_noproj"), &cut("qed_noproj"), |token| {
        token.insert("b", vec![1.0; KEY]);
    });
    reduces(&cut("qed_rand"), &cut("qed"), |token| {
        let z = token["z"].clone();
        token.insert("q", z);
    });
}

#[test]
fn eda_without_its_erasure_is_kda() {
    reduces(rule("eda"), rule("kda"), |token| {
        token.insert("gamma", vec![0.0]);
    });
}

/// `S_QED - S_GDN2 = -lambda k (S^T d)^T`, `o_QED - o_GDN2 = -lambda (q.k) S^T d`, `a.k` is the same, and a probe orthogonal to `k`
/// reads the same, where `S` is the decayed state and `d = P_k^perp (b * q)`.
#[test]
fn qed_changes_gdn2_only_along_the_key() {
    let (qed, gdn2) = (rule("qed").cut(&["lam"]).unwrap(), rule("gdn2"));
    for seed in [7, 9, 11] {
        let (before, tokens) = sequence(seed);
        let token = &tokens[0];
        let (k, q, lam) = (&token["k"], &token["q"], token["lam"][0]);
        let mut decayed = before.clone();
        for (row, g) in decayed.s.chunks_exact_mut(VALUE).zip(&token["g"]) {
            row.iter_mut().for_each(|s| *s *= g.exp());
        }
        let u: Vec<f64> = token["b"].iter().zip(q).map(|(b, q)| b * q).collect();
        let along = dot(k, &u);
        let d: Vec<f64> = u.iter().zip(k).map(|(u, k)| u - k * along).collect();
        let erased = decayed.read(&d);

        let step = |rule: &Rule| {
            let (layout, row) = (rule.step_layout(KEY, VALUE), steps(rule, KEY, VALUE, token));
            let mut state = before.clone();
            let o = state.token(&layout, &row);
            let erase = layout.steps[0].erase.unwrap();
            (state, o, dot(&row[erase..erase + KEY], k))
        };
        let ((with, o_with, ak_with), (without, o_without, ak_without)) = (step(&qed), step(gdn2));

        let change: Vec<f64> = with.s.iter().zip(&without.s).map(|(a, b)| a - b).collect();
        let expected: Vec<f64> = k.iter().flat_map(|k| erased.iter().map(move |s| -lam * k * s)).collect();
        assert!(difference(&change, &expected) < 1e-12);
        let change: Vec<f64> = o_with.iter().zip(&o_without).map(|(a, b)| a - b).collect();
        let expected: Vec<f64> = erased.iter().map(|s| -lam * dot(q, k) * s).collect();
        assert!(difference(&change, &expected) < 1e-12);
        assert!((ak_with - ak_without).abs() < 1e-14);
        let probe = &tokens[1]["q"];
        let along = dot(probe, k);
        let probe: Vec<f64> = probe.iter().zip(k).map(|(x, k)| x - k * along).collect();
        assert!(difference(&with.read(&probe), &without.read(&probe)) < 1e-13);
    }
}

fn two_dimensional(rule: &Rule, s: [f64; 2], token: Named) -> (Vec<f64>, f64) {
    let mut state = State { key: 2, value: 1, s: s.to_vec() };
    let o = state.token(&rule.step_layout(2, 1), &steps(rule, 2, 1, &token));
    (state.s, o[0])
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-14), "{found:?}");
}

#[test]
fn qed_by_hand_in_two_dimensions() {
    let token = Named::from([
        ("k", vec![1.0, 0.0]),
        ("q", vec![0.6, 0.8]),
        ("v", vec![1.0]),
        ("w", vec![1.0]),
        ("b", vec![0.5, 0.5]),
        ("g", vec![0.0, 0.0]),
        ("lam", vec![0.2]),
    ]);
    let (s, o) = two_dimensional(rule("gdn2"), [2.0, 3.0], token.clone());
    assert_close(&s, &[2.0, 3.0]);
    assert_close(&[o], &[3.6]);
    // d = (0, 0.4)
    let (s, o) = two_dimensional(&rule("qed").cut(&["lam"]).unwrap(), [2.0, 3.0], token);
    assert_close(&s, &[1.76, 3.0]);
    assert_close(&[o], &[3.456]);
}

#[test]
fn eda_by_hand_in_two_dimensions() {
    let token = Named::from([
        ("k", vec![0.0, 1.0]),
        ("q", vec![1.0, 0.0]),
        ("v", vec![7.0]),
        ("e", vec![1.0, 0.0]),
        ("beta", vec![1.0]),
        ("gamma", vec![1.0]),
        ("g", vec![0.0, 0.0]),
    ]);
    assert_close(&two_dimensional(rule("eda"), [3.0, 5.0], token.clone()).0, &[0.0, 7.0]);
    assert_close(&two_dimensional(rule("delta"), [3.0, 5.0], token).0, &[3.0, 7.0]);
}
