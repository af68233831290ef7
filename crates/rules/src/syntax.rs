//! Tokens to statements and expressions.

use crate::error::Fault;
use crate::token::{Span, Token};

/// Deepest nesting of an expression.
const DEEPEST: usize = 64;

/// An expression with the place it stands at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    pub(crate) span: Span,
    pub(crate) form: Form,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Number(f64),
    Name(String),
    Negative(Box<Expression>),
    Binary(char, Box<Expression>, Box<Expression>),
    Call(String, Vec<Expression>),
}

/// One argument of a declaration: words and numbers, as `bias -3`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    pub(crate) span: Span,
    pub(crate) words: Vec<String>,
    pub(crate) number: Option<f64>,
}

/// A line of a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// `rule "..."`, `cites "..."`, `about "..."`.
    Heading { word: String, text: String },
    /// `order 3`.
    Order(f64),
    /// `default`.
    Default,
    /// `name = decay(channel) "label"`.
    Declare { name: String, what: String, at: Span, arguments: Vec<Argument>, label: Option<String> },
    /// `name = expression`.
    Define { name: String, value: Expression },
    /// `step key k, erase a, write u`.
    Step { parts: Vec<(String, Expression)> },
}

/// A statement and where its first word stands.
pub(crate) type Placed = (Statement, Span);

/// Words that open a declaration.
pub(crate) const DECLARATIONS: [&str; 5] = ["decay", "gate", "direction", "parameter", "fixed"];

/// Statements of a text.
pub(crate) fn statements(tokens: &[(Token, Span)]) -> Result<Vec<Placed>, Fault> {
    let mut parser = Parser { tokens, at: 0 };
    let mut statements = Vec::new();
    loop {
        while parser.take_if(&Token::Newline) {}
        if parser.at == tokens.len() {
            return Ok(statements);
        }
        let span = parser.span();
        statements.push((parser.statement()?, span));
        if parser.at < tokens.len() && !parser.take_if(&Token::Newline) {
            return Err(parser.fault("an operator or the end of the line"));
        }
    }
}

struct Parser<'a> {
    tokens: &'a [(Token, Span)],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn span(&self) -> Span {
        let last = self.tokens.last().map_or(Span { start: 0, end: 0 }, |(_, span)| Span { start: span.end, end: span.end });
        self.tokens.get(self.at).map_or(last, |(_, span)| *span)
    }

    fn fault(&self, expected: impl Into<String>) -> Fault {
        let found = self.peek().map_or_else(|| "the end of the text".to_owned(), Token::describe);
        Fault::new(self.span(), found, expected)
    }

    fn take_if(&mut self, token: &Token) -> bool {
        let same = self.peek() == Some(token);
        self.at += usize::from(same);
        same
    }

    fn expect(&mut self, sign: char) -> Result<(), Fault> {
        if self.take_if(&Token::Sign(sign)) { Ok(()) } else { Err(self.fault(format!("'{sign}'"))) }
    }

    fn name(&mut self, expected: &str) -> Result<String, Fault> {
        let Some(Token::Name(name)) = self.peek() else { return Err(self.fault(expected)) };
        let name = name.clone();
        self.at += 1;
        Ok(name)
    }

    fn text(&mut self) -> Result<String, Fault> {
        let Some(Token::Text(text)) = self.peek() else { return Err(self.fault("a quoted text")) };
        let text = text.clone();
        self.at += 1;
        Ok(text)
    }

    fn statement(&mut self) -> Result<Statement, Fault> {
        let word = self.name("a definition, 'step', or a heading (rule, cites, about, order, default)")?;
        match word.as_str() {
            "rule" | "cites" | "about" => Ok(Statement::Heading { text: self.text()?, word }),
            "order" => {
                let Some(&Token::Number(order)) = self.peek() else { return Err(self.fault("a number")) };
                self.at += 1;
                Ok(Statement::Order(order))
            }
            "default" => Ok(Statement::Default),
            "step" => self.step(),
            _ => self.definition(word),
        }
    }

    fn step(&mut self) -> Result<Statement, Fault> {
        let mut parts: Vec<(String, Expression)> = Vec::new();
        loop {
            let part = match self.peek() {
                Some(Token::Name(name)) if ["decay", "key", "erase", "write"].contains(&name.as_str()) => name.clone(),
                _ => return Err(self.fault("one of decay, key, erase, write")),
            };
            if parts.iter().any(|(known, _)| *known == part) {
                return Err(Fault::new(self.span(), format!("a second '{part}'"), "each part of a step once"));
            }
            self.at += 1;
            parts.push((part, self.sum(0)?));
            if !self.take_if(&Token::Sign(',')) {
                return Ok(Statement::Step { parts });
            }
        }
    }

    fn definition(&mut self, name: String) -> Result<Statement, Fault> {
        self.expect('=')?;
        let declares = match (self.peek(), self.tokens.get(self.at + 1)) {
            (Some(Token::Name(word)), Some((Token::Sign('('), _))) => DECLARATIONS.contains(&word.as_str()).then(|| word.clone()),
            _ => None,
        };
        let Some(what) = declares else {
            return Ok(Statement::Define { name, value: self.sum(0)? });
        };
        let at = self.span();
        self.at += 2;
        let mut arguments = vec![self.argument()?];
        while self.take_if(&Token::Sign(',')) {
            arguments.push(self.argument()?);
        }
        self.expect(')')?;
        let label = if matches!(self.peek(), Some(Token::Text(_))) { Some(self.text()?) } else { None };
        Ok(Statement::Declare { name, what, at, arguments, label })
    }

    fn argument(&mut self) -> Result<Argument, Fault> {
        let (span, mut words) = (self.span(), Vec::new());
        while let Some(Token::Name(word)) = self.peek() {
            words.push(word.clone());
            self.at += 1;
        }
        let negative = self.take_if(&Token::Sign('-'));
        let number = match self.peek() {
            Some(&Token::Number(number)) => {
                self.at += 1;
                Some(if negative { -number } else { number })
            }
            _ if negative => return Err(self.fault("a number")),
            _ => None,
        };
        if words.is_empty() {
            return Err(Fault::new(span, self.fault("").found, "a word, as channel, key or bias"));
        }
        Ok(Argument { span, words, number })
    }

    fn sum(&mut self, depth: usize) -> Result<Expression, Fault> {
        let mut left = self.product(depth)?;
        while let Some(&Token::Sign(sign @ ('+' | '-'))) = self.peek() {
            self.at += 1;
            let right = self.product(depth)?;
            left = binary(sign, left, right);
        }
        Ok(left)
    }

    fn product(&mut self, depth: usize) -> Result<Expression, Fault> {
        let mut left = self.factor(depth)?;
        while self.take_if(&Token::Sign('*')) {
            let right = self.factor(depth)?;
            left = binary('*', left, right);
        }
        Ok(left)
    }

    fn factor(&mut self, depth: usize) -> Result<Expression, Fault> {
        let span = self.span();
        if depth > DEEPEST {
            return Err(Fault::new(span, "an expression this deep", format!("at most {DEEPEST} levels")));
        }
        match self.peek().cloned() {
            Some(Token::Sign('-')) => {
                self.at += 1;
                let inner = self.factor(depth + 1)?;
                Ok(Expression { span: Span { start: span.start, end: inner.span.end }, form: Form::Negative(Box::new(inner)) })
            }
            Some(Token::Sign('(')) => {
                self.at += 1;
                let inner = self.sum(depth + 1)?;
                self.expect(')')?;
                Ok(inner)
            }
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(Expression { span, form: Form::Number(number) })
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                if !self.take_if(&Token::Sign('(')) {
                    return Ok(Expression { span, form: Form::Name(name) });
                }
                let mut arguments = vec![self.sum(depth + 1)?];
                while self.take_if(&Token::Sign(',')) {
                    arguments.push(self.sum(depth + 1)?);
                }
                self.expect(')')?;
                Ok(Expression { span, form: Form::Call(name, arguments) })
            }
            _ => Err(self.fault("a number, a name, '-' or '('")),
        }
    }
}

fn binary(sign: char, left: Expression, right: Expression) -> Expression {
    let span = Span { start: left.span.start, end: right.span.end };
    Expression { span, form: Form::Binary(sign, Box::new(left), Box::new(right)) }
}
