//! RMS norm of each head's output, with a sigmoid gate.

use super::shape::{Rows, rows_source};
use super::text;
use crate::kernel::{Access::Read, Access::ReadWrite, Header, Output, Recorder, Region};
use palimpsest_plan::{GatedNorm, NORM_EPSILON};

const PRESENT: &str = include_str!("../../../../shaders/lib/gate_present.wgsl");
const ABSENT: &str = include_str!("../../../../shaders/lib/gate_absent.wgsl");
const GRADIENT_PRESENT: &str = include_str!("../../../../shaders/lib/gate_gradient_present.wgsl");
const GRADIENT_ABSENT: &str = include_str!("../../../../shaders/lib/gate_gradient_absent.wgsl");

fn rows(op: &GatedNorm, r: &impl Recorder) -> Rows {
    let width = r.plan().tensor(op.weight).len();
    Rows::new(r.plan().tensor(op.o).len() / width, width)
}

fn gate_header(op: &GatedNorm, header: Header, binding: usize) -> Header {
    let header = header.float("EPSILON", NORM_EPSILON).size("HEADS", op.heads);
    match op.gate {
        Some(gate) => header.size("GATE_BINDING", binding).size("GATE_STRIDE", gate.stride).size("GATE_FIRST", gate.offset),
        None => header,
    }
}

pub(crate) fn forward(op: &GatedNorm, r: &mut impl Recorder) {
    let rows = rows(op, r);
    let gate = if op.gate.is_some() { PRESENT } else { ABSENT };
    let header = gate_header(op, rows.header(), 3);
    let source = rows_source(header, &[text::SIGMOID, gate, include_str!("../../../../shaders/kernels/gated_norm.wgsl")]);
    let mut bindings = vec![(Region::Tensor(op.o), Read), (Region::Tensor(op.weight), Read), (Region::Tensor(op.y), ReadWrite)];
    bindings.extend(op.gate.map(|gate| (Region::Tensor(gate.tensor), Read)));
    rows.dispatch(r, "gated_norm.forward", source, bindings);
}

pub(crate) fn backward(op: &GatedNorm, adds: &[bool], r: &mut impl Recorder) {
    let rows = rows(op, r);
    let width = r.plan().tensor(op.weight).len();
    let partial = r.partial(rows.chunks() * width);
    let (gate, gradient) = if op.gate.is_some() { (PRESENT, GRADIENT_PRESENT) } else { (ABSENT, GRADIENT_ABSENT) };
    let add_gate = adds.get(2).copied().unwrap_or(false);
    let header = gate_header(op, rows.chunk_header(), 5).flag("ADD", adds[0]).flag("ADD_GATE", add_gate);
    let kernel = include_str!("../../../../shaders/kernels/gated_norm_backward.wgsl");
    let source = rows_source(header, &[text::SIGMOID, gate, gradient, kernel]);
    let mut bindings = vec![
        (Region::Tensor(op.o), Read),
        (Region::Tensor(op.weight), Read),
        (Region::Gradient(op.y), Read),
        (Region::Gradient(op.o), ReadWrite),
        (partial, ReadWrite),
    ];
    if let Some(gate) = op.gate {
        bindings.extend([(Region::Tensor(gate.tensor), Read), (Region::Gradient(gate.tensor), ReadWrite)]);
    }
    let weight = Output::columns(Region::Gradient(op.weight), 0, width, adds[1]);
    rows.dispatch_chunks(r, "gated_norm.backward", source, bindings, partial, weight);
}
