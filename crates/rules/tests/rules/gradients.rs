//! Every rule's gradient against central differences in f64.

use crate::recurrence::noise;
use palimpsest_rules::{Rule, Scope, rules};

/// Every operation, with scalars that meet vectors on either side, and a symbol of each kind at head scope.
const EVERYTHING: &str = r#"
rule "everything"
g = decay(head)
b = gate(key)
w = gate(value)
s = gate(scalar)
e = direction(rank 2)
p = parameter(head)
z = fixed(key)
t = dot(v, w * v) - 0.5 * dot(k, z)
c = exp(-s) + sigmoid(t * p) - -2
x = s + b * sigmoid(e - c) * (1 - s)
step decay g * s - exp(p), key k + e, erase (x * x - q) * t + 3
step decay z * p - b, key x, write exp(0.1 * v) * w * p + c - w
step key -k * dot(e, x)
"#;

/// Sum of the packed steps, each times its weight.
fn loss(rule: &Rule, (key, value): (usize, usize), token: &[f64], heads: &[Vec<f64>], weights: &[f64]) -> f64 {
    let program = rule.program(key, value);
    let rows: Vec<&[f64]> = heads.iter().map(Vec::as_slice).collect();
    let mut steps = vec![0.0; weights.len()];
    program.forward(token, &rows, &mut steps, &mut program.scratch());
    crate::recurrence::dot(&steps, weights)
}

fn check(rule: &Rule, sizes: (usize, usize), seed: u64) {
    let (key, value) = sizes;
    let (inputs, layout) = (rule.input_layout(key, value), rule.step_layout(key, value));
    let mut random = noise(seed);
    let mut many = |width: usize| (0..width).map(|_| random()).collect::<Vec<f64>>();
    let (mut token, weights) = (many(inputs.stride), many(layout.stride));
    let width = |index: usize| rule.inputs()[index].kind.width(key, value);
    let of_scope = |scope| (0..rule.inputs().len()).filter(move |&index| rule.inputs()[index].scope == scope);
    let mut heads: Vec<Vec<f64>> = of_scope(Scope::Head).map(|index| many(width(index))).collect();

    // gradients of tokens are set, those of heads are added
    let program = rule.program(key, value);
    let rows: Vec<&[f64]> = heads.iter().map(Vec::as_slice).collect();
    let (mut d_token, mut d_heads) = (vec![f64::NAN; inputs.stride], vec![1.0; inputs.head_stride]);
    program.backward(&token, &rows, &weights, &mut d_token, &mut d_heads, &mut program.scratch());

    let near = |analytic: f64, numeric: f64, what: &str| {
        let far = (analytic - numeric).abs() / (1.0 + numeric.abs());
        assert!(far < 1e-8, "{} {what} at {sizes:?}: {analytic} is not {numeric}", rule.slug());
    };
    const H: f64 = 1e-5;
    for index in of_scope(Scope::Token) {
        for at in inputs.slot(index)..inputs.slot(index) + width(index) {
            let middle = token[at];
            let mut side = |x: f64| {
                token[at] = x;
                loss(rule, sizes, &token, &heads, &weights)
            };
            let numeric = (side(middle + H) - side(middle - H)) / (2.0 * H);
            token[at] = middle;
            near(d_token[at], numeric, &rule.inputs()[index].name);
        }
    }
    for (row, index) in of_scope(Scope::Head).enumerate() {
        for j in 0..width(index) {
            let middle = heads[row][j];
            let mut side = |x: f64| {
                heads[row][j] = x;
                loss(rule, sizes, &token, &heads, &weights)
            };
            let numeric = (side(middle + H) - side(middle - H)) / (2.0 * H);
            heads[row][j] = middle;
            near(d_heads[inputs.slot(index) + j] - 1.0, numeric, &rule.inputs()[index].name);
        }
    }
}

#[test]
fn gradients_are_central_differences() {
    let everything = Rule::parse("everything", EVERYTHING).unwrap();
    for rule in rules().iter().chain([&everything]) {
        for (sizes, seed) in [((8, 4), 1), ((4, 12), 3), ((5, 7), 5), ((17, 9), 7)] {
            check(rule, sizes, seed);
        }
    }
}

#[test]
fn gradients_hold_where_a_rule_is_cut() {
    for rule in rules() {
        let names = ["lam", "u", "d"];
        let cuts = names.into_iter().filter_map(|name| rule.cut(&[name]).ok());
        cuts.for_each(|cut| check(&cut, (8, 4), 9));
    }
}

/// f32 agrees with f64 to rounding, also where a sigmoid saturates.
#[test]
fn single_precision_follows_double() {
    let text = "rule \"saturated\"\np = parameter(head)\nstep key sigmoid(p * k), write sigmoid(-p) * v";
    let rule = Rule::parse("saturated", text).unwrap();
    let (inputs, layout) = (rule.input_layout(4, 4), rule.step_layout(4, 4));
    for p in [-100.0f32, -60.0, 0.0, 60.0, 100.0, 1e4] {
        let program = rule.program(4, 4);
        let (token, weights) = (vec![1.0f32; inputs.stride], vec![1.0f32; layout.stride]);
        let (mut d_token, mut d_heads) = (vec![0.0; inputs.stride], vec![0.0; inputs.head_stride]);
        program.backward(&token, &[&[p]], &weights, &mut d_token, &mut d_heads, &mut program.scratch());
        let mut steps = vec![0.0; layout.stride];
        program.forward(&token, &[&[p]], &mut steps, &mut program.scratch());
        let exact = 1.0 / (1.0 + (-f64::from(p)).exp());
        let key = f64::from(steps[layout.steps[0].key]);
        assert!((key - exact).abs() < 1e-7, "{p}: {key}");
        assert!(d_token.iter().chain(&d_heads).all(|x| x.is_finite()), "{p}");
    }
}
