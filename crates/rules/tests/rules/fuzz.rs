//! No text makes the compiler panic, and what it accepts is sound.

use palimpsest_rules::{Rule, Scope, rules};
use proptest::prelude::*;

/// Everything that a page would do with a text.
fn exercise(text: &str) {
    match Rule::parse("fuzz", text) {
        Err(error) => {
            let lines = text.matches('\n').count() + 1;
            assert!((1..=lines).contains(&error.line) && error.column >= 1, "{error}");
            assert!(!error.to_string().contains('\n'));
        }
        Ok(rule) => {
            crate::harness::validate(&rule, 8, 4, 4).unwrap();
            let (inputs, layout) = (rule.input_layout(8, 4), rule.step_layout(8, 4));
            let heads = rule.inputs().iter().filter(|input| input.scope == Scope::Head);
            let heads: Vec<Vec<f32>> = heads.map(|input| vec![0.5; input.kind.width(8, 4)]).collect();
            let heads: Vec<&[f32]> = heads.iter().map(Vec::as_slice).collect();
            let (program, token) = (rule.program(8, 4), vec![0.25; inputs.stride]);
            let (mut steps, mut d_token, mut d_heads) = (vec![0.0; layout.stride], vec![0.0; inputs.stride], vec![0.0; inputs.head_stride]);
            let mut scratch = program.scratch();
            program.forward(&token, &heads, &mut steps, &mut scratch);
            program.backward(&token, &heads, &steps, &mut d_token, &mut d_heads, &mut scratch);
            for input in rule.inputs() {
                rule.cut(&[&input.name]).unwrap();
            }
            assert!(!rule.equations().is_empty());
        }
    }
}

const WORDS: [&str; 44] = [
    "\n",
    "\n",
    "\n",
    "=",
    "=",
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "*",
    "k",
    "q",
    "v",
    "x",
    "y",
    "b",
    "g",
    "0.5",
    "1e38",
    "3",
    "step key k",
    "step",
    "decay",
    "key",
    "erase",
    "write",
    "gate(key)",
    "gate(scalar, bias -3)",
    "decay(channel)",
    "direction(rank 2)",
    "parameter(head)",
    "fixed(key)",
    "dot(k, q)",
    "dot",
    "sigmoid",
    "exp",
    "\"text\"",
    "about",
    "order",
    "default",
    "# note",
    "λ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>()) {
        exercise(&text);
        exercise(&format!("rule \"x\"\n{text}\nstep key k, write v"));
    }

    #[test]
    fn words_in_any_order(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40)) {
        exercise(&format!("rule \"x\"\n{}", words.join(" ")));
        exercise(&format!("rule \"x\"\nx = {}\nstep key k, write v", words.join(" ")));
    }

    #[test]
    fn damaged_rules(pick in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), cut in 0..9usize, put in prop::sample::select(&WORDS[..])) {
        let text = pick.get(rules()).source();
        let boundary = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap();
        let start = boundary(at.index(text.len()));
        let end = boundary(start + cut).max(start);
        exercise(&format!("{}{put}{}", &text[..start], &text[end..]));
    }
}
