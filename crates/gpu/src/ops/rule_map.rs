//! A rule's map and its gradient: kernels around the text that the rule writes.

use super::column_sum::column_sum;
use super::shape::{Rows, rows_source};
use crate::kernel::{Access, Access::Read, Access::ReadWrite, Header, Output, Recorder, Region};
use palimpsest_plan::RuleMap;
use palimpsest_rules::{Input, Scope};

fn rows(op: &RuleMap) -> (Rows, Header) {
    let shape = op.shape;
    let rows = Rows::new(shape.batch * shape.time * shape.heads, shape.key.max(shape.value));
    (rows, rows.header().size("HEADS", shape.heads))
}

fn head_inputs(op: &RuleMap) -> impl Iterator<Item = &Input> {
    op.rule.inputs().iter().filter(|input| input.scope == Scope::Head)
}

/// Declarations of the head-scope inputs from binding `first` on, and their bindings.
fn heads(op: &RuleMap, first: usize) -> (String, Vec<(Region, Access)>) {
    let declare = |(index, input): (usize, &Input)| {
        format!("@group(0) @binding({}) var<storage, read> head_{}: array<f32>;\n", first + index, input.name)
    };
    let bindings = op.heads.iter().map(|&tensor| (Region::Tensor(tensor), Read));
    (head_inputs(op).enumerate().map(declare).collect(), bindings.collect())
}

pub(crate) fn forward(op: &RuleMap, r: &mut impl Recorder) {
    let (rows, header) = rows(op);
    let (declarations, heads) = heads(op, 2);
    let map = op.rule.wgsl_map(op.shape.key, op.shape.value, rows.lanes());
    let source = rows_source(header, &[&declarations, &map, include_str!("../../../../shaders/kernels/rule_map.wgsl")]);
    let mut bindings = vec![(Region::Tensor(op.inputs), Read), (Region::Tensor(op.steps), ReadWrite)];
    bindings.extend(heads);
    rows.dispatch(r, "rule_map.forward", source, bindings);
}

pub(crate) fn backward(op: &RuleMap, adds: &[bool], r: &mut impl Recorder) {
    let (rows, header) = rows(op);
    let shape = op.shape;
    let layout = op.rule.input_layout(shape.key, shape.value);
    let tokens = shape.batch * shape.time;
    let stride = shape.heads * layout.head_stride;
    let d_heads = (stride > 0).then(|| Region::Scratch(r.scratch("head gradients", tokens * stride)));
    let (mut declarations, heads) = heads(op, if d_heads.is_some() { 4 } else { 3 });
    if d_heads.is_some() {
        declarations.push_str("@group(0) @binding(3) var<storage, read_write> d_heads: array<f32>;\n");
    }
    let map = op.rule.wgsl_map_gradient(shape.key, shape.value, rows.lanes());
    let source = rows_source(header, &[&declarations, &map, include_str!("../../../../shaders/kernels/rule_map_gradient.wgsl")]);
    let mut bindings =
        vec![(Region::Tensor(op.inputs), Read), (Region::Gradient(op.steps), Read), (Region::Gradient(op.inputs), ReadWrite)];
    bindings.extend(d_heads.map(|region| (region, ReadWrite)));
    bindings.extend(heads);
    rows.dispatch(r, "rule_map.backward", source, bindings);

    let Some(d_heads) = d_heads else { return };
    let indices = op.rule.inputs().iter().enumerate().filter(|(_, input)| input.scope == Scope::Head).map(|(index, _)| index);
    let outputs = indices.zip(&op.heads).zip(&adds[1..]).filter_map(|((index, &tensor), &add)| {
        let takes = r.plan().gradient(tensor).is_some() || r.plan().parameter_offset(tensor).is_some();
        let width = r.plan().tensor(tensor).len() / shape.heads;
        let (group_stride, first) = (layout.head_stride, layout.slot(index));
        let (region, count) = (Region::Gradient(tensor), shape.heads * width);
        takes.then_some(Output { region, count, group: width, group_stride, first, width: 1, add })
    });
    let outputs: Vec<Output> = outputs.collect();
    if !outputs.is_empty() {
        column_sum(r, d_heads, tokens, stride, &outputs);
    }
}
