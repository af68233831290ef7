//! Every operation's gradient against central differences, in double precision, through plans.
//!
//! Each case is recorded once (gradients are set, over garbage) and twice on the same operands (the second adds).

use palimpsest_cpu::CpuSession;
use palimpsest_plan::{
    AdamW, Attention, ConvPart, CrossEntropy, Decay, DecayForm, Embed, GatePart, GatedNorm, Gates, Gather, Init, Linear, Op, PlanBuilder,
    RmsNorm, Role, RuleMap, Scan, ScanForm, ScanShape, Session, ShortConv, SwiGlu, TensorId, Unit, View,
};
use palimpsest_rules::{Scope, rules};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const GARBAGE: f64 = 1e3;

/// Operands to differentiate, outputs to give gradients, and what the `u32` tensors hold.
struct Case {
    b: PlanBuilder,
    operands: Vec<TensorId>,
    outputs: Vec<TensorId>,
    batch: Vec<(TensorId, Vec<u32>)>,
    rng: Pcg64,
}

impl Case {
    fn new(seed: u64) -> Case {
        let (operands, outputs, batch) = (Vec::new(), Vec::new(), Vec::new());
        Case { b: PlanBuilder::new(), operands, outputs, batch, rng: Pcg64::seed_from_u64(seed) }
    }

    fn input(&mut self, shape: &[usize]) -> TensorId {
        let id = self.b.activation(format!("input{}", self.operands.len()), shape);
        self.operands.push(id);
        id
    }

    fn parameter(&mut self, shape: &[usize]) -> TensorId {
        let id = self.b.parameter(format!("parameter{}", self.operands.len()), shape, Init::Constant(0.0));
        self.operands.push(id);
        id
    }

    fn output(&mut self, shape: &[usize]) -> TensorId {
        let id = self.b.activation(format!("output{}", self.outputs.len()), shape);
        self.outputs.push(id);
        id
    }

    fn integers(&mut self, values: Vec<u32>) -> TensorId {
        let id = self.b.tensor("integers", &[values.len()], Role::Batch);
        self.batch.push((id, values));
        id
    }

    fn view(&self, tensor: TensorId, offset: usize, width: usize) -> View {
        self.b.columns(tensor, offset, width)
    }

    /// Compares every gradient with `(L(x + h) - L(x - h)) / 2 h`, `L = sum of output * given gradient`.
    /// Only a loss has no given gradient: its own is 1.
    fn check(self, name: &str, is_loss: bool) {
        let Case { b, operands, outputs, batch, mut rng } = self;
        let mut session = CpuSession::<f64>::new(b.finish(AdamW::default()).expect(name)).expect(name);
        for &id in &operands {
            session.values_mut(id).expect(name).iter_mut().for_each(|x| *x = 2.0 * rng.random::<f64>() - 1.0);
        }
        let mut given: Vec<Vec<f64>> = Vec::new();
        for &id in &outputs {
            let len = session.values(id).expect(name).len();
            given.push((0..len).map(|_| if is_loss { 1.0 } else { 2.0 * rng.random::<f64>() - 1.0 }).collect());
        }
        let objective = |session: &CpuSession<f64>| -> f64 {
            let product =
                |(&id, g): (&TensorId, &Vec<f64>)| -> f64 { session.values(id).expect(name).iter().zip(g).map(|(y, g)| y * g).sum() };
            outputs.iter().zip(&given).map(product).sum()
        };
        session.forward(&batch).expect(name);
        for &id in &operands {
            session.gradients_mut(id).expect(name).fill(GARBAGE);
        }
        for (&id, g) in outputs.iter().zip(&given) {
            session.gradients_mut(id).expect(name).copy_from_slice(g);
        }
        session.backward().expect(name);
        let mut compared = 0;
        for (which, &id) in operands.iter().enumerate() {
            let gradient = session.gradients(id).expect(name).to_vec();
            for (i, &found) in gradient.iter().enumerate() {
                let h = 1e-5;
                let mut at = |step: f64| {
                    session.values_mut(id).expect(name)[i] += step;
                    session.run_forward();
                    let l = objective(&session);
                    session.values_mut(id).expect(name)[i] -= step;
                    l
                };
                let expected = (at(h) - at(-h)) / (2.0 * h);
                // Columns that no operation reads keep what was there.
                if expected == 0.0 && found == GARBAGE {
                    continue;
                }
                compared += 1;
                let error = (found - expected).abs() / expected.abs().max(1.0);
                assert!(error < 1e-7, "{name}: operand {which} element {i}: {found} but differences give {expected}");
            }
        }
        assert!(compared > 0, "{name}: nothing compared");
    }
}

/// Records the operation once, then twice. `prepare` makes the operands, `push` one operation with its own outputs.
fn check<T>(name: &str, prepare: impl Fn(&mut Case) -> T, push: impl Fn(&mut Case, &T)) {
    for copies in [1, 2] {
        let mut case = Case::new(copies);
        let operands = prepare(&mut case);
        (0..copies).for_each(|_| push(&mut case, &operands));
        case.check(&format!("{name} x{copies}"), false);
    }
}

#[test]
fn embed() {
    let prepare = |c: &mut Case| (c.integers(vec![2, 0, 2, 4, 1]), c.parameter(&[5, 3]));
    check("embed", prepare, |c, &(tokens, table)| {
        let y = c.output(&[5, 3]);
        c.b.push(Op::Embed(Embed { tokens, table, y }));
    });
}

#[test]
fn gather() {
    let prepare = |c: &mut Case| (c.integers(vec![4, 1, 2]), c.input(&[6, 3]));
    check("gather", prepare, |c, &(rows, x)| {
        let y = c.output(&[3, 3]);
        c.b.push(Op::Gather(Gather { x, rows, y }));
    });
}

#[test]
fn rms_norm() {
    for d in [1, 7, 16] {
        let prepare = |c: &mut Case| (c.input(&[3, d]), c.parameter(&[d]));
        check("rms_norm", prepare, |c, &(x, weight)| {
            let y = c.output(&[3, d]);
            c.b.push(Op::RmsNorm(RmsNorm { x, weight, y }));
        });
    }
}

#[test]
fn linear() {
    for (blocks, has_bias) in [(1, false), (1, true), (3, true)] {
        // Columns 2..8 of rows of 9; 9 outputs.
        let prepare = |c: &mut Case| (c.input(&[5, 9]), c.parameter(&[9, 6 / blocks]), has_bias.then(|| c.parameter(&[9])));
        check("linear", prepare, |c, &(x, weight, bias)| {
            let y = c.output(&[5, 9]);
            let x = c.view(x, 2, 6);
            c.b.push(Op::Linear(Linear { x, weight, bias, residual: None, blocks, y }));
        });
    }
}

#[test]
fn linear_with_residual() {
    for has_bias in [false, true] {
        let mut c = Case::new(7);
        let (x, weight) = (c.input(&[5, 4]), c.parameter(&[3, 4]));
        let bias = has_bias.then(|| c.parameter(&[3]));
        let residual = c.input(&[5, 3]);
        let (x, y) = (c.view(x, 0, 4), c.output(&[5, 3]));
        c.b.push(Op::Linear(Linear { x, weight, bias, residual: Some(residual), blocks: 1, y }));
        c.check("linear with residual", false);
    }
}

#[test]
fn short_conv() {
    let (heads, time) = (2, 5);
    let parts = vec![
        ConvPart { width: 3, slot: 0, unit: true },
        ConvPart { width: 3, slot: 8, unit: true },
        ConvPart { width: 2, slot: 4, unit: false },
    ];
    for taps in [None, Some(1), Some(4), Some(7)] {
        let prepare = |c: &mut Case| (c.input(&[2 * time, 17]), taps.map(|width| c.parameter(&[16, width])));
        check("short_conv", prepare, |c, &(x, taps)| {
            let y = c.output(&[2 * time, heads, 12]);
            let x = c.view(x, 1, 16);
            c.b.push(Op::ShortConv(ShortConv { x, taps, parts: parts.clone(), heads, time, y }));
        });
    }
}

#[test]
fn gates() {
    let parts = vec![GatePart { width: 1, slot: 4 }, GatePart { width: 3, slot: 0 }];
    let prepare = |c: &mut Case| (c.input(&[4, 10]), c.parameter(&[8]));
    check("gates", prepare, |c, &(x, bias)| {
        let y = c.output(&[4, 2, 8]);
        let x = c.view(x, 2, 8);
        c.b.push(Op::Gates(Gates { x, bias, parts: parts.clone(), heads: 2, y }));
    });
}

#[test]
fn decay() {
    for form in [DecayForm::Exponential, DecayForm::Safe] {
        for width in [1, 5] {
            let prepare = |c: &mut Case| (c.input(&[3, 2 * width + 1]), c.parameter(&[2]), c.parameter(&[2 * width]));
            check("decay", prepare, |c, &(x, log_rate, bias)| {
                let y = c.output(&[3, 2, 8]);
                let x = c.view(x, 1, 2 * width);
                c.b.push(Op::Decay(Decay { x, log_rate, bias, form, width, slot: 2, heads: 2, y }));
            });
        }
    }
}

#[test]
fn unit() {
    let prepare = |c: &mut Case| c.input(&[3, 11]);
    check("unit", prepare, |c, &x| {
        let y = c.output(&[3, 2, 8]);
        let x = c.view(x, 1, 10);
        c.b.push(Op::Unit(Unit { x, width: 5, slot: 2, heads: 2, y }));
    });
}

#[test]
fn attention() {
    for (time, key, value) in [(1, 4, 4), (7, 3, 5), (9, 8, 4)] {
        let shape = ScanShape { batch: 2, time, heads: 2, key, value };
        let prepare = |c: &mut Case| c.input(&[2 * time * 2, 2 * key + value]);
        check("attention", prepare, |c, &x| {
            let o = c.output(&[2 * time * 2, value]);
            c.b.push(Op::Attention(Attention { shape, x, o }));
        });
    }
}

#[test]
fn gated_norm() {
    for gated in [false, true] {
        let prepare = |c: &mut Case| (c.input(&[3, 10]), c.parameter(&[5]), gated.then(|| c.input(&[3, 12])));
        check("gated_norm", prepare, |c, &(o, weight, gate)| {
            let y = c.output(&[3, 10]);
            let gate = gate.map(|gate| c.view(gate, 1, 10));
            c.b.push(Op::GatedNorm(GatedNorm { o, weight, gate, heads: 2, y }));
        });
    }
}

#[test]
fn swiglu() {
    let prepare = |c: &mut Case| c.input(&[3, 14]);
    check("swiglu", prepare, |c, &x| {
        let y = c.output(&[3, 7]);
        c.b.push(Op::SwiGlu(SwiGlu { x, y }));
    });
}

#[test]
fn cross_entropy() {
    for copies in [1, 2] {
        let mut c = Case::new(copies);
        let (logits, targets) = (c.input(&[3, 7]), c.integers(vec![6, 0, 3]));
        for _ in 0..copies {
            let (loss, answers) = (c.output(&[1]), c.b.tensor("answers", &[3], Role::Answer));
            c.b.push(Op::CrossEntropy(CrossEntropy { logits, targets, loss, answers }));
        }
        c.check(&format!("cross_entropy x{copies}"), true);
    }
}

#[test]
fn rule_map() {
    let shape = ScanShape { batch: 2, time: 3, heads: 2, key: 8, value: 4 };
    for rule in rules() {
        let (inputs_layout, layout) = (rule.input_layout(shape.key, shape.value), rule.step_layout(shape.key, shape.value));
        let prepare = |c: &mut Case| {
            let inputs = c.input(&[6, shape.heads, inputs_layout.stride]);
            let per_head = rule.inputs().iter().filter(|input| input.scope == Scope::Head);
            (inputs, per_head.map(|input| c.parameter(&[shape.heads, input.kind.width(shape.key, shape.value)])).collect::<Vec<_>>())
        };
        check(rule.slug(), prepare, |c, (inputs, heads)| {
            let steps = c.output(&[6, shape.heads, layout.stride]);
            c.b.push(Op::RuleMap(RuleMap { rule: rule.clone(), shape, inputs: *inputs, heads: heads.clone(), steps }));
        });
    }
}

#[test]
fn scan() {
    let shape = ScanShape { batch: 2, time: 7, heads: 2, key: 8, value: 4 };
    for rule in rules() {
        let layout = rule.step_layout(shape.key, shape.value);
        for form in [ScanForm::Recurrent, ScanForm::Chunked(4)] {
            for (has_initial, has_last) in [(false, false), (true, true)] {
                let mut c = Case::new(3);
                let steps = c.input(&[14, shape.heads, layout.stride]);
                let initial = has_initial.then(|| c.input(&[4, shape.key, shape.value]));
                let o = c.output(&[14, shape.heads, shape.value]);
                let last = has_last.then(|| c.output(&[4, shape.key, shape.value]));
                c.b.push(Op::Scan(Scan { layout: layout.clone(), shape, form, steps, initial, o, last }));
                c.check(&format!("scan of {} {form:?}", rule.slug()), false);
            }
        }
    }
}
