//! A rule's definitions as a graph of small vector algebra.

use std::collections::HashMap;

/// What a value holds, for one head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One number.
    Scalar,
    /// K numbers.
    Key,
    /// V numbers.
    Value,
}

impl Kind {
    /// Number of elements.
    pub fn width(self, key: usize, value: usize) -> usize {
        match self {
            Kind::Scalar => 1,
            Kind::Key => key,
            Kind::Value => value,
        }
    }

    /// How an error names it.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Kind::Scalar => "a scalar",
            Kind::Key => "a key vector",
            Kind::Value => "a value vector",
        }
    }
}

/// Whether a value differs from token to token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `[B, T, H, .]`
    Token,
    /// `[H, .]`
    Head,
}

/// Index of a node. Operands always have smaller indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) usize);

/// What a node computes. Scalars broadcast against vectors in `Add` and `Mul`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node {
    /// A rule input, by index.
    Input(usize),
    /// The gradient that arrives at a slot of the packed steps, by the slot's offset.
    Incoming(usize),
    /// A number.
    Number(f64),
    Add(NodeId, NodeId),
    Mul(NodeId, NodeId),
    Neg(NodeId),
    Sigmoid(NodeId),
    Exp(NodeId),
    /// Sum of products of two vectors of one kind.
    Dot(NodeId, NodeId),
    /// Sum of a vector's elements.
    Sum(NodeId),
}

impl Node {
    /// Operands, in order.
    pub(crate) fn operands(self) -> [Option<NodeId>; 2] {
        match self {
            Node::Input(_) | Node::Incoming(_) | Node::Number(_) => [None, None],
            Node::Add(a, b) | Node::Mul(a, b) | Node::Dot(a, b) => [Some(a), Some(b)],
            Node::Neg(a) | Node::Sigmoid(a) | Node::Exp(a) | Node::Sum(a) => [Some(a), None],
        }
    }
}

/// Nodes in order of computation; equal nodes are one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<(Node, Kind)>,
    known: HashMap<(u8, u64, usize, Kind), NodeId>,
}

impl Graph {
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0].0
    }

    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        self.nodes[id.0].1
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn number(&mut self, number: f64) -> NodeId {
        self.push(Node::Number(number), Kind::Scalar)
    }

    pub(crate) fn input(&mut self, index: usize, kind: Kind) -> NodeId {
        self.push(Node::Input(index), kind)
    }

    pub(crate) fn incoming(&mut self, slot: usize, kind: Kind) -> NodeId {
        self.push(Node::Incoming(slot), kind)
    }

    pub(crate) fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.node(a), self.node(b)) {
            (Node::Number(x), Node::Number(y)) => self.number(x + y),
            (Node::Number(0.0), _) => b,
            (_, Node::Number(0.0)) => a,
            _ => self.push(Node::Add(a, b), self.joined(a, b)),
        }
    }

    pub(crate) fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.node(a), self.node(b)) {
            (Node::Number(x), Node::Number(y)) => self.number(x * y),
            (Node::Number(1.0), _) => b,
            (_, Node::Number(1.0)) => a,
            _ => self.push(Node::Mul(a, b), self.joined(a, b)),
        }
    }

    pub(crate) fn neg(&mut self, a: NodeId) -> NodeId {
        match self.node(a) {
            Node::Number(x) => self.number(-x),
            Node::Neg(inner) => inner,
            _ => self.push(Node::Neg(a), self.kind(a)),
        }
    }

    pub(crate) fn sigmoid(&mut self, a: NodeId) -> NodeId {
        match self.node(a) {
            Node::Number(x) => self.number(1.0 / (1.0 + (-x).exp())),
            _ => self.push(Node::Sigmoid(a), self.kind(a)),
        }
    }

    pub(crate) fn exp(&mut self, a: NodeId) -> NodeId {
        self.push(Node::Exp(a), self.kind(a))
    }

    pub(crate) fn dot(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.push(Node::Dot(a, b), Kind::Scalar)
    }

    pub(crate) fn sum(&mut self, a: NodeId) -> NodeId {
        self.push(Node::Sum(a), Kind::Scalar)
    }

    /// The kind of an elementwise result: a scalar takes the other's kind.
    fn joined(&self, a: NodeId, b: NodeId) -> Kind {
        if self.kind(a) == Kind::Scalar { self.kind(b) } else { self.kind(a) }
    }

    fn push(&mut self, node: Node, kind: Kind) -> NodeId {
        let (a, b) = (node.operands()[0].map_or(0, |id| id.0 as u64), node.operands()[1].map_or(0, |id| id.0));
        let key = match node {
            Node::Input(index) => (0, index as u64, 0, kind),
            Node::Incoming(slot) => (1, slot as u64, 0, kind),
            Node::Number(number) => (2, number.to_bits(), 0, kind),
            Node::Add(..) => (3, a, b, kind),
            Node::Mul(..) => (4, a, b, kind),
            Node::Neg(_) => (5, a, b, kind),
            Node::Sigmoid(_) => (6, a, b, kind),
            Node::Dot(..) => (7, a, b, kind),
            Node::Sum(_) => (8, a, b, kind),
            Node::Exp(_) => (9, a, b, kind),
        };
        let fresh = NodeId(self.nodes.len());
        let id = *self.known.entry(key).or_insert(fresh);
        if id == fresh {
            self.nodes.push((node, kind));
        }
        id
    }

    /// Which nodes the given ones need, themselves included.
    pub(crate) fn reachable(&self, roots: impl IntoIterator<Item = NodeId>) -> Vec<bool> {
        let mut needed = vec![false; self.len()];
        roots.into_iter().for_each(|root| needed[root.0] = true);
        for index in (0..self.len()).rev() {
            if needed[index] {
                self.nodes[index].0.operands().into_iter().flatten().for_each(|id| needed[id.0] = true);
            }
        }
        needed
    }
}
