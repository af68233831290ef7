//! A rule and its gradient, evaluated on the CPU.

use crate::gradient::{differentiate, outputs};
use crate::graph::{Graph, Kind, Node, NodeId};
use crate::{Rule, Scope};
use num_traits::Float;

/// Where a value lies.
#[derive(Clone, Copy, Debug)]
enum Place {
    Token(usize),
    Head(usize),
    Incoming(usize),
    Scratch(usize),
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Number(f64),
    Add,
    Mul,
    Neg,
    Sigmoid,
    Exp,
    Dot,
    Sum,
}

/// A value: its place, and whether it is one number for all elements.
#[derive(Clone, Copy, Debug)]
struct Operand {
    place: Place,
    width: usize,
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    action: Action,
    a: Operand,
    b: Operand,
    out: usize,
    width: usize,
}

/// Copies a value to an output row.
#[derive(Clone, Copy, Debug)]
struct Store {
    /// `None` stores zeros.
    from: Option<Operand>,
    to: usize,
    width: usize,
}

#[derive(Clone, Debug)]
struct Code {
    instructions: Vec<Instruction>,
    scratch: usize,
}

/// A compiled rule for one K and V.
#[derive(Clone, Debug)]
pub struct Program {
    forward: Code,
    steps: Vec<Store>,
    backward: Code,
    d_token: Vec<Store>,
    d_heads: Vec<Store>,
}

/// Room for intermediate values; one per thread of evaluation.
#[derive(Clone, Debug, Default)]
pub struct Scratch<F> {
    floats: Vec<F>,
}

impl Rule {
    /// The rule and its gradient, compiled for K = `key` and V = `value`.
    pub fn program(&self, key: usize, value: usize) -> Program {
        Program::new(self, key, value)
    }
}

impl Program {
    fn new(rule: &Rule, key: usize, value: usize) -> Program {
        let (inputs, layout) = (rule.input_layout(key, value), rule.step_layout(key, value));
        let head_index = |input: usize| rule.inputs()[..input].iter().filter(|input| input.scope == Scope::Head).count();
        let place = |input: usize| match rule.inputs().get(input).map(|input| input.scope) {
            Some(Scope::Token) => Place::Token(inputs.slot(input)),
            _ => Place::Head(head_index(input)),
        };
        let width = |kind: Kind| kind.width(key, value);

        let outputs = outputs(rule, &layout);
        let roots: Vec<NodeId> = outputs.iter().map(|(node, ..)| *node).collect();
        let (forward, operands) = compile(rule.graph(), &roots, place, width);
        let store = |&(node, kind, to): &(NodeId, Kind, usize)| Store { from: operands[node.0], to, width: width(kind) };
        let steps = outputs.iter().map(store).collect();

        let gradient = differentiate(rule, &layout);
        let roots: Vec<NodeId> = gradient.inputs.iter().flatten().copied().collect();
        let (backward, operands) = compile(&gradient.graph, &roots, place, width);
        let stores = |scope: Scope| {
            let of_scope = rule.inputs().iter().enumerate().filter(move |(_, input)| input.scope == scope);
            let store = of_scope.map(|(index, input)| Store {
                from: gradient.inputs[index].and_then(|node| operands[node.0]),
                to: inputs.slot(index),
                width: width(input.kind),
            });
            store.collect::<Vec<Store>>()
        };
        Program { forward, steps, backward, d_token: stores(Scope::Token), d_heads: stores(Scope::Head) }
    }

    /// Scratch of the right size.
    pub fn scratch<F: Float>(&self) -> Scratch<F> {
        Scratch { floats: vec![F::zero(); self.forward.scratch.max(self.backward.scratch)] }
    }

    /// One row of packed inputs, and one row of each head-scope input in order, to one row of packed steps. Padding is left
    /// as it is. Panics if a row is shorter than its layout.
    pub fn forward<F: Float>(&self, token: &[F], heads: &[&[F]], steps: &mut [F], scratch: &mut Scratch<F>) {
        let floats = self.forward.run(token, heads, &[], scratch);
        for store in &self.steps {
            store.write(steps, token, heads, &[], floats, |slot, x| *slot = x);
        }
    }

    /// One row of gradients of packed steps to gradients of the packed inputs (set) and of head-scope inputs (added, packed by
    /// [`crate::InputLayout::slot`]).
    pub fn backward<F: Float>(
        &self,
        token: &[F],
        heads: &[&[F]],
        d_steps: &[F],
        d_token: &mut [F],
        d_heads: &mut [F],
        scratch: &mut Scratch<F>,
    ) {
        let floats = self.backward.run(token, heads, d_steps, scratch);
        for store in &self.d_token {
            store.write(d_token, token, heads, d_steps, floats, |slot, x| *slot = x);
        }
        for store in &self.d_heads {
            store.write(d_heads, token, heads, d_steps, floats, |slot, x| *slot = *slot + x);
        }
    }
}

impl Store {
    fn write<F: Float>(&self, row: &mut [F], token: &[F], heads: &[&[F]], d_steps: &[F], floats: &[F], put: impl Fn(&mut F, F)) {
        let row = &mut row[self.to..self.to + self.width];
        match self.from.map(|from| from.slice(token, heads, d_steps, floats)) {
            None => row.iter_mut().for_each(|slot| put(slot, F::zero())),
            Some([x]) => row.iter_mut().for_each(|slot| put(slot, *x)),
            Some(values) => row.iter_mut().zip(values).for_each(|(slot, x)| put(slot, *x)),
        }
    }
}

impl Operand {
    fn slice<'a, F>(&self, token: &'a [F], heads: &[&'a [F]], d_steps: &'a [F], floats: &'a [F]) -> &'a [F] {
        match self.place {
            Place::Token(at) => &token[at..at + self.width],
            Place::Head(index) => &heads[index][..self.width],
            Place::Incoming(at) => &d_steps[at..at + self.width],
            Place::Scratch(at) => &floats[at..at + self.width],
        }
    }
}

impl Code {
    fn run<'a, F: Float>(&self, token: &[F], heads: &[&[F]], d_steps: &[F], scratch: &'a mut Scratch<F>) -> &'a [F] {
        if scratch.floats.len() < self.scratch {
            scratch.floats.resize(self.scratch, F::zero());
        }
        for instruction in &self.instructions {
            // operands were computed earlier, hence lie below
            let (below, above) = scratch.floats.split_at_mut(instruction.out);
            let out = &mut above[..instruction.width];
            let a = instruction.a.slice(token, heads, d_steps, below);
            match instruction.action {
                Action::Number(number) => out[0] = F::from(number).unwrap_or_else(F::nan),
                Action::Neg => unary(out, a, |x| -x),
                Action::Sigmoid => unary(out, a, sigmoid),
                Action::Exp => unary(out, a, F::exp),
                Action::Sum => out[0] = a.iter().fold(F::zero(), |sum, &x| sum + x),
                Action::Dot => out[0] = dot(a, instruction.b.slice(token, heads, d_steps, below)),
                Action::Add => binary(out, a, instruction.b.slice(token, heads, d_steps, below), |x, y| x + y),
                Action::Mul => binary(out, a, instruction.b.slice(token, heads, d_steps, below), |x, y| x * y),
            }
        }
        &scratch.floats
    }
}

/// Without overflow at either end.
fn sigmoid<F: Float>(x: F) -> F {
    let small = (-x.abs()).exp();
    (if x < F::zero() { small } else { F::one() }) / (F::one() + small)
}

/// Partial sums that SIMD can hold.
const SUMS: usize = 8;

/// Sum of products, in an order that does not depend on the machine.
fn dot<F: Float>(a: &[F], b: &[F]) -> F {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<SUMS>(), b.as_chunks::<SUMS>());
    let mut sums = [F::zero(); SUMS];
    for (a, b) in a.iter().zip(b) {
        for j in 0..SUMS {
            sums[j] = sums[j] + a[j] * b[j];
        }
    }
    let whole = sums.iter().fold(F::zero(), |sum, &x| sum + x);
    a_rest.iter().zip(b_rest).fold(whole, |sum, (&x, &y)| sum + x * y)
}

fn unary<F: Float>(out: &mut [F], a: &[F], f: impl Fn(F) -> F) {
    out.iter_mut().zip(a).for_each(|(out, &x)| *out = f(x));
}

/// Elementwise, with a lone scalar met by every element.
fn binary<F: Float>(out: &mut [F], a: &[F], b: &[F], f: impl Fn(F, F) -> F) {
    match (a, b) {
        ([x], _) => out.iter_mut().zip(b).for_each(|(out, &y)| *out = f(*x, y)),
        (_, [y]) => out.iter_mut().zip(a).for_each(|(out, &x)| *out = f(x, *y)),
        _ => out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (&x, &y))| *out = f(x, y)),
    }
}

/// Instructions for the roots of a graph, and each needed node's operand.
fn compile(graph: &Graph, roots: &[NodeId], place: impl Fn(usize) -> Place, width: impl Fn(Kind) -> usize) -> (Code, Vec<Option<Operand>>) {
    let needed = graph.reachable(roots.iter().copied());
    let mut code = Code { instructions: Vec::new(), scratch: 0 };
    let mut operands: Vec<Option<Operand>> = vec![None; graph.len()];
    // stands for the missing operand of unary actions; never read
    let unused = Operand { place: Place::Token(0), width: 0 };
    for index in (0..graph.len()).filter(|&index| needed[index]) {
        let (node, width) = (graph.node(NodeId(index)), width(graph.kind(NodeId(index))));
        let action = match node {
            Node::Input(input) => {
                operands[index] = Some(Operand { place: place(input), width });
                continue;
            }
            Node::Incoming(slot) => {
                operands[index] = Some(Operand { place: Place::Incoming(slot), width });
                continue;
            }
            Node::Number(number) => Action::Number(number),
            Node::Add(..) => Action::Add,
            Node::Mul(..) => Action::Mul,
            Node::Neg(_) => Action::Neg,
            Node::Sigmoid(_) => Action::Sigmoid,
            Node::Exp(_) => Action::Exp,
            Node::Dot(..) => Action::Dot,
            Node::Sum(_) => Action::Sum,
        };
        let [a, b] = node.operands().map(|id| id.and_then(|id| operands[id.0]).unwrap_or(unused));
        code.instructions.push(Instruction { action, a, b, out: code.scratch, width });
        operands[index] = Some(Operand { place: Place::Scratch(code.scratch), width });
        code.scratch += width;
    }
    (code, operands)
}
