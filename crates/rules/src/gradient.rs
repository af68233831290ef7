//! Reverse-mode differentiation, as more nodes of the same graph.

use crate::graph::{Graph, Kind, Node, NodeId};
use crate::{Rule, StepLayout};

/// A rule's graph extended by the gradients of its inputs.
#[derive(Clone, Debug)]
pub(crate) struct Gradient {
    pub(crate) graph: Graph,
    /// For each input: its gradient, or `None` where nothing depends on it.
    pub(crate) inputs: Vec<Option<NodeId>>,
}

/// Differentiates a rule. Incoming gradients are named by their offset in a packed row of steps; the query passes through.
pub(crate) fn differentiate(rule: &Rule, layout: &StepLayout) -> Gradient {
    let mut reverse = Reverse { graph: rule.graph().clone(), adjoints: Vec::new() };
    reverse.adjoints.resize(reverse.graph.len(), None);
    let forward_len = reverse.graph.len();
    for (root, kind, slot) in outputs(rule, layout) {
        let incoming = reverse.graph.incoming(slot, kind);
        reverse.contribute(root, incoming);
    }
    for index in (0..forward_len).rev() {
        if let Some(adjoint) = reverse.adjoints[index] {
            reverse.propagate(NodeId(index), adjoint);
        }
    }
    let mut inputs = vec![None; rule.inputs().len()];
    for index in 0..forward_len {
        if let Node::Input(input) = reverse.graph.node(NodeId(index))
            && let Some(slot) = inputs.get_mut(input)
        {
            *slot = reverse.adjoints[index];
        }
    }
    Gradient { graph: reverse.graph, inputs }
}

/// What a rule stores in a row of steps: node, kind at the slot, offset. The first is the query.
pub(crate) fn outputs(rule: &Rule, layout: &StepLayout) -> Vec<(NodeId, Kind, usize)> {
    // the query is input 0, hence node 0
    let mut outputs = vec![(NodeId(0), Kind::Key, layout.query)];
    for (roots, slots) in rule.roots().iter().zip(&layout.steps) {
        let [decay, key, erase, write] = *roots;
        outputs.extend(decay.zip(slots.decay).map(|(node, (slot, kind))| (node, kind, slot)));
        outputs.extend(key.map(|node| (node, Kind::Key, slots.key)));
        outputs.extend(erase.zip(slots.erase).map(|(node, slot)| (node, Kind::Key, slot)));
        outputs.extend(write.zip(slots.write).map(|(node, slot)| (node, Kind::Value, slot)));
    }
    outputs
}

struct Reverse {
    graph: Graph,
    adjoints: Vec<Option<NodeId>>,
}

impl Reverse {
    fn contribute(&mut self, to: NodeId, adjoint: NodeId) {
        let sum = match self.adjoints[to.0] {
            Some(sum) => self.graph.add(sum, adjoint),
            None => adjoint,
        };
        self.adjoints[to.0] = Some(sum);
    }

    /// `d * factor`, summed to a scalar where `to` was broadcast.
    fn contribute_product(&mut self, to: NodeId, d: NodeId, factor: NodeId) {
        let broadcast = self.graph.kind(to) == Kind::Scalar;
        let (vector_d, vector_factor) = (self.graph.kind(d) != Kind::Scalar, self.graph.kind(factor) != Kind::Scalar);
        let adjoint = match (broadcast, vector_d, vector_factor) {
            (true, true, true) => self.graph.dot(d, factor),
            (true, true, false) => {
                let sum = self.graph.sum(d);
                self.graph.mul(sum, factor)
            }
            _ => self.graph.mul(d, factor),
        };
        self.contribute(to, adjoint);
    }

    fn propagate(&mut self, id: NodeId, d: NodeId) {
        match self.graph.node(id) {
            Node::Input(_) | Node::Incoming(_) | Node::Number(_) => {}
            Node::Add(a, b) => {
                for operand in [a, b] {
                    let broadcast = self.graph.kind(operand) == Kind::Scalar && self.graph.kind(d) != Kind::Scalar;
                    let adjoint = if broadcast { self.graph.sum(d) } else { d };
                    self.contribute(operand, adjoint);
                }
            }
            Node::Mul(a, b) => {
                self.contribute_product(a, d, b);
                self.contribute_product(b, d, a);
            }
            Node::Neg(a) => {
                let adjoint = self.graph.neg(d);
                self.contribute(a, adjoint);
            }
            Node::Sigmoid(a) => {
                // s' = s (1 - s)
                let one = self.graph.number(1.0);
                let minus = self.graph.neg(id);
                let rest = self.graph.add(one, minus);
                let slope = self.graph.mul(id, rest);
                let adjoint = self.graph.mul(d, slope);
                self.contribute(a, adjoint);
            }
            Node::Exp(a) => {
                let adjoint = self.graph.mul(d, id);
                self.contribute(a, adjoint);
            }
            Node::Dot(a, b) => {
                let (da, db) = (self.graph.mul(b, d), self.graph.mul(a, d));
                self.contribute(a, da);
                self.contribute(b, db);
            }
            // sums arise only while differentiating: a rule text cannot write one
            Node::Sum(_) => {}
        }
    }
}
