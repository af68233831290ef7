//! Statements to a typed graph.

use crate::declaration::declaration;
use crate::error::Fault;
use crate::graph::{Graph, Kind, Node, NodeId, Scope};
use crate::rule::{Input, Source, StepParts};
use crate::syntax::{Expression, Form, PARTS, Placed, Statement};
use crate::token::Span;
use std::collections::HashMap;

/// Most steps of a rule: kernels unroll them.
const MOST_STEPS: usize = 4;
/// Most head-scope inputs: each is a storage buffer beside four others, and portable devices bind eight.
const MOST_HEAD_INPUTS: usize = 4;
/// Most dot products: each is a sum over lanes.
const MOST_DOTS: usize = 32;
/// Functions of expressions.
const FUNCTIONS: [&str; 3] = ["dot", "exp", "sigmoid"];

/// A typed rule.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub(crate) graph: Graph,
    pub(crate) inputs: Vec<Input>,
    pub(crate) steps: Vec<StepParts>,
    pub(crate) roots: Vec<[Option<NodeId>; 4]>,
}

/// Lowers statements; the symbols in `cuts` become inputs.
pub(crate) fn lower(statements: &[Placed], cuts: &[&str]) -> Result<Lowered, Fault> {
    // what a cut leaves unused is found by lowering once with every input, and again without the unused ones
    let first = Lowering::run(statements, cuts, None)?;
    let needed = first.graph.reachable(first.roots.iter().flatten().copied().flatten());
    let used = |id: NodeId| needed[id.0];
    let kept: Vec<String> = first.inputs.iter().filter(|(_, node, _)| used(*node)).map(|(input, ..)| input.name.clone()).collect();
    for (input, node, span) in first.inputs.iter().skip(BUILT_IN) {
        if !used(*node) && cuts.is_empty() {
            return Err(Fault::new(*span, format!("'{}', which no step uses", input.name), "a step that depends on it"));
        }
    }
    let lowering = Lowering::run(statements, cuts, Some(&kept))?;
    if let Some((input, _, span)) = lowering.inputs.iter().filter(|(input, ..)| input.scope == Scope::Head).nth(MOST_HEAD_INPUTS) {
        let found = format!("'{}', one input per head more", input.name);
        return Err(Fault::new(*span, found, format!("at most {MOST_HEAD_INPUTS} of them")));
    }
    Ok(lowering.finish())
}

/// q, k and v are always inputs.
const BUILT_IN: usize = 3;

struct Lowering<'a> {
    cuts: &'a [&'a str],
    kept: Option<&'a [String]>,
    graph: Graph,
    inputs: Vec<(Input, NodeId, Span)>,
    /// Scopes of declared inputs that nothing needs; their nodes count down from the largest index.
    dropped: Vec<Scope>,
    symbols: HashMap<String, NodeId>,
    steps: Vec<StepParts>,
    roots: Vec<[Option<NodeId>; 4]>,
    dots: usize,
    decays: bool,
}

impl<'a> Lowering<'a> {
    fn run(statements: &[Placed], cuts: &'a [&'a str], kept: Option<&'a [String]>) -> Result<Self, Fault> {
        let mut lowering = Lowering {
            cuts,
            kept,
            graph: Graph::default(),
            inputs: Vec::new(),
            dropped: Vec::new(),
            symbols: HashMap::new(),
            steps: Vec::new(),
            roots: Vec::new(),
            dots: 0,
            decays: false,
        };
        let nowhere = Span { start: 0, end: 0 };
        for (name, label, kind, source) in
            [("q", "query", Kind::Key, Source::Query), ("k", "key", Kind::Key, Source::Key), ("v", "value", Kind::Value, Source::Value)]
        {
            let input = Input { name: name.to_owned(), label: label.to_owned(), kind, scope: Scope::Token, source };
            lowering.declare(input, nowhere);
        }
        for (statement, span) in statements {
            lowering.statement(statement, *span)?;
        }
        if lowering.steps.is_empty() {
            let end = statements.last().map_or(nowhere, |(_, span)| *span);
            return Err(Fault::new(end, "no step", "at least one line: step key k, write v"));
        }
        let unknown = cuts.iter().find(|cut| !lowering.symbols.contains_key(**cut));
        if let Some(cut) = unknown {
            let valid = lowering.known();
            return Err(Fault::new(nowhere, format!("no symbol '{cut}' to cut at"), format!("one of {valid}")));
        }
        Ok(lowering)
    }

    fn finish(self) -> Lowered {
        let inputs = self.inputs.into_iter().map(|(input, ..)| input).collect();
        Lowered { graph: self.graph, inputs, steps: self.steps, roots: self.roots }
    }

    fn declare(&mut self, input: Input, span: Span) {
        // an input that nothing needs keeps its symbol, so that the text still types, but takes no place
        let index = self.inputs.len();
        let kept = index < BUILT_IN || self.kept.is_none_or(|kept| kept.contains(&input.name));
        let node = self.graph.input(if kept { index } else { usize::MAX - self.dropped.len() }, input.kind);
        self.symbols.insert(input.name.clone(), node);
        if kept {
            self.inputs.push((input, node, span));
        } else {
            self.dropped.push(input.scope);
        }
    }

    fn statement(&mut self, statement: &Statement, span: Span) -> Result<(), Fault> {
        match statement {
            Statement::Heading { .. } | Statement::Order(_) | Statement::Default => Ok(()),
            Statement::Declare { name, what, at, arguments, label } => {
                self.fresh(name, span)?;
                let (kind, scope, source) = declaration(what, *at, arguments)?;
                // a layer names its decay's tensors by what they are, so that there is one
                if source == Source::Decay && self.decays {
                    return Err(Fault::new(*at, "a second decay", "one decay in a rule"));
                }
                self.decays |= source == Source::Decay;
                let label = label.clone().unwrap_or_default();
                self.declare(Input { name: name.clone(), label, kind, scope, source }, span);
                Ok(())
            }
            Statement::Define { name, value } => {
                self.fresh(name, span)?;
                let node = self.expression(value)?;
                if self.cuts.contains(&name.as_str()) {
                    let (kind, scope) = (self.graph.kind(node), self.scope(node));
                    self.declare(Input { name: name.clone(), label: String::new(), kind, scope, source: Source::Cut }, span);
                } else {
                    self.symbols.insert(name.clone(), node);
                }
                Ok(())
            }
            Statement::Step { parts } => self.step(parts, span),
        }
    }

    fn fresh(&self, name: &str, span: Span) -> Result<(), Fault> {
        let taken = self.symbols.contains_key(name) || FUNCTIONS.contains(&name);
        if taken { Err(Fault::new(span, format!("'{name}' again"), "a new name")) } else { Ok(()) }
    }

    /// Head scope if every input below is.
    fn scope(&self, node: NodeId) -> Scope {
        let needed = self.graph.reachable([node]);
        let per_token = (0..=node.0).filter(|&index| needed[index]).any(|index| match self.graph.node(NodeId(index)) {
            Node::Input(input) => {
                let dropped = || self.dropped.get(usize::MAX - input).copied();
                self.inputs.get(input).map(|(input, ..)| input.scope).or_else(dropped) == Some(Scope::Token)
            }
            _ => false,
        });
        if per_token { Scope::Token } else { Scope::Head }
    }

    /// Every name so far, for messages.
    fn known(&self) -> String {
        let mut known: Vec<&str> = self.symbols.keys().map(String::as_str).collect();
        known.sort_unstable();
        known.join(", ")
    }

    fn step(&mut self, parts: &[(String, Span, Expression)], span: Span) -> Result<(), Fault> {
        if self.steps.len() == MOST_STEPS {
            return Err(Fault::new(span, "one step more", format!("at most {MOST_STEPS} steps")));
        }
        let mut roots = [None; 4];
        for (part, at, expression) in parts {
            let node = self.expression(expression)?;
            let kind = self.graph.kind(node);
            let (valid, wanted): (&[Kind], _) = match part.as_str() {
                "decay" => (&[Kind::Scalar, Kind::Key], "a scalar or a key vector"),
                "write" => (&[Kind::Value], "a value vector"),
                _ => (&[Kind::Key], "a key vector"),
            };
            if !valid.contains(&kind) {
                return Err(Fault::new(expression.span, kind.describe(), format!("{wanted} after '{part}'")));
            }
            for (name, root) in PARTS.iter().zip(&mut roots) {
                if name == part && root.replace(node).is_some() {
                    return Err(Fault::new(*at, format!("a second '{part}'"), "each part of a step once"));
                }
            }
        }
        let [decay, key, erase, write] = roots;
        if key.is_none() {
            return Err(Fault::new(span, "a step without 'key'", "the address of the edit: key k"));
        }
        let decay = decay.map(|node| self.graph.kind(node));
        self.steps.push(StepParts { decay, erase: erase.is_some(), write: write.is_some() });
        self.roots.push(roots);
        Ok(())
    }

    fn expression(&mut self, expression: &Expression) -> Result<NodeId, Fault> {
        let node = self.value(expression)?;
        match self.graph.node(node) {
            Node::Number(number) if !(number as f32).is_finite() => {
                Err(Fault::new(expression.span, "a number too large for 32 bits", "at most 3.4e38"))
            }
            _ => Ok(node),
        }
    }

    fn value(&mut self, expression: &Expression) -> Result<NodeId, Fault> {
        match &expression.form {
            Form::Number(number) => Ok(self.graph.number(*number)),
            Form::Name(name) => self
                .symbols
                .get(name)
                .copied()
                .ok_or_else(|| Fault::new(expression.span, format!("the unknown name '{name}'"), format!("one of {}", self.known()))),
            Form::Negative(inner) => {
                let inner = self.expression(inner)?;
                Ok(self.graph.neg(inner))
            }
            Form::Binary(sign, left, right) => {
                let (a, b) = (self.expression(left)?, self.expression(right)?);
                self.same_kind(a, b, right.span, *sign)?;
                Ok(match sign {
                    '*' => self.graph.mul(a, b),
                    '-' => {
                        let minus = self.graph.neg(b);
                        self.graph.add(a, minus)
                    }
                    _ => self.graph.add(a, b),
                })
            }
            Form::Call(name, arguments) => self.call(name, arguments, expression.span),
        }
    }

    fn same_kind(&self, a: NodeId, b: NodeId, at: Span, sign: char) -> Result<(), Fault> {
        let (a, b) = (self.graph.kind(a), self.graph.kind(b));
        if a == b || a == Kind::Scalar || b == Kind::Scalar {
            return Ok(());
        }
        Err(Fault::new(at, b.describe(), format!("{} or a scalar, to match the left of '{sign}'", a.describe())))
    }

    fn call(&mut self, name: &str, arguments: &[Expression], span: Span) -> Result<NodeId, Fault> {
        let wanted = match name {
            "dot" => 2,
            "sigmoid" | "exp" => 1,
            _ => return Err(Fault::new(span, format!("the unknown function '{name}'"), format!("one of {}", FUNCTIONS.join(", ")))),
        };
        if arguments.len() != wanted {
            let found = if arguments.len() == 1 { "one argument".to_owned() } else { format!("{} arguments", arguments.len()) };
            return Err(Fault::new(span, format!("{found} for '{name}'"), wanted.to_string()));
        }
        let a = self.expression(&arguments[0])?;
        match name {
            "sigmoid" => return Ok(self.graph.sigmoid(a)),
            "exp" => return Ok(self.graph.exp(a)),
            _ => {}
        }
        let b = self.expression(&arguments[1])?;
        self.dots += 1;
        if self.dots > MOST_DOTS {
            return Err(Fault::new(span, "one dot product more", format!("at most {MOST_DOTS}")));
        }
        let (first, second) = (self.graph.kind(a), self.graph.kind(b));
        if first == Kind::Scalar {
            return Err(Fault::new(arguments[0].span, first.describe(), "a vector, for a dot product"));
        }
        if first != second {
            return Err(Fault::new(arguments[1].span, second.describe(), format!("{}, for a dot product", first.describe())));
        }
        Ok(self.graph.dot(a, b))
    }
}
