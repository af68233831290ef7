//! `y = x W^T (+ bias) (+ residual)`, block-diagonal when `blocks > 1`.

use crate::Real;
use crate::product::{Matrix, Target, multiply};
use crate::rows::{Gradient, Rows};
use crate::wide::wide;

/// Sizes of the product of one block.
struct Block {
    inputs: usize,
    outputs: usize,
}

#[inline(always)]
fn block(blocks: usize, weight: usize, x_width: usize) -> Block {
    let inputs = x_width / blocks;
    Block { inputs, outputs: weight / inputs / blocks }
}

wide! {
    /// `x` `[N, in]`, `weight` `[out, in / blocks]`, `bias` `[out]`, `residual` and `y` `[N, out]`.
    pub(crate) fn forward<F: Real>(y: &mut [F], x: Rows<F>, weight: &[F], bias: Option<&[F]>, residual: Option<&[F]>, blocks: usize) {
        let Block { inputs, outputs } = block(blocks, weight.len(), x.width);
        let out = outputs * blocks;
        if let Some(residual) = residual {
            y.copy_from_slice(residual);
        }
        if let Some(bias) = bias {
            for y in y.chunks_exact_mut(out) {
                for j in 0..out {
                    y[j] = if residual.is_some() { y[j] + bias[j] } else { bias[j] };
                }
            }
        }
        let adds = residual.is_some() || bias.is_some();
        for h in 0..blocks {
            let left = Matrix { data: x.data, offset: x.offset + h * inputs, strides: [x.stride, 1] };
            let right = Matrix { data: weight, offset: h * outputs * inputs, strides: [inputs, 1] };
            multiply([x.count(), inputs, outputs], left, right.transposed(), adds, Target { data: y, offset: h * outputs, stride: out });
        }
    }

    /// `dx = dy W`; `dW = dy^T x`; `dbias = sum dy`. The residual's gradient is `dy` itself.
    pub(crate) fn backward<F: Real>(
        dx: Option<Gradient<F>>,
        dweight: Option<Gradient<F>>,
        dbias: Option<Gradient<F>>,
        dy: &[F],
        x: Rows<F>,
        weight: &[F],
        blocks: usize,
    ) {
        let Block { inputs, outputs } = block(blocks, weight.len(), x.width);
        let (n, out) = (x.count(), outputs * blocks);
        let dy_block = |h: usize| Matrix { data: dy, offset: h * outputs, strides: [out, 1] };
        // Term 1: dx [N, in]
        if let Some(dx) = dx {
            for h in 0..blocks {
                let right = Matrix { data: weight, offset: h * outputs * inputs, strides: [inputs, 1] };
                let target = Target { data: &mut *dx.data, offset: dx.offset + h * inputs, stride: dx.stride };
                multiply([n, outputs, inputs], dy_block(h), right, dx.adds, target);
            }
        }
        // Term 2: dW [out, in / blocks]
        if let Some(dweight) = dweight {
            for h in 0..blocks {
                let right = Matrix { data: x.data, offset: x.offset + h * inputs, strides: [x.stride, 1] };
                let target = Target { data: &mut *dweight.data, offset: h * outputs * inputs, stride: inputs };
                multiply([outputs, n, inputs], dy_block(h).transposed(), right, dweight.adds, target);
            }
        }
        // Term 3: dbias [out]
        if let Some(mut dbias) = dbias {
            let dbias = dbias.accumulator();
            for dy in dy.chunks_exact(out) {
                for j in 0..out {
                    dbias[j] += dy[j];
                }
            }
        }
    }
}
