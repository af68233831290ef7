//! Single precision against double precision over sizes that no golden file has, for every rule and both forms.

use palimpsest_cpu::CpuSession;
use palimpsest_golden::{Array, Computed, Dims, File, Golden, Report, Tolerance, Verification};
use palimpsest_plan::{AdapterKind, ScanForm};
use palimpsest_rules::{Input, Kind, Rule, Scope, Source, rules};
use std::collections::BTreeMap;

/// `(B, T, H, K, V)`.
const SIZES: [[usize; 5]; 7] = [
    [1, 1, 1, 4, 4],
    [3, 2, 1, 4, 128],
    [1, 16, 5, 12, 4],
    [2, 17, 1, 128, 8],
    [1, 129, 3, 8, 20],
    [1, 300, 1, 36, 64],
    [5, 33, 2, 16, 16],
];

/// Numbers near the standard normal distribution, the same every time.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn vector(&mut self, len: usize, scale: f64) -> Vec<f64> {
        (0..len).map(|_| scale * self.normal()).collect()
    }

    /// What a layer would feed to this input, for `rows` tokens or heads.
    fn input(&mut self, input: &Input, rows: usize, width: usize) -> Vec<f64> {
        let mut values = self.vector(rows * width, 1.0);
        match input.source {
            Source::Query | Source::Key | Source::Direction { .. } | Source::Fixed => {
                for row in values.chunks_mut(width) {
                    let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                    row.iter_mut().for_each(|x| *x /= norm);
                }
            }
            // From no decay at all to exp(-60).
            Source::Decay => values.iter_mut().for_each(|x| *x = -(*x * 2.0).exp().min(60.0) * f64::from(u8::from(*x > -1.5))),
            Source::Gate { .. } => values.iter_mut().for_each(|x| *x = 1.0 / (1.0 + (-*x).exp())),
            Source::Cut => values.iter_mut().for_each(|x| *x = 0.25 / (1.0 + (-*x).exp())),
            Source::Value | Source::Parameter { .. } => {}
        }
        // Both precisions must see the same numbers.
        values.iter_mut().for_each(|x| *x = f64::from(*x as f32));
        values
    }
}

/// The rule as golden files use it: parameters are replaced by what is computed from them.
fn cut(rule: &Rule) -> Rule {
    if rule.inputs().iter().any(|input| matches!(input.source, Source::Parameter { .. })) {
        rule.cut(&["lam"]).unwrap()
    } else {
        rule.clone()
    }
}

/// A golden file with no truth yet.
fn blank(rule: &Rule, [batch, time, heads, key, value]: [usize; 5], noise: &mut Noise) -> File<f64> {
    let array = |shape: &[usize], data: Vec<f64>| Array { shape: shape.to_vec(), data };
    let (state, read) = ([batch, heads, key, value], [batch, time, heads, value]);
    let len = |shape: &[usize]| shape.iter().product::<usize>();
    let mut inputs: BTreeMap<String, Array<f64>> = BTreeMap::new();
    let mut input_grads = BTreeMap::new();
    for input in rule.inputs() {
        let mut shape = if input.scope == Scope::Token { vec![batch, time, heads] } else { vec![heads] };
        let (rows, width) = (len(&shape), input.kind.width(key, value));
        if input.kind != Kind::Scalar {
            shape.push(width);
        }
        if input.source != Source::Fixed {
            input_grads.insert(input.name.clone(), array(&shape, vec![0.0; rows * width]));
        }
        inputs.insert(input.name.clone(), array(&shape, noise.input(input, rows, width)));
    }
    let mut single = |shape: &[usize]| array(shape, noise.vector(len(shape), 0.5).iter().map(|&x| f64::from(x as f32)).collect());
    inputs.insert("S0".into(), single(&state));
    input_grads.insert("S0".into(), array(&state, vec![0.0; len(&state)]));
    let output_grads = BTreeMap::from([("o".into(), single(&read)), ("S".into(), single(&state))]);
    let outputs = BTreeMap::from([("o".into(), array(&read, vec![0.0; len(&read)])), ("S".into(), array(&state, vec![0.0; len(&state)]))]);
    let dims = Dims { batch, time, heads, key, value };
    File { rule: rule.slug().to_owned(), regime: "sizes".to_owned(), dims, inputs, output_grads, outputs, input_grads }
}

fn fill(file: &mut File<f64>, computed: &[Computed]) {
    for found in computed {
        let section = match found.kind {
            palimpsest_golden::ArrayKind::Output => &mut file.outputs,
            palimpsest_golden::ArrayKind::Gradient => &mut file.input_grads,
        };
        section.get_mut(&found.array).unwrap().data = found.values.iter().map(|&x| f64::from(x)).collect();
    }
}

#[test]
fn single_precision_is_close_to_double_at_every_size() {
    let mut noise = Noise(7);
    let mut worst: (f64, String) = (0.0, String::new());
    for rule in rules().iter().map(cut) {
        for sizes in SIZES {
            let mut file = blank(&rule, sizes, &mut noise);
            let golden = Golden::try_from(file.clone()).unwrap();
            let verification = Verification::new(&golden, ScanForm::Recurrent).unwrap();
            let mut double = CpuSession::<f64>::new(verification.plan().clone()).unwrap();
            fill(&mut file, &pollster::block_on(verification.run(&mut double)).unwrap());
            let golden = Golden::try_from(file).unwrap();
            for form in [ScanForm::Recurrent, ScanForm::Chunked(16), ScanForm::Chunked(5)] {
                let verification = Verification::new(&golden, form).unwrap();
                let mut session = CpuSession::<f32>::new(verification.plan().clone()).unwrap();
                let computed = pollster::block_on(verification.run(&mut session)).unwrap();
                let report = Report::new(&golden, &computed, Tolerance::of(AdapterKind::Cpu, form));
                assert!(
                    report.passed(),
                    "{} {sizes:?} {form:?}: {:?}",
                    rule.slug(),
                    report.rows.iter().filter(|row| !row.passed).collect::<Vec<_>>()
                );
                for row in report.rows {
                    let share = row.error / row.tolerance;
                    if share > worst.0 {
                        worst = (share, format!("{} {sizes:?} {form:?} {} {:e}", rule.slug(), row.array, row.error));
                    }
                }
            }
        }
    }
    println!("closest to its tolerance: {} of it, {}", worst.0, worst.1);
}
