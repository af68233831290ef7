//! A rule's map and its gradient as WGSL.
//!
//! Vectors are never stored: an element of a vector depends on elements at the same index and on scalars only. So the text is a
//! row of phases, each a loop that adds up the dot products which are ready, a sum over the lanes, and last a loop that stores.

use crate::gradient::{differentiate, outputs};
use crate::graph::{Graph, Kind, Node, NodeId};
use crate::{Input, Rule, Scope};
use std::fmt::Write;

/// Where a root's value goes.
struct Store {
    node: Option<NodeId>,
    kind: Kind,
    /// The left side without its index, as `steps[row * 64u + 4u`.
    target: String,
}

impl Rule {
    /// WGSL `fn rule_map(row: u32, head: u32, lane: u32)`: one row of `inputs` and of each `head_<name>` to one row of `steps`,
    /// for K = `key` and V = `value`.
    ///
    /// `lanes` invocations, at least 1, share a row. The text around it declares the arrays, `fn row_sum(x: f32, lane: u32) -> f32`,
    /// which adds over the lanes of a row, and `live`, which says whether to store. Sums are in uniform control flow, so that they
    /// may hold barriers.
    pub fn wgsl_map(&self, key: usize, value: usize, lanes: u32) -> String {
        let layout = self.step_layout(key, value);
        let store = |(node, kind, slot)| Store { node: Some(node), kind, target: format!("steps[row * {}u + {slot}u", layout.stride) };
        let stores: Vec<Store> = outputs(self, &layout).into_iter().map(store).collect();
        Emitter::new(self, self.graph(), key, value, lanes, layout.stride).function("rule_map", &stores)
    }

    /// WGSL `fn rule_map_gradient(row: u32, head: u32, lane: u32)`: one row of `d_steps` to one row of `d_inputs` and, with
    /// head-scope inputs, one row of `d_heads`, which is that token's share. Otherwise as [`Rule::wgsl_map`].
    pub fn wgsl_map_gradient(&self, key: usize, value: usize, lanes: u32) -> String {
        let (inputs, layout) = (self.input_layout(key, value), self.step_layout(key, value));
        let gradient = differentiate(self, &layout);
        let store = |(index, input): (usize, &Input)| {
            let (array, stride) = match input.scope {
                Scope::Token => ("d_inputs", inputs.stride),
                Scope::Head => ("d_heads", inputs.head_stride),
            };
            Store { node: gradient.inputs[index], kind: input.kind, target: format!("{array}[row * {stride}u + {}u", inputs.slot(index)) }
        };
        let stores: Vec<Store> = self.inputs().iter().enumerate().map(store).collect();
        Emitter::new(self, &gradient.graph, key, value, lanes, layout.stride).function("rule_map_gradient", &stores)
    }
}

struct Emitter<'a> {
    rule: &'a Rule,
    graph: &'a Graph,
    key: usize,
    value: usize,
    lanes: u32,
    step_stride: usize,
    text: String,
}

impl<'a> Emitter<'a> {
    fn new(rule: &'a Rule, graph: &'a Graph, key: usize, value: usize, lanes: u32, step_stride: usize) -> Self {
        Emitter { rule, graph, key, value, lanes, step_stride, text: String::new() }
    }

    fn function(mut self, name: &str, stores: &[Store]) -> String {
        let needed = self.graph.reachable(stores.iter().filter_map(|store| store.node));
        let levels = self.levels();
        self.line(0, format_args!("fn {name}(row: u32, head: u32, lane: u32) {{"));
        let last = (0..self.graph.len()).filter(|&index| needed[index]).map(|index| levels[index]).max().unwrap_or(0);
        for level in 0..=last {
            self.scalars(level, &levels, &needed);
            self.reductions(level + 1, &levels, &needed);
        }
        self.store(stores);
        self.line(0, format_args!("}}"));
        self.text
    }

    fn line(&mut self, depth: usize, text: std::fmt::Arguments) {
        // writing to a String cannot fail
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(depth));
    }

    /// How many sums over lanes must come before each node is known.
    fn levels(&self) -> Vec<usize> {
        let mut levels = vec![0; self.graph.len()];
        for index in 0..levels.len() {
            let node = self.graph.node(NodeId(index));
            let below = node.operands().into_iter().flatten().map(|id| levels[id.0]).max().unwrap_or(0);
            levels[index] = below + usize::from(is_reduction(node));
        }
        levels
    }

    /// Scalars that are known once `level` rounds of sums are done.
    fn scalars(&mut self, level: usize, levels: &[usize], needed: &[bool]) {
        for index in 0..self.graph.len() {
            let id = NodeId(index);
            let node = self.graph.node(id);
            if needed[index] && levels[index] == level && self.graph.kind(id) == Kind::Scalar && !is_reduction(node) {
                let value = self.element(id);
                self.line(1, format_args!("let s{index} = {value};"));
            }
        }
    }

    /// The sums of one round, those over K in one loop and those over V in another.
    fn reductions(&mut self, level: usize, levels: &[usize], needed: &[bool]) {
        for kind in [Kind::Key, Kind::Value] {
            let ready = |index: &usize| {
                let node = self.graph.node(NodeId(*index));
                let over = node.operands()[0].map(|id| self.graph.kind(id));
                needed[*index] && levels[*index] == level && is_reduction(node) && over == Some(kind)
            };
            let ready: Vec<usize> = (0..self.graph.len()).filter(ready).collect();
            if ready.is_empty() {
                continue;
            }
            for index in &ready {
                self.line(1, format_args!("var p{index} = 0.0;"));
            }
            let operands: Vec<NodeId> = ready.iter().flat_map(|&index| self.graph.node(NodeId(index)).operands()).flatten().collect();
            self.open_loop(kind);
            self.vectors(&operands);
            for &index in &ready {
                let term = match self.graph.node(NodeId(index)) {
                    Node::Dot(a, b) => format!("{} * {}", self.name(a), self.name(b)),
                    Node::Sum(a) => self.name(a),
                    _ => continue,
                };
                self.line(2, format_args!("p{index} += {term};"));
            }
            self.line(1, format_args!("}}"));
            for index in ready {
                self.line(1, format_args!("let s{index} = row_sum(p{index}, lane);"));
            }
        }
    }

    fn open_loop(&mut self, kind: Kind) {
        let (width, lanes) = (kind.width(self.key, self.value), self.lanes);
        self.line(1, format_args!("for (var j = lane; j < {width}u; j += {lanes}u) {{"));
    }

    /// Elements at `j` of every vector that the given nodes need.
    fn vectors(&mut self, roots: &[NodeId]) {
        let mut wanted = vec![false; self.graph.len()];
        roots.iter().for_each(|root| wanted[root.0] = true);
        for index in (0..wanted.len()).rev() {
            if wanted[index] && self.graph.kind(NodeId(index)) != Kind::Scalar {
                self.graph.node(NodeId(index)).operands().into_iter().flatten().for_each(|id| wanted[id.0] = true);
            }
        }
        for index in 0..wanted.len() {
            if wanted[index] && self.graph.kind(NodeId(index)) != Kind::Scalar {
                let value = self.element(NodeId(index));
                self.line(2, format_args!("let v{index} = {value};"));
            }
        }
    }

    fn store(&mut self, stores: &[Store]) {
        for kind in [Kind::Key, Kind::Value] {
            let of_kind: Vec<&Store> = stores.iter().filter(|store| store.kind == kind).collect();
            if of_kind.is_empty() {
                continue;
            }
            let roots: Vec<NodeId> = of_kind.iter().filter_map(|store| store.node).collect();
            self.open_loop(kind);
            self.vectors(&roots);
            self.line(2, format_args!("if (live) {{"));
            for store in of_kind {
                let value = store.node.map_or_else(|| "0.0".to_owned(), |node| self.name(node));
                self.line(3, format_args!("{} + j] = {value};", store.target));
            }
            self.line(2, format_args!("}}"));
            self.line(1, format_args!("}}"));
        }
        let scalars: Vec<&Store> = stores.iter().filter(|store| store.kind == Kind::Scalar).collect();
        if !scalars.is_empty() {
            self.line(1, format_args!("if (live && lane == 0u) {{"));
            for store in scalars {
                let value = store.node.map_or_else(|| "0.0".to_owned(), |node| self.name(node));
                self.line(2, format_args!("{}] = {value};", store.target));
            }
            self.line(1, format_args!("}}"));
        }
    }

    fn name(&self, id: NodeId) -> String {
        let letter = if self.graph.kind(id) == Kind::Scalar { 's' } else { 'v' };
        format!("{letter}{}", id.0)
    }

    /// A node's value at element `j` from its operands' names.
    fn element(&self, id: NodeId) -> String {
        let scalar = self.graph.kind(id) == Kind::Scalar;
        let at = |start: String| if scalar { format!("{start}]") } else { format!("{start} + j]") };
        match self.graph.node(id) {
            Node::Input(index) => self.input(index, at),
            Node::Incoming(slot) => at(format!("d_steps[row * {}u + {slot}u", self.step_stride)),
            Node::Number(number) => literal(number as f32),
            Node::Add(a, b) => format!("{} + {}", self.name(a), self.name(b)),
            Node::Mul(a, b) => format!("{} * {}", self.name(a), self.name(b)),
            Node::Neg(a) => format!("-{}", self.name(a)),
            // in this form nothing overflows, which WGSL would leave undefined
            Node::Sigmoid(a) => {
                let x = self.name(a);
                format!("select(exp(-abs({x})), 1.0, {x} >= 0.0) / (1.0 + exp(-abs({x})))")
            }
            Node::Exp(a) => format!("exp({})", self.name(a)),
            // reductions are summed over lanes, not evaluated at an element
            Node::Dot(..) | Node::Sum(_) => self.name(id),
        }
    }

    fn input(&self, index: usize, at: impl Fn(String) -> String) -> String {
        let input = &self.rule.inputs()[index];
        let layout = self.rule.input_layout(self.key, self.value);
        match input.scope {
            Scope::Token => at(format!("inputs[row * {}u + {}u", layout.stride, layout.slot(index))),
            Scope::Head => at(format!("head_{}[head * {}u", input.name, input.kind.width(self.key, self.value))),
        }
    }
}

fn is_reduction(node: Node) -> bool {
    matches!(node, Node::Dot(..) | Node::Sum(_))
}

/// A float literal that WGSL reads back exactly.
fn literal(number: f32) -> String {
    let text = format!("{number:?}");
    if number < 0.0 { format!("({text}f)") } else { format!("{text}f") }
}
