//! Tokens to statements and expressions.
//!
//! ```text
//! rule "NAME"   cites "TEXT"   about "TEXT"   order NUMBER   default          headings, one to a line
//! NAME = decay(channel | head) | gate(scalar | key | value, bias NUMBER) | direction(rank NUMBER) | fixed(key)
//!      | parameter(head, init NUMBER, rate NUMBER, no weight decay)           then perhaps a label in quotes
//! NAME = EXPRESSION                                                           + - * ( ) numbers, names, functions
//! step decay EXPRESSION, key EXPRESSION, erase EXPRESSION, write EXPRESSION   all but key may be absent
//! ```

use crate::error::Fault;
use crate::token::{Lexed, Span, Token, tokens};
use winnow::combinator::fail;
use winnow::error::{ContextError, StrContext, StrContextValue};
use winnow::prelude::*;
use winnow::stream::{Stream, TokenSlice};
use winnow::token::any;

/// Deepest nesting of parentheses. It bounds the recursion here and wherever expressions are walked.
const DEEPEST: usize = 32;
/// Most operators in one text, for the same reason: `a + a + a` nests to the left.
const MOST_OPERATORS: usize = 500;

/// An expression with the place it stands at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    pub(crate) span: Span,
    pub(crate) form: Form,
}

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Number(f64),
    Name(String),
    Negative(Box<Expression>),
    Binary(char, Box<Expression>, Box<Expression>),
    Call(String, Vec<Expression>),
}

/// One argument of a declaration: words and perhaps a number, as `bias -3`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    pub(crate) span: Span,
    pub(crate) words: String,
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
    /// `step key k, erase a, write u`: each part with the place of its word.
    Step { parts: Vec<(String, Span, Expression)> },
}

/// A statement and where its first word stands.
pub(crate) type Placed = (Statement, Span);

/// Words that open a declaration.
const DECLARATIONS: [&str; 5] = ["decay", "gate", "direction", "parameter", "fixed"];

/// Parts of a step, in the order they are packed.
pub(crate) const PARTS: [&str; 4] = ["decay", "key", "erase", "write"];

type Tokens<'a> = TokenSlice<'a, Lexed>;
type Parsed<T> = Result<T, ContextError>;

/// Statements of a text.
pub(crate) fn parse(source: &str) -> Result<Vec<Placed>, Fault> {
    let lexed = tokens(source)?;
    check_size(&lexed)?;
    statements.parse(TokenSlice::new(&lexed)).map_err(|error| {
        let end = Span { start: source.len(), end: source.len() };
        let at = lexed.get(error.offset());
        let (found, span) = at.map_or_else(|| ("the end of the text".to_owned(), end), |(token, span)| (token.describe(), *span));
        // contexts are listed from the innermost
        let expected = error.inner().context().find_map(|context| match context {
            StrContext::Expected(StrContextValue::Description(text)) => Some(*text),
            _ => None,
        });
        Fault::new(span, found, expected.unwrap_or("the end of the text"))
    })
}

/// Refuses texts that would nest too deeply.
fn check_size(lexed: &[Lexed]) -> Result<(), Fault> {
    let (mut depth, mut operators) = (0usize, 0usize);
    for (token, span) in lexed {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::Sign('+' | '-' | '*') => operators += 1,
            Token::Newline => depth = 0,
            _ => {}
        }
        if depth > DEEPEST {
            return Err(Fault::new(*span, format!("'(' inside {DEEPEST} others"), format!("at most {DEEPEST} levels")));
        }
        if operators > MOST_OPERATORS {
            return Err(Fault::new(*span, "one operator more", format!("at most {MOST_OPERATORS} of them")));
        }
    }
    Ok(())
}

fn expected(what: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(what))
}

/// The next token as `pick` reads it, else an error at that token.
fn take<'a, T>(input: &mut Tokens<'a>, what: &'static str, pick: impl Fn(&'a Token) -> Option<T>) -> Parsed<(T, Span)> {
    any.verify_map(|(token, span): &'a Lexed| pick(token).map(|picked| (picked, *span))).context(expected(what)).parse_next(input)
}

/// An error at the next token.
fn stop<T>(input: &mut Tokens, what: &'static str) -> Parsed<T> {
    fail.context(expected(what)).parse_next(input)
}

fn sign(input: &mut Tokens, sign: char, what: &'static str) -> Parsed<Span> {
    take(input, what, |token| (*token == Token::Sign(sign)).then_some(())).map(|(_, span)| span)
}

fn name(input: &mut Tokens, what: &'static str) -> Parsed<(String, Span)> {
    take(input, what, |token| if let Token::Name(name) = token { Some(name.clone()) } else { None })
}

fn number(input: &mut Tokens) -> Parsed<(f64, Span)> {
    take(input, "a number", |token| if let Token::Number(number) = token { Some(*number) } else { None })
}

fn text(input: &mut Tokens) -> Parsed<String> {
    take(input, "a quoted text", |token| if let Token::Text(text) = token { Some(text.clone()) } else { None }).map(|(text, _)| text)
}

fn next_is(input: &Tokens, sign: char) -> bool {
    matches!(input.peek_token(), Some((Token::Sign(next), _)) if *next == sign)
}

/// The word of a call that comes next, as `gate` of `gate(key)`.
fn next_call<'a>(input: &Tokens<'a>) -> Option<&'a str> {
    let mut ahead = input.clone();
    match (ahead.next_token(), ahead.next_token()) {
        (Some((Token::Name(word), _)), Some((Token::Sign('('), _))) => Some(word),
        _ => None,
    }
}

fn statements(input: &mut Tokens) -> Parsed<Vec<Placed>> {
    let mut statements = Vec::new();
    loop {
        while matches!(input.peek_token(), Some((Token::Newline, _))) {
            input.next_token();
        }
        let Some((_, span)) = input.peek_token() else { return Ok(statements) };
        statements.push((statement(input)?, *span));
        if input.peek_token().is_some() {
            let what = match statements.last() {
                Some((Statement::Define { .. }, _)) => "an operator or the end of the line",
                Some((Statement::Step { .. }, _)) => "an operator, a comma or the end of the line",
                _ => "the end of the line",
            };
            take(input, what, |token| (*token == Token::Newline).then_some(()))?;
        }
    }
}

fn statement(input: &mut Tokens) -> Parsed<Statement> {
    let (word, _) = name(input, "a definition, 'step', or a heading (rule, cites, about, order, default)")?;
    match word.as_str() {
        "rule" | "cites" | "about" => Ok(Statement::Heading { text: text(input)?, word }),
        "order" => number(input).map(|(number, _)| Statement::Order(number)),
        "default" => Ok(Statement::Default),
        "step" => step(input),
        _ => definition(input, word),
    }
}

fn step(input: &mut Tokens) -> Parsed<Statement> {
    let mut parts = Vec::new();
    loop {
        let (part, span) = take(input, "one of decay, key, erase, write", |token| match token {
            Token::Name(name) if PARTS.contains(&name.as_str()) => Some(name.clone()),
            _ => None,
        })?;
        parts.push((part, span, sum(input)?));
        if !next_is(input, ',') {
            return Ok(Statement::Step { parts });
        }
        input.next_token();
    }
}

fn definition(input: &mut Tokens, name: String) -> Parsed<Statement> {
    sign(input, '=', "'='")?;
    let Some(what) = next_call(input).filter(|word| DECLARATIONS.contains(word)) else {
        return Ok(Statement::Define { name, value: sum(input)? });
    };
    let at = take(input, "a declaration", |_| Some(()))?.1;
    sign(input, '(', "'('")?;
    let mut arguments = vec![argument(input)?];
    while next_is(input, ',') {
        input.next_token();
        arguments.push(argument(input)?);
    }
    sign(input, ')', "a comma or ')'")?;
    let label = if matches!(input.peek_token(), Some((Token::Text(_), _))) { Some(text(input)?) } else { None };
    Ok(Statement::Declare { name, what: what.to_owned(), at, arguments, label })
}

fn argument(input: &mut Tokens) -> Parsed<Argument> {
    let (mut words, span) = name(input, "a word, as channel, key or bias")?;
    while let Some((Token::Name(word), _)) = input.peek_token() {
        words = words + " " + word;
        input.next_token();
    }
    let negative = next_is(input, '-');
    if negative {
        input.next_token();
    }
    let has_number = negative || matches!(input.peek_token(), Some((Token::Number(_), _)));
    let number = if has_number { Some(number(input)?.0) } else { None };
    Ok(Argument { span, words, number: number.map(|number| if negative { -number } else { number }) })
}

fn sum(input: &mut Tokens) -> Parsed<Expression> {
    let mut left = product(input)?;
    while let Some((Token::Sign(sign @ ('+' | '-')), _)) = input.peek_token() {
        input.next_token();
        left = binary(*sign, left, product(input)?);
    }
    Ok(left)
}

fn product(input: &mut Tokens) -> Parsed<Expression> {
    let mut left = factor(input)?;
    while next_is(input, '*') {
        input.next_token();
        left = binary('*', left, factor(input)?);
    }
    Ok(left)
}

fn factor(input: &mut Tokens) -> Parsed<Expression> {
    if next_call(input).is_some_and(|word| DECLARATIONS.contains(&word)) {
        return stop(input, "an expression: a declaration has a line of its own, as b = gate(key)");
    }
    let what = "a number, a name, '-' or '('";
    let (first, span) = take(input, what, |token| match token {
        Token::Number(_) | Token::Name(_) | Token::Sign('-' | '(') => Some(token),
        _ => None,
    })?;
    let to = |end: Span| Span { start: span.start, end: end.end };
    match first {
        Token::Number(number) => Ok(Expression { span, form: Form::Number(*number) }),
        Token::Name(word) if next_is(input, '(') => {
            input.next_token();
            let mut arguments = vec![sum(input)?];
            while next_is(input, ',') {
                input.next_token();
                arguments.push(sum(input)?);
            }
            let end = sign(input, ')', "an operator, a comma or ')'")?;
            Ok(Expression { span: to(end), form: Form::Call(word.clone(), arguments) })
        }
        Token::Name(word) => Ok(Expression { span, form: Form::Name(word.clone()) }),
        Token::Sign('-') => {
            let inner = factor(input)?;
            Ok(Expression { span: to(inner.span), form: Form::Negative(Box::new(inner)) })
        }
        _ => {
            let inner = sum(input)?;
            let end = sign(input, ')', "an operator or ')'")?;
            Ok(Expression { span: to(end), form: inner.form })
        }
    }
}

fn binary(sign: char, left: Expression, right: Expression) -> Expression {
    let span = Span { start: left.span.start, end: right.span.end };
    Expression { span, form: Form::Binary(sign, Box::new(left), Box::new(right)) }
}
