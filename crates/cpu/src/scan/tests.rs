//! The recurrent form against plain loops, the chunked form against the recurrent one, and both against finite differences.

use super::trace::trace;
use super::*;
use palimpsest_plan::{Moment, ScanShape, TensorId};
use palimpsest_rules::{Kind, StepLayout, StepParts};

/// Steps as `(decay, erase, write)`: every combination of parts that changes a code path.
const LAYOUTS: [&[(Option<Kind>, bool, bool)]; 6] = [
    &[(None, false, true)],
    &[(None, true, true)],
    &[(Some(Kind::Scalar), true, true)],
    &[(Some(Kind::Key), true, true)],
    &[(Some(Kind::Key), true, false), (None, true, true)],
    &[(Some(Kind::Scalar), false, true), (Some(Kind::Key), true, true), (None, false, true)],
];

/// `(B, T, H, K, V)`, none of them round.
const SHAPES: [[usize; 5]; 5] = [[1, 1, 1, 4, 4], [2, 17, 3, 8, 4], [1, 37, 2, 4, 12], [1, 19, 1, 20, 28], [2, 5, 1, 12, 8]];

fn layout(parts: &[(Option<Kind>, bool, bool)], key: usize, value: usize) -> StepLayout {
    let parts: Vec<StepParts> = parts.iter().map(|&(decay, erase, write)| StepParts { decay, erase, write }).collect();
    StepLayout::new(&parts, key, value)
}

fn scan(form: ScanForm, parts: &[(Option<Kind>, bool, bool)], [batch, time, heads, key, value]: [usize; 5]) -> Scan {
    let shape = ScanShape { batch, time, heads, key, value };
    let id = TensorId(0);
    Scan { layout: layout(parts, key, value), shape, form, steps: id, initial: Some(id), o: id, last: Some(id) }
}

/// Numbers in -1..1 that look random.
fn noise(seed: usize, len: usize) -> Vec<f64> {
    (0..len).map(|i| ((i as f64 * 12.9898 + seed as f64 * 78.233).sin() * 43_758.545_3).fract()).collect()
}

/// Everything that goes in.
struct Data<F> {
    steps: Vec<F>,
    initial: Vec<F>,
    d_o: Vec<F>,
    d_last: Vec<F>,
}

/// Everything that comes out.
#[derive(Clone)]
struct Results<F> {
    o: Vec<F>,
    last: Vec<F>,
    d_steps: Vec<F>,
    d_initial: Vec<F>,
}

/// Vectors of length about one; log-decays are noise times `strength`, one in five exactly 0.
fn data(op: &Scan, strength: f64) -> Data<f64> {
    let ScanShape { batch, time, heads, key, value } = op.shape;
    let rows = batch * time * heads;
    let mut steps = noise(1, rows * op.layout.stride);
    for (n, row) in steps.chunks_mut(op.layout.stride).enumerate() {
        row.iter_mut().for_each(|x| *x *= 1.5 / (key as f64).sqrt());
        for slots in &op.layout.steps {
            let Some((at, kind)) = slots.decay else { continue };
            let width = if kind == Kind::Scalar { 1 } else { key };
            for (j, g) in row[at..][..width].iter_mut().enumerate() {
                *g = if (n + j).is_multiple_of(5) { 0.0 } else { -strength * g.abs() };
            }
        }
    }
    let states = batch * heads * key * value;
    Data { steps, initial: noise(2, states), d_o: noise(3, rows * value), d_last: noise(4, states) }
}

fn cast<F: Real>(x: &[f64]) -> Vec<F> {
    x.iter().map(|&x| F::of(x)).collect()
}

fn run<F: Real>(op: &Scan, data: &Data<f64>) -> Results<F> {
    let data = Data { steps: cast::<F>(&data.steps), initial: cast(&data.initial), d_o: cast(&data.d_o), d_last: cast(&data.d_last) };
    // What must be set starts as NaN, so that a value left over would show.
    let poison = |len: usize| vec![F::nan(); len];
    let mut scratch = Scratch { floats: poison(1 << 16) };
    let mut checkpoints = poison(checkpoint_len(op));
    let (mut o, mut last) = (poison(data.d_o.len()), poison(data.d_last.len()));
    let io =
        Forward { steps: &data.steps, initial: Some(&data.initial), o: &mut o, last: Some(&mut last), checkpoints: Some(&mut checkpoints) };
    forward(op, io, &mut scratch);
    let (mut d_steps, mut d_initial) = (poison(data.steps.len()), poison(data.initial.len()));
    let io = Backward {
        steps: &data.steps,
        checkpoints: &checkpoints,
        d_o: &data.d_o,
        d_last: Some(&data.d_last),
        d_steps: &mut d_steps,
        d_initial: Some(Initial { data: &mut d_initial, adds: false }),
    };
    backward(op, io, &mut scratch);
    Results { o, last, d_steps, d_initial }
}

/// `||x - y|| / ||y||`, the largest over the four results.
fn distance<F: Real, G: Real>(x: &Results<F>, y: &Results<G>) -> f64 {
    let one = |x: &[F], y: &[G]| {
        let (mut error, mut norm) = (0.0, 0.0);
        for (x, y) in x.iter().zip(y) {
            error += (x.double() - y.double()).powi(2);
            norm += y.double().powi(2);
        }
        (error / norm).sqrt()
    };
    let all = [one(&x.o, &y.o), one(&x.last, &y.last), one(&x.d_steps, &y.d_steps), one(&x.d_initial, &y.d_initial)];
    if all.iter().any(|x| x.is_nan()) { f64::NAN } else { all.into_iter().fold(0.0, f64::max) }
}

#[test]
fn recurrent_matches_plain_loops() {
    for parts in LAYOUTS {
        for sizes in SHAPES {
            let op = scan(ScanForm::Recurrent, parts, sizes);
            let data = data(&op, 2.0);
            let results = run::<f64>(&op, &data);
            let [batch, time, heads, key, value] = sizes;
            for b in 0..batch {
                for h in 0..heads {
                    let state_at = (b * heads + h) * key * value;
                    let mut state = data.initial[state_at..][..key * value].to_vec();
                    for t in 0..time {
                        let n = (b * time + t) * heads + h;
                        let row = &data.steps[n * op.layout.stride..][..op.layout.stride];
                        for slots in &op.layout.steps {
                            for i in 0..key {
                                let g = slots.decay.map_or(0.0, |(at, kind)| row[if kind == Kind::Scalar { at } else { at + i }]);
                                (0..value).for_each(|j| state[i * value + j] *= g.exp());
                            }
                            let r = |j: usize| {
                                let held: f64 = slots.erase.map_or(0.0, |at| (0..key).map(|i| row[at + i] * state[i * value + j]).sum());
                                slots.write.map_or(0.0, |at| row[at + j]) - held
                            };
                            let r: Vec<f64> = (0..value).map(r).collect();
                            for i in 0..key {
                                (0..value).for_each(|j| state[i * value + j] += row[slots.key + i] * r[j]);
                            }
                        }
                        for j in 0..value {
                            let o: f64 = (0..key).map(|i| row[op.layout.query + i] * state[i * value + j]).sum();
                            assert!((o - results.o[n * value + j]).abs() < 1e-12, "{parts:?} {sizes:?}");
                        }
                    }
                    let last = &results.last[state_at..][..key * value];
                    assert!(state.iter().zip(last).all(|(x, y)| (x - y).abs() < 1e-12));
                }
            }
        }
    }
}

#[test]
fn chunked_matches_recurrent() {
    for parts in LAYOUTS {
        for sizes in SHAPES {
            for strength in [0.1, 60.0] {
                let recurrent = scan(ScanForm::Recurrent, parts, sizes);
                let data = data(&recurrent, strength);
                let truth = run::<f64>(&recurrent, &data);
                let single = distance(&run::<f32>(&recurrent, &data), &truth);
                assert!(single < 5e-6, "{parts:?} {sizes:?} decay {strength}: recurrent f32 {single:e}");
                for tokens in [1, 3, 8, 16, 1000] {
                    let chunked = scan(ScanForm::Chunked(tokens), parts, sizes);
                    let double = distance(&run::<f64>(&chunked, &data), &truth);
                    assert!(double < 1e-12, "{parts:?} {sizes:?} decay {strength} chunk {tokens}: f64 {double:e}");
                    let single = distance(&run::<f32>(&chunked, &data), &truth);
                    assert!(single < 5e-6, "{parts:?} {sizes:?} decay {strength} chunk {tokens}: f32 {single:e}");
                }
            }
        }
    }
}

#[test]
fn gradients_match_finite_differences() {
    let sizes = [1, 6, 2, 4, 8];
    for form in [ScanForm::Recurrent, ScanForm::Chunked(4)] {
        for parts in LAYOUTS {
            let op = scan(form, parts, sizes);
            let data = data(&op, 1.0);
            let loss = |data: &Data<f64>| -> f64 {
                let results = run::<f64>(&op, data);
                let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
                dot(&results.o, &data.d_o) + dot(&results.last, &data.d_last)
            };
            let results = run::<f64>(&op, &data);
            let mut moved =
                Data { steps: data.steps.clone(), initial: data.initial.clone(), d_o: data.d_o.clone(), d_last: data.d_last.clone() };
            let h = 1e-5;
            let mut check = |pick: fn(&mut Data<f64>) -> &mut Vec<f64>, gradients: &[f64], what: &str| {
                for (i, gradient) in gradients.iter().enumerate() {
                    let x = pick(&mut moved)[i];
                    pick(&mut moved)[i] = x + h;
                    let above = loss(&moved);
                    pick(&mut moved)[i] = x - h;
                    let below = loss(&moved);
                    pick(&mut moved)[i] = x;
                    let difference = (above - below) / (2.0 * h);
                    assert!(
                        (gradient - difference).abs() < 1e-8 * (1.0 + difference.abs()),
                        "{form:?} {parts:?} {what}[{i}]: {gradient} against {difference}"
                    );
                }
            };
            check(|data| &mut data.steps, &results.d_steps, "steps");
            check(|data| &mut data.initial, &results.d_initial, "initial");
        }
    }
}

#[test]
fn absent_operands_are_zeros() {
    for form in [ScanForm::Recurrent, ScanForm::Chunked(4)] {
        let op = scan(form, LAYOUTS[3], [2, 11, 1, 8, 4]);
        let mut data = data(&op, 1.0);
        data.initial.fill(0.0);
        data.d_last.fill(0.0);
        let truth = run::<f64>(&op, &data);
        let mut scratch = Scratch::default();
        let mut checkpoints = vec![f64::NAN; checkpoint_len(&op)];
        let mut o = vec![f64::NAN; data.d_o.len()];
        let io = Forward { steps: &data.steps, initial: None, o: &mut o, last: None, checkpoints: Some(&mut checkpoints) };
        forward(&op, io, &mut scratch);
        assert_eq!(o, truth.o);
        let (mut d_steps, mut d_initial) = (vec![f64::NAN; data.steps.len()], vec![1.0; data.initial.len()]);
        let d_initial_sink = Some(Initial { data: &mut d_initial, adds: true });
        let io = Backward {
            steps: &data.steps,
            checkpoints: &checkpoints,
            d_o: &data.d_o,
            d_last: None,
            d_steps: &mut d_steps,
            d_initial: d_initial_sink,
        };
        backward(&op, io, &mut scratch);
        assert_eq!(d_steps, truth.d_steps);
        assert!(d_initial.iter().zip(&truth.d_initial).all(|(sum, &x)| *sum == 1.0 + x));
    }
}

#[test]
fn trace_follows_the_scan() {
    let op = scan(ScanForm::Recurrent, LAYOUTS[4], [2, 9, 2, 8, 4]);
    let data = data(&op, 1.0);
    let results = run::<f64>(&op, &data);
    let sequence = 3; // batch 1, head 1
    let trace = trace(&op.layout, op.shape, &data.steps, Some(&data.initial), sequence, 4..100, &mut Scratch::default());
    assert_eq!((trace.first, trace.tokens, trace.steps), (4, 5, 2));
    let close = |x: &[f32], y: &[f64]| x.len() == y.len() && x.iter().zip(y).all(|(&x, &y)| (f64::from(x) - y).abs() < 1e-6);
    assert!(close(trace.state(4, 1, Moment::Write).unwrap(), &results.last[sequence * 32..][..32]));
    for token in 0..5 {
        let n = (9 + 4 + token) * 2 + 1; // [B, T, H] row of batch 1, head 1
        assert!(close(&trace.reads[token * 4..][..4], &results.o[n * 4..][..4]));
        let row = &data.steps[n * op.layout.stride..][..op.layout.stride];
        for (step, slots) in op.layout.steps.iter().enumerate() {
            let [decayed, erased, written] = Moment::ALL.map(|moment| trace.state(token, step, moment).unwrap());
            let (key, erase) = (&row[slots.key..][..8], &row[slots.erase.unwrap()..][..8]);
            for j in 0..4 {
                let held: f64 = (0..8).map(|i| erase[i] * f64::from(decayed[i * 4 + j])).sum();
                for i in 0..8 {
                    let after = f64::from(decayed[i * 4 + j]) - key[i] * held;
                    let near = |x: f32, y: f64| (f64::from(x) - y).abs() < 1e-5 * (1.0 + y.abs());
                    assert!(near(erased[i * 4 + j], after));
                    let write = slots.write.map_or(0.0, |at| key[i] * row[at + j]);
                    assert!(near(written[i * 4 + j], after + write));
                }
            }
        }
    }
}
