//! Running the operations of a plan over its buffers.

use crate::Real;
use crate::buffers::{Buffers, MAX_OPERANDS, Sink};
use crate::memory::Memory;
use crate::ops::{attention, cross_entropy, decay, embed, gated_norm, gates, gather, linear, rms_norm, short_conv, swiglu, unit};
use crate::rows::Gradient;
use crate::rule_map::Map;
use crate::scan;
use palimpsest_plan::{BackendError, Decay, Op, Plan, RuleMap, ShortConv, TensorId};

/// What operations need besides tensors, all made once.
pub(crate) struct Work<F> {
    /// Scratch for one operation at a time.
    row: Vec<F>,
    pub(crate) scan: scan::Scratch<F>,
    /// By operation: the compiled program of a rule map.
    maps: Vec<Option<Map<F>>>,
    /// By operation: a scan's checkpoints; empty for the others and for plans that only run forward.
    checkpoints: Vec<Vec<F>>,
    /// By operation: what it writes.
    outputs: Vec<Outputs>,
    /// By operation: where its operands' gradients go.
    sinks: Vec<Vec<Option<Sink>>>,
}

/// An operation's main output, its last state if it gives one, and its answers.
type Outputs = (TensorId, Option<TensorId>, Option<TensorId>);

fn outputs(op: &Op) -> Outputs {
    match op {
        Op::Embed(op) => (op.y, None, None),
        Op::RmsNorm(op) => (op.y, None, None),
        Op::Linear(op) => (op.y, None, None),
        Op::ShortConv(op) => (op.y, None, None),
        Op::Gates(op) => (op.y, None, None),
        Op::Decay(op) => (op.y, None, None),
        Op::Unit(op) => (op.y, None, None),
        Op::RuleMap(op) => (op.steps, None, None),
        Op::Scan(op) => (op.o, op.last, None),
        Op::Attention(op) => (op.o, None, None),
        Op::GatedNorm(op) => (op.y, None, None),
        Op::SwiGlu(op) => (op.y, None, None),
        Op::Gather(op) => (op.y, None, None),
        Op::CrossEntropy(op) => (op.loss, None, Some(op.answers)),
    }
}

impl<F: Real> Work<F> {
    /// Everything for a plan that [`crate::check`] has accepted.
    ///
    /// # Errors
    /// [`BackendError::Memory`] when it cannot be had.
    pub(crate) fn new(plan: &Plan, buffers: &Buffers<F>, memory: Memory) -> Result<Self, BackendError> {
        let mut sinks = vec![Vec::new(); plan.forward.len()];
        for step in &plan.backward {
            let operands = plan.forward[step.op].operands().into_iter().zip(&step.adds);
            sinks[step.op] = operands.map(|(operand, &adds)| buffers.sink(operand, adds)).collect();
        }
        let map = |op: &Op| if let Op::RuleMap(op) = op { Some(Map::new(op)) } else { None };
        let trains = !plan.backward.is_empty();
        let checkpoints = |op: &Op| match op {
            Op::Scan(op) if trains => memory.filled(scan::checkpoint_len(op), F::zero()),
            _ => Ok(Vec::new()),
        };
        Ok(Work {
            row: vec![F::zero(); plan.forward.iter().map(|op| scratch(op, buffers)).max().unwrap_or(0)],
            scan: scan::Scratch::default(),
            outputs: plan.forward.iter().map(outputs).collect(),
            maps: plan.forward.iter().map(map).collect(),
            checkpoints: plan.forward.iter().map(checkpoints).collect::<Result<_, _>>()?,
            sinks,
        })
    }
}

/// Numbers of scratch that an operation needs.
fn scratch<F: Real>(op: &Op, buffers: &Buffers<F>) -> usize {
    match op {
        Op::RmsNorm(op) => buffers.width(op.x),
        Op::ShortConv(op) => short_conv::scratch(conv_shape(op, buffers), op.x.width),
        Op::Gates(op) => op.x.width,
        Op::Decay(op) => 2 * op.width,
        Op::Attention(op) => op.shape.time + op.shape.key,
        Op::GatedNorm(op) => buffers.width(op.weight),
        _ => 0,
    }
}

fn conv_shape<'a, F: Real>(op: &'a ShortConv, buffers: &Buffers<F>) -> short_conv::Shape<'a> {
    let taps = op.taps.map_or(0, |taps| buffers.width(taps));
    short_conv::Shape { parts: &op.parts, heads: op.heads, time: op.time, taps, stride: buffers.width(op.y) }
}

fn decay_shape<F: Real>(op: &Decay, buffers: &Buffers<F>) -> decay::Shape {
    decay::Shape { form: op.form, width: op.width, slot: op.slot, heads: op.heads, stride: buffers.width(op.y) }
}

fn head_values<'a, F: Real>(op: &RuleMap, buffers: &'a Buffers<F>) -> [&'a [F]; MAX_OPERANDS] {
    let mut heads: [&[F]; MAX_OPERANDS] = [&[]; MAX_OPERANDS];
    heads.iter_mut().zip(&op.heads).for_each(|(head, &id)| *head = buffers.value(id));
    heads
}

/// Runs the `index`-th forward operation. Its output is taken out of the buffers while it is written.
pub(crate) fn forward<F: Real>(op: &Op, index: usize, buffers: &mut Buffers<F>, work: &mut Work<F>) {
    let (output, last, answers) = work.outputs[index];
    let mut taken = buffers.take(output);
    let mut taken_last = last.map(|id| buffers.take(id));
    let mut taken_answers = answers.map(|id| buffers.take_integers(id));
    let b = &*buffers;
    let (y, row) = (taken.as_mut_slice(), work.row.as_mut_slice());
    match op {
        Op::Embed(op) => embed::forward(y, b.integers(op.tokens), b.value(op.table), b.width(op.table)),
        Op::RmsNorm(op) => rms_norm::forward(y, b.value(op.x), b.value(op.weight)),
        Op::Linear(op) => {
            let (bias, residual) = (op.bias.map(|id| b.value(id)), op.residual.map(|id| b.value(id)));
            linear::forward(y, b.rows(op.x), b.value(op.weight), bias, residual, op.blocks);
        }
        Op::ShortConv(op) => short_conv::forward(y, b.rows(op.x), op.taps.map(|id| b.value(id)), conv_shape(op, b), row),
        Op::Gates(op) => gates::forward(y, b.rows(op.x), b.value(op.bias), &op.parts, op.heads, b.width(op.y)),
        Op::Decay(op) => decay::forward(y, b.rows(op.x), b.value(op.log_rate), b.value(op.bias), decay_shape(op, b)),
        Op::Unit(op) => unit::forward(y, b.rows(op.x), op.heads, op.slot, b.width(op.y)),
        Op::RuleMap(op) => {
            if let Some(map) = work.maps[index].as_mut() {
                map.forward(y, b.value(op.inputs), &head_values(op, b), op.shape.heads);
            }
        }
        Op::Scan(op) => {
            let checkpoints = &mut work.checkpoints[index];
            let io = scan::Forward {
                steps: b.value(op.steps),
                initial: op.initial.map(|id| b.value(id)),
                o: y,
                last: taken_last.as_deref_mut(),
                checkpoints: if checkpoints.is_empty() { None } else { Some(checkpoints) },
            };
            scan::forward(op, io, &mut work.scan);
        }
        Op::Attention(op) => attention::forward(y, b.value(op.x), op.shape, row),
        Op::GatedNorm(op) => {
            gated_norm::forward(y, b.value(op.o), b.value(op.weight), op.gate.map(|gate| b.rows(gate)), op.heads);
        }
        Op::SwiGlu(op) => swiglu::forward(y, b.value(op.x), b.width(op.y)),
        Op::Gather(op) => gather::forward(y, b.value(op.x), b.integers(op.rows), b.width(op.x)),
        Op::CrossEntropy(op) => {
            let answers = taken_answers.as_deref_mut().unwrap_or_default();
            cross_entropy::forward(y, answers, b.value(op.logits), b.integers(op.targets));
        }
    }
    buffers.restore(output, taken);
    if let (Some(id), Some(taken)) = (last, taken_last) {
        buffers.restore(id, taken);
    }
    if let (Some(id), Some(taken)) = (answers, taken_answers) {
        buffers.restore_integers(id, taken);
    }
}

/// Runs the gradient of the `index`-th forward operation.
pub(crate) fn backward<F: Real>(op: &Op, index: usize, buffers: &mut Buffers<F>, work: &mut Work<F>) {
    let sinks = &work.sinks[index];
    let mut taken = buffers.take_gradients(sinks);
    {
        let b = &*buffers;
        let row = work.row.as_mut_slice();
        // Gradients in the order of the operation's operands.
        let open = |(data, sink): (_, &Option<Sink>)| -> Option<Gradient<F>> { sink.as_ref().map(|sink| sink.open(data)) };
        let mut gradients = taken.iter_mut().map(Vec::as_mut_slice).zip(sinks).map(open);
        let mut next = || gradients.next().flatten();
        match op {
            Op::Embed(op) => embed::backward(next(), b.gradient(op.y), b.integers(op.tokens), b.width(op.table)),
            Op::RmsNorm(op) => rms_norm::backward(next(), next(), b.gradient(op.y), b.value(op.x), b.value(op.weight), row),
            Op::Linear(op) => {
                let (dx, dweight) = (next(), next());
                let dbias = if op.bias.is_some() { next() } else { None };
                linear::backward(dx, dweight, dbias, b.gradient(op.y), b.rows(op.x), b.value(op.weight), op.blocks);
            }
            Op::ShortConv(op) => {
                let (dx, dtaps) = (next(), if op.taps.is_some() { next() } else { None });
                let taps = op.taps.map(|id| b.value(id));
                short_conv::backward(dx, dtaps, b.gradient(op.y), b.rows(op.x), taps, conv_shape(op, b), row);
            }
            Op::Gates(op) => {
                gates::backward(next(), next(), b.gradient(op.y), b.value(op.y), &op.parts, op.heads, b.width(op.y), row);
            }
            Op::Decay(op) => {
                let (log_rate, bias) = (b.value(op.log_rate), b.value(op.bias));
                decay::backward(next(), next(), next(), b.gradient(op.y), b.rows(op.x), log_rate, bias, decay_shape(op, b), row);
            }
            Op::Unit(op) => unit::backward(next(), b.gradient(op.y), b.rows(op.x), op.heads, op.slot, b.width(op.y)),
            Op::RuleMap(op) => {
                if let Some(map) = work.maps[index].as_mut() {
                    let d_inputs = next();
                    map.backward(d_inputs, gradients, b.gradient(op.steps), b.value(op.inputs), &head_values(op, b), op.shape.heads);
                }
            }
            Op::Scan(op) => {
                let (d_steps, d_initial) = (next(), if op.initial.is_some() { next() } else { None });
                if let Some(d_steps) = d_steps {
                    let io = scan::Backward {
                        steps: b.value(op.steps),
                        checkpoints: &work.checkpoints[index],
                        d_o: b.gradient(op.o),
                        d_last: op.last.map(|id| b.gradient(id)),
                        d_steps: d_steps.data,
                        d_initial: d_initial.map(|initial| scan::Initial { data: initial.data, adds: initial.adds }),
                    };
                    scan::backward(op, io, &mut work.scan);
                }
            }
            Op::Attention(op) => attention::backward(next(), b.gradient(op.o), b.value(op.o), b.value(op.x), op.shape, row),
            Op::GatedNorm(op) => {
                let (d_o, dweight, dgate) = (next(), next(), if op.gate.is_some() { next() } else { None });
                let gate = op.gate.map(|gate| b.rows(gate));
                gated_norm::backward(d_o, dweight, dgate, b.gradient(op.y), b.value(op.o), b.value(op.weight), gate, op.heads, row);
            }
            Op::SwiGlu(op) => swiglu::backward(next(), b.gradient(op.y), b.value(op.x), b.width(op.y)),
            Op::Gather(op) => gather::backward(next(), b.gradient(op.y), b.integers(op.rows), b.width(op.x)),
            Op::CrossEntropy(op) => cross_entropy::backward(next(), b.value(op.logits), b.integers(op.targets)),
        }
    }
    buffers.restore_gradients(&work.sinks[index], taken);
}
