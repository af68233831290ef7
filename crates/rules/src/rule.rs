//! A parsed and typed rule.

use crate::error::{Fault, RuleError};
use crate::graph::{Graph, Kind, NodeId, Scope};
use crate::lower::{Lowered, lower};
use crate::syntax::{Placed, Statement, parse};
use crate::token::Span;

/// Where the layer takes an input from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The unit query `q`.
    Query,
    /// The unit key `k`.
    Key,
    /// The value `v`.
    Value,
    /// A log-decay `g <= 0`.
    Decay,
    /// A sigmoid of a projection plus a bias that starts here.
    Gate {
        /// First value of the bias.
        bias: f32,
    },
    /// A unit vector from a low-rank projection of this rank per head.
    Direction {
        /// Rank per head.
        rank: usize,
    },
    /// Learned numbers per head.
    Parameter {
        /// First value.
        init: f32,
        /// Multiplier on the learning rate.
        rate: f32,
        /// Whether weight decay applies.
        weight_decay: bool,
    },
    /// A fixed random unit vector per head.
    Fixed,
    /// Given from outside: a symbol at which the rule was cut.
    Cut,
}

/// Something a rule reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its symbol.
    pub name: String,
    /// What it is called, as `erase gate`; empty when the rule does not say.
    pub label: String,
    /// Scalar, K-vector or V-vector.
    pub kind: Kind,
    /// Per token or per head.
    pub scope: Scope,
    /// Where it comes from.
    pub source: Source,
}

/// Which parts a step has. Every step has a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepParts {
    /// Log-decay before the edit: absent, per head, or per channel.
    pub decay: Option<Kind>,
    /// Whether something is erased.
    pub erase: bool,
    /// Whether something is written.
    pub write: bool,
}

/// An update rule.
#[derive(Clone, Debug)]
pub struct Rule {
    slug: String,
    name: String,
    cites: String,
    about: String,
    order: f64,
    default: bool,
    source: String,
    statements: Vec<Placed>,
    cuts: Vec<String>,
    lowered: Lowered,
}

impl Rule {
    /// Parses and types a rule text. The error is one line with line, column, what was found and what was expected.
    pub fn parse(slug: &str, source: &str) -> Result<Rule, RuleError> {
        Rule::build(slug, source, &[]).map_err(|fault| fault.locate(slug, source))
    }

    fn build(slug: &str, source: &str, cuts: &[&str]) -> Result<Rule, Fault> {
        let statements = parse(source)?;
        check_headings(&statements)?;
        let lowered = lower(&statements, cuts)?;
        let heading = |wanted: &str| {
            statements.iter().find_map(|(statement, _)| match statement {
                Statement::Heading { word, text } if word == wanted => Some(text.clone()),
                _ => None,
            })
        };
        let Some(name) = heading("rule") else {
            let start = Span { start: 0, end: 0 };
            return Err(Fault::new(start, "no name", "a line: rule \"...\""));
        };
        let order = statements.iter().find_map(|(statement, _)| match statement {
            Statement::Order(order) => Some(*order),
            _ => None,
        });
        Ok(Rule {
            slug: slug.to_owned(),
            name,
            cites: heading("cites").unwrap_or_default(),
            about: heading("about").unwrap_or_default(),
            order: order.unwrap_or(f64::MAX),
            default: statements.iter().any(|(statement, _)| *statement == Statement::Default),
            source: source.to_owned(),
            statements,
            cuts: cuts.iter().map(|cut| (*cut).to_owned()).collect(),
            lowered,
        })
    }

    /// The same rule with the named symbols given from outside. What only fed them is no longer an input.
    /// A symbol that depends on head-scope inputs only is cut at head scope. Earlier cuts stay.
    pub fn cut(&self, names: &[&str]) -> Result<Rule, RuleError> {
        let cuts: Vec<&str> = self.cuts.iter().map(String::as_str).chain(names.iter().copied()).collect();
        Rule::build(&self.slug, &self.source, &cuts).map_err(|fault| fault.locate(&self.slug, &self.source))
    }

    /// Short name for links and files.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// Name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Paper and equation.
    pub fn cites(&self) -> &str {
        &self.cites
    }

    /// One sentence.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The whole text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Place in lists, smallest first.
    pub fn order(&self) -> f64 {
        self.order
    }

    /// Whether the rule asks to be the first choice.
    pub fn is_default(&self) -> bool {
        self.default
    }

    /// What it reads: query, key, value, then the rest in the order of the text.
    pub fn inputs(&self) -> &[Input] {
        &self.lowered.inputs
    }

    /// Its rank-one steps.
    pub fn steps(&self) -> &[StepParts] {
        &self.lowered.steps
    }

    /// Definitions and steps as they stand in the text, comments left out.
    pub fn equations(&self) -> Vec<String> {
        let equation = |(statement, span): &Placed| match statement {
            Statement::Heading { .. } | Statement::Order(_) | Statement::Default => None,
            _ => {
                let line = self.source[span.start..].lines().next().unwrap_or_default();
                let line = line.split('#').next().unwrap_or_default();
                Some(line.split('"').next().unwrap_or_default().trim_end().to_owned())
            }
        };
        self.statements.iter().filter_map(equation).collect()
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.lowered.graph
    }

    /// Nodes of a step's parts: decay, key, erase, write.
    pub(crate) fn roots(&self) -> &[[Option<NodeId>; 4]] {
        &self.lowered.roots
    }
}

/// Each heading at most once.
fn check_headings(statements: &[Placed]) -> Result<(), Fault> {
    let word = |statement: &Statement| match statement {
        Statement::Heading { word, .. } => Some(word.clone()),
        Statement::Order(_) => Some("order".to_owned()),
        Statement::Default => Some("default".to_owned()),
        _ => None,
    };
    for (index, (statement, span)) in statements.iter().enumerate() {
        let Some(found) = word(statement) else { continue };
        if statements[..index].iter().any(|(earlier, _)| word(earlier).is_some_and(|earlier| earlier == found)) {
            return Err(Fault::new(*span, format!("a second '{found}'"), "each heading once"));
        }
    }
    Ok(())
}
