//! Short causal convolution, SiLU and unit vectors into packed rule inputs.

use super::column_sum::column_sum;
use super::shape::{Columns, Rows, rows_source};
use super::text;
use crate::kernel::{Access::Read, Access::ReadWrite, Header, Output, Recorder, Region};
use palimpsest_plan::{ShortConv, TensorId, UNIT_EPSILON};

const WITH_TAPS: &str = include_str!("../../../../shaders/lib/conv_taps.wgsl");
const WITHOUT: &str = include_str!("../../../../shaders/lib/conv_none.wgsl");

fn tokens(op: &ShortConv, r: &impl Recorder) -> usize {
    r.plan().tensor(op.x.tensor).len() / op.x.stride
}

/// W, the taps per column.
fn window(op: &ShortConv, taps: TensorId, r: &impl Recorder) -> usize {
    r.plan().tensor(taps).len() / op.x.width
}

fn rows(op: &ShortConv, r: &impl Recorder) -> Rows {
    Rows::new(tokens(op, r) * op.heads, op.parts.iter().map(|part| part.width).max().unwrap_or(1))
}

fn x_header(op: &ShortConv, header: Header) -> Header {
    header.size("X_STRIDE", op.x.stride).size("X_FIRST", op.x.offset).size("TIME", op.time)
}

/// The kernel of a pass over (token, head) rows, with `parts()` calling `part()` for each part.
fn source(op: &ShortConv, header: Header, kernel: &str, taps_binding: usize, r: &impl Recorder) -> String {
    let stride = r.plan().tensor(op.y).len() / (tokens(op, r) * op.heads).max(1);
    let header = x_header(op, header).size("HEADS", op.heads).size("STRIDE", stride).float("EPSILON", UNIT_EPSILON);
    let mut parts = "fn parts(row: u32, lane: u32, live: bool) {\n".to_owned();
    let mut first = 0;
    for part in &op.parts {
        let (width, slot, unit) = (part.width, part.slot, part.unit);
        parts.push_str(&format!("    part(row, lane, live, {first}u, {width}u, {slot}u, {unit});\n"));
        first += op.heads * width;
    }
    parts.push('}');
    match op.taps {
        Some(taps) => {
            let header = header.size("TAPS", window(op, taps, r)).size("TAPS_BINDING", taps_binding);
            rows_source(header, &[text::SIGMOID, WITH_TAPS, &parts, kernel])
        }
        None => rows_source(header, &[text::SIGMOID, WITHOUT, &parts, kernel]),
    }
}

pub(crate) fn forward(op: &ShortConv, r: &mut impl Recorder) {
    let rows = rows(op, r);
    let source = source(op, rows.header(), include_str!("../../../../shaders/kernels/short_conv.wgsl"), 2, r);
    let mut bindings = vec![(Region::Tensor(op.x.tensor), Read), (Region::Tensor(op.y), ReadWrite)];
    bindings.extend(op.taps.map(|taps| (Region::Tensor(taps), Read)));
    rows.dispatch(r, "short_conv.forward", source, bindings);
}

pub(crate) fn backward(op: &ShortConv, adds: &[bool], r: &mut impl Recorder) {
    let rows = rows(op, r);
    let count = tokens(op, r);
    let columns = op.x.width;
    let kernel = include_str!("../../../../shaders/kernels/short_conv_backward.wgsl");
    let mut bindings = vec![(Region::Tensor(op.x.tensor), Read), (Region::Gradient(op.y), Read)];
    let Some(taps) = op.taps else {
        let header = rows.header().size("C_STRIDE", op.x.stride).size("C_FIRST", op.x.offset).flag("ADD", adds[0]);
        let source = source(op, header, kernel, 3, r);
        bindings.push((Region::Gradient(op.x.tensor), ReadWrite));
        return rows.dispatch(r, "short_conv.backward", source, bindings);
    };
    let sums = Region::Scratch(r.scratch("convolved", count * columns));
    let header = rows.header().size("C_STRIDE", columns).size("C_FIRST", 0).flag("ADD", false);
    let source = source(op, header, kernel, 3, r);
    bindings.extend([(sums, ReadWrite), (Region::Tensor(taps), Read)]);
    rows.dispatch(r, "short_conv.backward", source, bindings);

    let shape = Columns::new(count, columns);
    let window = window(op, taps, r);
    let partial = r.partial(shape.chunks() * columns * window);
    let header = x_header(op, shape.header()).size("TAPS", window).flag("ADD", adds[0]);
    let kernel = header.source(&[text::INDEX, include_str!("../../../../shaders/kernels/short_conv_taps.wgsl")]);
    let bindings = vec![
        (Region::Tensor(op.x.tensor), Read),
        (Region::Tensor(taps), Read),
        (sums, Read),
        (Region::Gradient(op.x.tensor), ReadWrite),
        (partial, ReadWrite),
    ];
    shape.dispatch_chunks(r, "short_conv.taps", kernel, bindings);
    let output = Output::columns(Region::Gradient(taps), 0, columns * window, adds[1]);
    column_sum(r, partial, shape.chunks(), columns * window, &[output]);
}
