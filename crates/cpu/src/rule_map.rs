//! A rule's map from packed inputs to packed steps, by the compiled program of its equations.

use crate::Real;
use crate::buffers::MAX_OPERANDS;
use crate::rows::{Gradient, put};
use palimpsest_plan::RuleMap;
use palimpsest_rules::{InputLayout, Program, Scope, Scratch};

/// A compiled rule and its scratch.
pub(crate) struct Map<F> {
    program: Program,
    scratch: Scratch<F>,
    layout: InputLayout,
    /// `(offset in a row of head gradients, width)` of each head-scope input.
    heads: Vec<(usize, usize)>,
    /// `(slot, width)` of each token-scope input: what a gradient row holds.
    tokens: Vec<(usize, usize)>,
    /// One row of token gradients, when they are added rather than set.
    d_token: Vec<F>,
    /// One row of head gradients.
    d_heads: Vec<F>,
    /// Sums of `d_heads` over tokens: in f32 they would lose digits over thousands of tokens.
    totals: Vec<f64>,
}

impl<F: Real> Map<F> {
    /// Compiles the rule of an operation.
    pub(crate) fn new(op: &RuleMap) -> Self {
        let (key, value) = (op.shape.key, op.shape.value);
        let layout = op.rule.input_layout(key, value);
        let program = op.rule.program(key, value);
        let inputs = |scope: Scope| op.rule.inputs().iter().enumerate().filter(move |(_, input)| input.scope == scope);
        let heads = inputs(Scope::Head).map(|(index, input)| (layout.slot(index), input.kind.width(key, value))).collect();
        let tokens = inputs(Scope::Token).map(|(index, input)| (layout.slot(index), input.kind.width(key, value))).collect();
        let (d_token, d_heads) = (vec![F::zero(); layout.stride], vec![F::zero(); layout.head_stride]);
        Map { scratch: program.scratch(), program, totals: vec![0.0; layout.head_stride], layout, heads, tokens, d_token, d_heads }
    }

    /// One head's rows of the head-scope inputs.
    fn head_rows<'a>(&self, values: &[&'a [F]; MAX_OPERANDS], head: usize) -> [&'a [F]; MAX_OPERANDS] {
        let mut rows: [&[F]; MAX_OPERANDS] = [&[]; MAX_OPERANDS];
        for ((row, values), &(_, width)) in rows.iter_mut().zip(values).zip(&self.heads) {
            *row = &values[head * width..][..width];
        }
        rows
    }

    /// `inputs` `[N, H, stride]`, `heads` one `[H, width]` for each head-scope input, `steps` `[N, H, step stride]`.
    pub(crate) fn forward(&mut self, steps: &mut [F], inputs: &[F], heads: &[&[F]; MAX_OPERANDS], count: usize) {
        let stride = steps.len() / (inputs.len() / self.layout.stride);
        for head in 0..count {
            let rows = self.head_rows(heads, head);
            let rows = &rows[..self.heads.len()];
            for (token, steps) in inputs.chunks_exact(self.layout.stride).zip(steps.chunks_exact_mut(stride)).skip(head).step_by(count) {
                self.program.forward(token, rows, steps, &mut self.scratch);
            }
        }
    }

    /// Gradients of the packed inputs, row by row, and of the head-scope inputs, summed over tokens in order.
    pub(crate) fn backward<'a>(
        &mut self,
        mut d_inputs: Option<Gradient<F>>,
        d_heads: impl Iterator<Item = Option<Gradient<'a, F>>>,
        d_steps: &[F],
        inputs: &[F],
        heads: &[&[F]; MAX_OPERANDS],
        count: usize,
    ) {
        let stride = self.layout.stride;
        let rows = inputs.len() / stride;
        let step_stride = d_steps.len() / rows;
        let mut sinks: [Option<Gradient<F>>; MAX_OPERANDS] = std::array::from_fn(|_| None);
        for (sink, d_head) in sinks.iter_mut().zip(d_heads) {
            *sink = d_head;
        }
        for head in 0..count {
            let head_rows = self.head_rows(heads, head);
            let head_rows = &head_rows[..self.heads.len()];
            self.totals.fill(0.0);
            for row in (head..rows).step_by(count) {
                let (token, d_steps) = (&inputs[row * stride..][..stride], &d_steps[row * step_stride..][..step_stride]);
                self.d_heads.fill(F::zero());
                match d_inputs.as_mut() {
                    Some(d_inputs) if !d_inputs.adds => {
                        let d_token = &mut d_inputs.data[row * stride..][..stride];
                        self.program.backward(token, head_rows, d_steps, d_token, &mut self.d_heads, &mut self.scratch);
                    }
                    d_inputs => {
                        self.program.backward(token, head_rows, d_steps, &mut self.d_token, &mut self.d_heads, &mut self.scratch);
                        if let Some(d_inputs) = d_inputs {
                            let sum = &mut d_inputs.data[row * stride..][..stride];
                            for &(slot, width) in &self.tokens {
                                for j in slot..slot + width {
                                    sum[j] += self.d_token[j];
                                }
                            }
                        }
                    }
                }
                for (t, x) in self.totals.iter_mut().zip(&self.d_heads) {
                    *t += x.double();
                }
            }
            for (sink, &(slot, width)) in sinks.iter_mut().zip(&self.heads) {
                let Some(sink) = sink else { continue };
                let adds = sink.adds;
                for j in 0..width {
                    put(&mut sink.data[head * width + j], F::of(self.totals[slot + j]), adds);
                }
            }
        }
    }
}
