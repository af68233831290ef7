//! Matrix products: the projection, and its gradients by input and weight.

use super::column_sum::column_sum;
use super::text;
use crate::kernel::{Access, Access::Read, Access::ReadWrite, Dispatch, Header, Output, Recorder, Region, WORKGROUP, fold};
use palimpsest_plan::Linear;

/// Rows and columns of the part of a product that one workgroup makes.
const TILE: usize = 64;
/// Terms of the sum that a workgroup fetches at once.
const DEPTH: usize = 16;
/// Workgroups that keep a large GPU busy; the sum over tokens is split to reach so many.
const BUSY: usize = 264;

/// A matrix or its transpose: lines of neighbouring numbers, `stride` apart, line `l` of block `b` from `first + b * block + l * stride` on.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    region: Region,
    first: usize,
    block: usize,
    stride: usize,
    /// Whether its lines are columns.
    transposed: bool,
}

impl Matrix {
    /// Declares it as `name`, with the number of numbers that a line has.
    fn declare(self, name: &str, binding: usize, line: usize) -> String {
        let aligned = [self.first, self.block, self.stride, line].iter().all(|number| number.is_multiple_of(4));
        let text = if aligned { VEC4 } else { SCALAR };
        text.replace("NAME", name).replace("BINDING", &binding.to_string())
    }
}

const VEC4: &str = include_str!("../../../../shaders/lib/matrix_vec4.wgsl");
const SCALAR: &str = include_str!("../../../../shaders/lib/matrix_scalar.wgsl");

/// `c = a b` per block, `[m, k]` times `[k, n]`.
struct Product {
    label: &'static str,
    /// How its tiles lie and are multiplied.
    tiles: &'static str,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    m: usize,
    n: usize,
    k: usize,
    blocks: usize,
    /// Terms per split and the distance of the splits' results.
    split: usize,
    split_stride: usize,
    /// Where the sums of `a`'s rows go within a split's result, if wanted.
    row_sums: Option<usize>,
    add: bool,
    bias: Option<Region>,
    residual: Option<Region>,
}

impl Product {
    fn record(&self, r: &mut impl Recorder) {
        let (tiles_m, tiles_n) = (self.m.div_ceil(TILE), self.n.div_ceil(TILE));
        let header = Header::new()
            .size("WORKGROUP", WORKGROUP)
            .size("M", self.m)
            .size("N", self.n)
            .size("K", self.k)
            .size("BLOCKS", self.blocks)
            .size("TILES_M", tiles_m)
            .size("TILES_N", tiles_n)
            .size("SPLIT", self.split)
            .size("C_SPLIT", self.split_stride)
            .size("C_FIRST", self.c.first)
            .size("C_BLOCK", self.c.block)
            .size("C_ROW", self.c.stride)
            .flag("ROW_SUMS", self.row_sums.is_some())
            .size("ROW_SUMS_FIRST", self.row_sums.unwrap_or(0))
            .flag("ADD", self.add);
        let header = [("A", self.a), ("B", self.b)].into_iter().fold(header, |header, (name, matrix)| {
            let header = header.size(&format!("{name}_FIRST"), matrix.first).size(&format!("{name}_BLOCK"), matrix.block);
            header.size(&format!("{name}_STRIDE"), matrix.stride)
        });
        let mut bindings: Vec<(Region, Access)> = vec![(self.a.region, Read), (self.b.region, Read), (self.c.region, ReadWrite)];
        // What is added to an element on its way out; `at` is its place in c, `column` counts over all blocks.
        let (mut declarations, mut sum) = (String::new(), "x".to_owned());
        for (name, index, region) in [("bias", "column", self.bias), ("residual", "at", self.residual)] {
            if let Some(region) = region {
                declarations.push_str(&format!("@group(0) @binding({}) var<storage, read> {name}: array<f32>;\n", bindings.len()));
                sum.push_str(&format!(" + {name}[{index}]"));
                bindings.push((region, Read));
            }
        }
        let a = self.a.declare("a", 0, if self.a.transposed { self.m } else { self.k });
        let b = self.b.declare("b", 1, if self.b.transposed { self.k } else { self.n });
        let finish = format!("{declarations}fn finish(x: f32, at: u32, column: u32) -> f32 {{\n    return {sum};\n}}");
        r.dispatch(Dispatch {
            label: self.label,
            source: header.source(&[text::INDEX, &a, &b, &finish, self.tiles, include_str!("../../../../shaders/kernels/matmul.wgsl")]),
            bindings,
            groups: fold(tiles_m * tiles_n * self.blocks * self.k.div_ceil(self.split), r.limits()),
        });
    }
}

/// The three matrices of a projection, per block: `x [tokens, inputs]`, `weight [outputs, inputs]`, `y [tokens, outputs]`.
struct Shape {
    tokens: usize,
    inputs: usize,
    outputs: usize,
    x: Matrix,
    weight: Matrix,
    y: Matrix,
}

impl Shape {
    fn new(op: &Linear, x: Region, y: Region, r: &impl Recorder) -> Shape {
        let width = r.plan().tensor(op.y).shape.last().copied().unwrap_or(1);
        let (inputs, outputs) = (op.x.width / op.blocks, width / op.blocks);
        Shape {
            tokens: r.plan().tensor(op.y).len() / width,
            x: Matrix { region: x, first: op.x.offset, block: inputs, stride: op.x.stride, transposed: false },
            weight: Matrix { region: Region::Tensor(op.weight), first: 0, block: outputs * inputs, stride: inputs, transposed: false },
            y: Matrix { region: y, first: 0, block: outputs, stride: width, transposed: false },
            inputs,
            outputs,
        }
    }
}

fn transposed(matrix: Matrix) -> Matrix {
    Matrix { transposed: !matrix.transposed, ..matrix }
}

pub(crate) fn forward(op: &Linear, r: &mut impl Recorder) {
    let shape = Shape::new(op, Region::Tensor(op.x.tensor), Region::Tensor(op.y), r);
    let product = Product {
        label: "linear.forward",
        tiles: include_str!("../../../../shaders/kernels/linear_forward.wgsl"),
        a: shape.x,
        b: transposed(shape.weight),
        c: shape.y,
        m: shape.tokens,
        n: shape.outputs,
        k: shape.inputs,
        blocks: op.blocks,
        split: shape.inputs,
        split_stride: 0,
        row_sums: None,
        add: false,
        bias: op.bias.map(Region::Tensor),
        residual: op.residual.map(Region::Tensor),
    };
    product.record(r);
}

pub(crate) fn backward(op: &Linear, adds: &[bool], r: &mut impl Recorder) {
    let shape = Shape::new(op, Region::Gradient(op.x.tensor), Region::Gradient(op.y), r);
    let by_input = Product {
        label: "linear.input",
        tiles: include_str!("../../../../shaders/kernels/linear_input.wgsl"),
        a: shape.y,
        b: shape.weight,
        c: shape.x,
        m: shape.tokens,
        n: shape.inputs,
        k: shape.outputs,
        blocks: op.blocks,
        split: shape.outputs,
        split_stride: 0,
        row_sums: None,
        add: adds[0],
        bias: None,
        residual: None,
    };
    by_input.record(r);

    let weights = op.blocks * shape.outputs * shape.inputs;
    let biases = if op.bias.is_some() { op.blocks * shape.outputs } else { 0 };
    let tiles = shape.outputs.div_ceil(TILE) * shape.inputs.div_ceil(TILE) * op.blocks;
    let split = (shape.tokens * tiles).div_ceil(BUSY).max(4 * DEPTH).next_multiple_of(DEPTH);
    let splits = shape.tokens.div_ceil(split);
    let partial = r.partial(splits * (weights + biases));
    let by_weight = Product {
        label: "linear.weight",
        tiles: include_str!("../../../../shaders/kernels/linear_weight.wgsl"),
        a: transposed(shape.y),
        b: Matrix { region: Region::Tensor(op.x.tensor), ..shape.x },
        c: Matrix { region: partial, first: 0, block: shape.outputs * shape.inputs, stride: shape.inputs, transposed: false },
        m: shape.outputs,
        n: shape.inputs,
        k: shape.tokens,
        blocks: op.blocks,
        split,
        split_stride: weights + biases,
        row_sums: op.bias.map(|_| weights),
        add: false,
        bias: None,
        residual: None,
    };
    by_weight.record(r);
    let mut outputs = vec![Output::columns(Region::Gradient(op.weight), 0, weights, adds[1])];
    outputs.extend(op.bias.map(|bias| Output::columns(Region::Gradient(bias), weights, biases, adds[2])));
    column_sum(r, partial, splits, weights + biases, &outputs);
}
