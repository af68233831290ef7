//! Statements to a typed graph.

use crate::error::Fault;
use crate::graph::{Graph, Node, NodeId};
use crate::syntax::{Argument, Expression, Form, Placed, Statement};
use crate::token::Span;
use crate::{Input, Kind, Scope, Source, StepParts};
use std::collections::HashMap;

/// Most steps of a rule: kernels unroll them.
const MOST_STEPS: usize = 4;

/// Parts of a step, in the order they are packed.
const PARTS: [&str; 4] = ["decay", "key", "erase", "write"];

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
    Lowering::run(statements, cuts, Some(&kept)).map(Lowering::finish)
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
            return Err(Fault::new(nowhere, format!("no symbol '{cut}' to cut at"), "a symbol that the rule defines"));
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
        let taken = self.symbols.contains_key(name) || ["dot", "sigmoid", "exp"].contains(&name);
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

    fn step(&mut self, parts: &[(String, Expression)], span: Span) -> Result<(), Fault> {
        if self.steps.len() == MOST_STEPS {
            return Err(Fault::new(span, "one step more", format!("at most {MOST_STEPS} steps")));
        }
        let mut roots = [None; 4];
        for (part, expression) in parts {
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
            let place = PARTS.iter().position(|name| name == part);
            place.into_iter().for_each(|place| roots[place] = Some(node));
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
        match &expression.form {
            Form::Number(number) => Ok(self.graph.number(*number)),
            Form::Name(name) => self.symbols.get(name).copied().ok_or_else(|| {
                let mut known: Vec<&str> = self.symbols.keys().map(String::as_str).collect();
                known.sort_unstable();
                Fault::new(expression.span, format!("the unknown name '{name}'"), format!("one of {}", known.join(", ")))
            }),
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
            _ => return Err(Fault::new(span, format!("the unknown function '{name}'"), "one of dot, exp, sigmoid")),
        };
        if arguments.len() != wanted {
            let found = format!("{} argument(s) for '{name}'", arguments.len());
            return Err(Fault::new(span, found, wanted.to_string()));
        }
        let a = self.expression(&arguments[0])?;
        match name {
            "sigmoid" => return Ok(self.graph.sigmoid(a)),
            "exp" => return Ok(self.graph.exp(a)),
            _ => {}
        }
        let b = self.expression(&arguments[1])?;
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

/// What a declaration asks for.
fn declaration(what: &str, at: Span, arguments: &[Argument]) -> Result<(Kind, Scope, Source), Fault> {
    let (first, rest) = (&arguments[0], &arguments[1..]);
    let word = first.words.join(" ");
    let wrong = |expected: &str| Err(Fault::new(first.span, format!("'{word}'"), expected));
    let none = |rest: &[Argument], valid: &str| match rest.first() {
        Some(extra) => Err(Fault::new(extra.span, format!("'{}'", extra.words.join(" ")), valid.to_owned())),
        None => Ok(()),
    };
    match what {
        "decay" => {
            none(rest, "one argument for decay")?;
            match word.as_str() {
                "channel" => Ok((Kind::Key, Scope::Token, Source::Decay)),
                "head" => Ok((Kind::Scalar, Scope::Token, Source::Decay)),
                _ => wrong("channel or head"),
            }
        }
        "gate" => {
            let kind = match word.as_str() {
                "scalar" => Kind::Scalar,
                "key" => Kind::Key,
                "value" => Kind::Value,
                _ => return wrong("scalar, key or value"),
            };
            let mut bias = 0.0;
            for argument in rest {
                match (argument.words.join(" ").as_str(), argument.number) {
                    ("bias", Some(number)) => bias = number as f32,
                    (other, _) => return Err(Fault::new(argument.span, format!("'{other}'"), "bias and a number")),
                }
            }
            Ok((kind, Scope::Token, Source::Gate { bias }))
        }
        "direction" => {
            none(rest, "one argument for direction")?;
            match (word.as_str(), first.number) {
                ("rank", Some(rank)) if (1.0..=128.0).contains(&rank) && rank.fract() == 0.0 => {
                    Ok((Kind::Key, Scope::Token, Source::Direction { rank: rank as usize }))
                }
                _ => wrong("rank and a whole number from 1 to 128"),
            }
        }
        "fixed" => {
            none(rest, "one argument for fixed")?;
            if word == "key" { Ok((Kind::Key, Scope::Head, Source::Fixed)) } else { wrong("key") }
        }
        "parameter" => {
            if word != "head" {
                return wrong("head");
            }
            let (mut init, mut rate, mut weight_decay) = (0.0, 1.0, true);
            for argument in rest {
                match (argument.words.join(" ").as_str(), argument.number) {
                    ("init", Some(number)) => init = number as f32,
                    ("rate", Some(number)) => rate = number as f32,
                    ("no weight decay", None) => weight_decay = false,
                    (other, _) => {
                        return Err(Fault::new(argument.span, format!("'{other}'"), "init N, rate N, or no weight decay"));
                    }
                }
            }
            Ok((Kind::Scalar, Scope::Head, Source::Parameter { init, rate, weight_decay }))
        }
        _ => Err(Fault::new(at, format!("'{what}'"), "decay, gate, direction, parameter or fixed")),
    }
}
