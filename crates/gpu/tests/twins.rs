//! Every operation and its gradient on the GPU against the CPU, over sizes that are not multiples of anything.

mod twin;

use palimpsest_plan::{
    Attention, ConvPart, CrossEntropy, Decay, DecayForm, Embed, GatePart, GatedNorm, Gates, Gather, Linear, Op, RmsNorm, RuleMap,
    ScanShape, ShortConv, SwiGlu, Unit,
};
use palimpsest_rules::{Scope, rules};
use twin::{Case, TOLERANCE, check, device, push};

#[test]
fn embed() {
    for (tokens, vocab, width) in [(5, 5, 3), (130, 9, 70), (5000, 64, 16), (300, 700, 4)] {
        let prepare = |c: &mut Case| (c.random_integers(tokens, vocab), c.parameter("table", &[vocab as usize, width]));
        check(&format!("embed {tokens} {vocab} {width}"), prepare, |c, &(ids, table)| {
            let y = c.output(&[tokens, width]);
            push(c, Op::Embed(Embed { tokens: ids, table, y }));
        });
    }
}

#[test]
fn gather() {
    let prepare = |c: &mut Case| (c.integers(vec![4, 1, 2, 399]), c.input(&[400, 13]));
    check("gather", prepare, |c, &(rows, x)| {
        let y = c.output(&[4, 13]);
        push(c, Op::Gather(Gather { x, rows, y }));
    });
}

#[test]
fn rms_norm() {
    for (rows, width) in [(3, 1), (37, 7), (700, 64), (5, 300), (2, 1500)] {
        let prepare = |c: &mut Case| (c.input(&[rows, width]), c.parameter("weight", &[width]));
        check(&format!("rms_norm {rows} {width}"), prepare, |c, &(x, weight)| {
            let y = c.output(&[rows, width]);
            push(c, Op::RmsNorm(RmsNorm { x, weight, y }));
        });
    }
}

#[test]
fn linear() {
    for (rows, inputs, outputs, blocks, has_bias) in
        [(5, 6, 9, 1, false), (130, 6, 9, 3, true), (65, 64, 64, 1, true), (301, 33, 130, 1, true), (1030, 70, 2, 2, false)]
    {
        // Columns 2.. of rows that are 3 longer.
        let prepare = |c: &mut Case| {
            let bias = has_bias.then(|| c.parameter("bias", &[outputs]));
            (c.input(&[rows, inputs + 3]), c.parameter("weight", &[outputs, inputs / blocks]), bias)
        };
        check(&format!("linear {rows} {inputs} {outputs} {blocks}"), prepare, |c, &(x, weight, bias)| {
            let y = c.output(&[rows, outputs]);
            let x = c.view(x, 2, inputs);
            push(c, Op::Linear(Linear { x, weight, bias, residual: None, blocks, y }));
        });
    }
}

#[test]
fn linear_with_aligned_sizes() {
    for (rows, inputs, outputs) in [(64, 16, 64), (256, 64, 128), (2000, 128, 64)] {
        let prepare = |c: &mut Case| (c.input(&[rows, inputs]), c.parameter("weight", &[outputs, inputs]), c.parameter("bias", &[outputs]));
        check(&format!("linear {rows} {inputs} {outputs}"), prepare, |c, &(x, weight, bias)| {
            let y = c.output(&[rows, outputs]);
            let x = c.view(x, 0, inputs);
            push(c, Op::Linear(Linear { x, weight, bias: Some(bias), residual: None, blocks: 1, y }));
        });
    }
}

#[test]
fn linear_with_residual() {
    for has_bias in [false, true] {
        let mut c = Case::new();
        let (x, weight) = (c.input(&[70, 4]), c.parameter("weight", &[67, 4]));
        let bias = has_bias.then(|| c.parameter("bias", &[67]));
        let residual = c.input(&[70, 67]);
        let (x, y) = (c.view(x, 0, 4), c.output(&[70, 67]));
        push(&mut c, Op::Linear(Linear { x, weight, bias, residual: Some(residual), blocks: 1, y }));
        c.check(&device(), "linear with residual", TOLERANCE);
    }
}

#[test]
fn short_conv() {
    let (heads, time) = (3, 35);
    let parts = vec![
        ConvPart { width: 3, slot: 0, unit: true },
        ConvPart { width: 3, slot: 8, unit: true },
        ConvPart { width: 18, slot: 12, unit: false },
    ];
    for taps in [None, Some(1), Some(4), Some(7)] {
        let prepare = |c: &mut Case| (c.input(&[2 * time, 74]), taps.map(|width| c.parameter("taps", &[72, width])));
        check(&format!("short_conv {taps:?}"), prepare, |c, &(x, taps)| {
            let y = c.output(&[2 * time, heads, 32]);
            let x = c.view(x, 1, 72);
            push(c, Op::ShortConv(ShortConv { x, taps, parts: parts.clone(), heads, time, y }));
        });
    }
}

#[test]
fn gates() {
    let parts = vec![GatePart { width: 1, slot: 4 }, GatePart { width: 3, slot: 0 }];
    for rows in [4, 1300] {
        let prepare = |c: &mut Case| (c.input(&[rows, 10]), c.parameter("bias", &[8]));
        check("gates", prepare, |c, &(x, bias)| {
            let y = c.output(&[rows, 2, 8]);
            let x = c.view(x, 2, 8);
            push(c, Op::Gates(Gates { x, bias, parts: parts.clone(), heads: 2, y }));
        });
    }
}

#[test]
fn decay() {
    for form in [DecayForm::Exponential, DecayForm::Safe] {
        for (width, spread) in [(1, 1.0), (5, 1.0), (32, 1.0), (5, 60.0)] {
            let mut c = Case::new().spread(spread);
            let (x, bias) = (c.input(&[1100, 2 * width + 1]), c.parameter("bias", &[2 * width]));
            let log_rate = c.parameter("log_rate", &[2]);
            let y = c.output(&[1100, 2, 36]);
            let x = c.view(x, 1, 2 * width);
            push(&mut c, Op::Decay(Decay { x, log_rate, bias, form, width, slot: 2, heads: 2, y }));
            c.check(&device(), &format!("decay {form:?} {width} {spread}"), 2e-5);
        }
    }
}

#[test]
fn unit() {
    for (rows, width) in [(3, 5), (700, 33)] {
        let prepare = |c: &mut Case| c.input(&[rows, 2 * width + 1]);
        check("unit", prepare, |c, &x| {
            let y = c.output(&[rows, 2, 40]);
            let x = c.view(x, 1, 2 * width);
            push(c, Op::Unit(Unit { x, width, slot: 2, heads: 2, y }));
        });
    }
}

#[test]
fn attention() {
    for (time, key, value) in [(1, 4, 4), (7, 3, 5), (16, 16, 16), (67, 32, 20), (40, 128, 128)] {
        let shape = ScanShape { batch: 2, time, heads: 2, key, value };
        let prepare = |c: &mut Case| c.input(&[2 * time, 2, 2 * key + value]);
        check(&format!("attention {time} {key} {value}"), prepare, |c, &x| {
            let o = c.output(&[2 * time, 2, value]);
            push(c, Op::Attention(Attention { shape, x, o }));
        });
    }
}

#[test]
fn gated_norm() {
    for gated in [false, true] {
        for (rows, width) in [(3, 5), (700, 32), (9, 100)] {
            let prepare = |c: &mut Case| {
                let gate = gated.then(|| c.input(&[rows, 2 * width + 2]));
                (c.input(&[rows, 2 * width]), c.parameter("weight", &[width]), gate)
            };
            check(&format!("gated_norm {gated} {rows} {width}"), prepare, |c, &(o, weight, gate)| {
                let y = c.output(&[rows, 2 * width]);
                let gate = gate.map(|gate| c.view(gate, 1, 2 * width));
                push(c, Op::GatedNorm(GatedNorm { o, weight, gate, heads: 2, y }));
            });
        }
    }
}

#[test]
fn swiglu() {
    let prepare = |c: &mut Case| c.input(&[300, 14]);
    check("swiglu", prepare, |c, &x| {
        let y = c.output(&[300, 7]);
        push(c, Op::SwiGlu(SwiGlu { x, y }));
    });
}

#[test]
fn cross_entropy() {
    for (rows, vocab, spread) in [(3, 7, 1.0), (70, 64, 30.0), (5, 1030, 1.0), (600, 2, 1.0)] {
        for copies in [1, 2] {
            let mut c = Case::new().spread(spread);
            let (logits, targets) = (c.input(&[rows, vocab]), c.random_integers(rows, vocab as u32));
            for _ in 0..copies {
                let (loss, answers) = (c.output(&[1]), c.answers(rows));
                push(&mut c, Op::CrossEntropy(CrossEntropy { logits, targets, loss, answers }));
            }
            c.check(&device(), &format!("cross_entropy {rows} {vocab} {spread} x{copies}"), TOLERANCE);
        }
    }
}

#[test]
fn rule_map() {
    for (key, value) in [(8, 4), (32, 36)] {
        let shape = ScanShape { batch: 2, time: 67, heads: 3, key, value };
        for rule in rules() {
            let (inputs_layout, layout) = (rule.input_layout(key, value), rule.step_layout(key, value));
            let tokens = shape.batch * shape.time;
            let prepare = |c: &mut Case| {
                let inputs = c.input(&[tokens, shape.heads, inputs_layout.stride]);
                let per_head = rule.inputs().iter().filter(|input| input.scope == Scope::Head);
                let per_head = per_head.map(|input| c.parameter(&input.name, &[shape.heads, input.kind.width(key, value)]));
                (inputs, per_head.collect::<Vec<_>>())
            };
            // Once only: the map sets the gradient of its inputs, which no other operation reads.
            let mut c = Case::new();
            let (inputs, heads) = prepare(&mut c);
            let steps = c.output(&[tokens, shape.heads, layout.stride]);
            push(&mut c, Op::RuleMap(RuleMap { rule: rule.clone(), shape, inputs, heads, steps }));
            c.check(&device(), &format!("rule_map {}", rule.slug()), TOLERANCE);
        }
    }
}
