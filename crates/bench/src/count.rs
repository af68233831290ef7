//! How much work a plan is: bytes that must move, and floating-point operations that its equations need.
//!
//! Bytes: each operation reads its operands once and writes its results once; backward it reads its operands and the gradients of
//! its results, and writes the gradients of its operands. What a kernel keeps for itself (checkpoints, tapes, partial sums) is not
//! counted. Operations: products and sums of scans, matrix products, convolutions and attention; a decay's product is counted,
//! `exp` and element-wise work (gates, norms, rule maps) are not. What is computed a second time is not counted.

use palimpsest_plan::{Op, Operand, Plan, Role, Scan, TensorId};
use palimpsest_rules::StepSlots;
use std::ops::Add;

/// Bytes of a float.
const FLOAT: u64 = 4;
/// Floats that AdamW moves per parameter: parameter and both moments read and written, gradient read.
const ADAMW_FLOATS: u64 = 7;

/// Work of some operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Bytes read and written.
    pub bytes: u64,
    /// Floating-point operations; a product and a sum are two.
    pub flops: u64,
}

impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count { bytes: self.bytes + other.bytes, flops: self.flops + other.flops }
    }
}

/// Work of the forward operations.
pub fn forward(plan: &Plan) -> Count {
    let counts = plan.forward.iter().map(|op| Count { bytes: operands(plan, op) + outputs(plan, op), flops: flops(plan, op).0 });
    counts.fold(Count::default(), Count::add)
}

/// Work of the backward operations.
pub fn backward(plan: &Plan) -> Count {
    let counts = plan.backward.iter().map(|step| {
        let op = &plan.forward[step.op];
        Count { bytes: 2 * operands(plan, op) + outputs(plan, op), flops: flops(plan, op).1 }
    });
    counts.fold(Count::default(), Count::add)
}

/// Work of the update.
pub fn update(plan: &Plan) -> Count {
    Count { bytes: ADAMW_FLOATS * FLOAT * plan.parameter_count() as u64, flops: 0 }
}

fn len(plan: &Plan, tensor: TensorId) -> u64 {
    plan.tensor(tensor).shape.iter().map(|&size| size as u64).product()
}

fn operands(plan: &Plan, op: &Op) -> u64 {
    let floats = op.operands().into_iter().map(|operand| match operand {
        Operand::Whole(tensor) => len(plan, tensor),
        Operand::Columns(view) => len(plan, view.tensor) / view.stride.max(1) as u64 * view.width as u64,
    });
    FLOAT * floats.sum::<u64>()
}

fn outputs(plan: &Plan, op: &Op) -> u64 {
    let written = op.outputs().into_iter().filter(|&tensor| plan.tensor(tensor).role == Role::Activation);
    FLOAT * written.map(|tensor| len(plan, tensor)).sum::<u64>()
}

/// Floating-point operations, forward and backward.
fn flops(plan: &Plan, op: &Op) -> (u64, u64) {
    match op {
        Op::Scan(op) => scan(op),
        Op::Linear(op) => {
            // y = x W^T, dx = dy W, dW = dy^T x
            let weight = plan.tensor(op.weight);
            let rows = len(plan, op.y) / weight.shape.first().copied().unwrap_or(1).max(1) as u64;
            let product = 2 * rows * len(plan, op.weight);
            (product, 2 * product)
        }
        Op::ShortConv(op) => {
            // taps on each number; gradients of numbers and taps
            let taps = op.taps.map_or(0, |taps| len(plan, taps));
            let product = 2 * taps * (len(plan, op.x.tensor) / op.x.stride.max(1) as u64);
            (product, 2 * product)
        }
        Op::Attention(op) => {
            // pairs s <= t: scores and sum of values; gradients of weights, values, queries and keys
            let shape = op.shape;
            let [batch, time, heads, key, value] = [shape.batch, shape.time, shape.heads, shape.key, shape.value].map(|size| size as u64);
            let product = batch * heads * (time * (time + 1) / 2) * 2 * (key + value);
            (product, 2 * product)
        }
        _ => (0, 0),
    }
}

/// Per token and head: each step's decay (K V products), `S^T a` and `u - S^T a` (2 K V), `S + k r^T` (2 K V), then `S^T q` (2 K V).
/// Backward of a step: `dS r`, `dS^T k` (2 K V each); with an erase vector `S' dr` and `dS - a dr^T` (2 K V each); with a decay the
/// row sums of `dS' * S'` and the product with `exp g` (3 K V). Backward of the read: `S do` and `dS + q do^T` (4 K V).
fn scan(op: &Scan) -> (u64, u64) {
    let rows = [op.shape.batch, op.shape.time, op.shape.heads].iter().map(|&size| size as u64).product::<u64>();
    let state = (op.shape.key * op.shape.value) as u64;
    let forward = |slots: &StepSlots| 2 + u64::from(slots.decay.is_some()) + 2 * u64::from(slots.erase.is_some());
    let backward = |slots: &StepSlots| 4 + 3 * u64::from(slots.decay.is_some()) + 4 * u64::from(slots.erase.is_some());
    let steps = &op.layout.steps;
    (rows * state * (2 + steps.iter().map(forward).sum::<u64>()), rows * state * (4 + steps.iter().map(backward).sum::<u64>()))
}
