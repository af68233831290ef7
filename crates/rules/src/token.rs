//! A rule text as tokens with spans.

use crate::error::Fault;
use winnow::ascii::float;
use winnow::combinator::{alt, delimited, peek, preceded, repeat};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{one_of, take_while};

/// Byte range in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A word of the language, and where it stands.
pub(crate) type Lexed = (Token, Span);

/// A word of the language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Number(f64),
    Text(String),
    Sign(char),
    Newline,
}

impl Token {
    /// How an error names it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Token::Name(name) => format!("'{name}'"),
            Token::Number(number) => format!("the number {number}"),
            Token::Text(_) => "a quoted text".to_owned(),
            Token::Sign(sign) => format!("'{sign}'"),
            Token::Newline => "the end of the line".to_owned(),
        }
    }
}

/// Longest rule text, in bytes.
const LONGEST: usize = 16 << 10;

type Input<'a> = LocatingSlice<&'a str>;

fn name(input: &mut Input) -> winnow::Result<Token> {
    (one_of(|c: char| c.is_ascii_alphabetic()), take_while(0.., |c: char| c.is_ascii_alphanumeric() || c == '_'))
        .take()
        .map(|text: &str| Token::Name(text.to_owned()))
        .parse_next(input)
}

fn number(input: &mut Input) -> winnow::Result<Token> {
    // a number starts with a digit: signs are operators, and "inf" and "nan" are names
    peek(one_of('0'..='9')).parse_next(input)?;
    float.map(Token::Number).parse_next(input)
}

fn text(input: &mut Input) -> winnow::Result<Token> {
    delimited('"', take_while(0.., |c| c != '"' && c != '\n'), '"').map(|text: &str| Token::Text(text.to_owned())).parse_next(input)
}

fn sign(input: &mut Input) -> winnow::Result<Token> {
    one_of(['+', '-', '*', '(', ')', ',', '=']).map(Token::Sign).parse_next(input)
}

fn newline(input: &mut Input) -> winnow::Result<Token> {
    '\n'.value(Token::Newline).parse_next(input)
}

fn blank(input: &mut Input) -> winnow::Result<()> {
    let spaces = take_while(1.., [' ', '\t', '\r']).void();
    let comment = preceded('#', take_while(0.., |c| c != '\n')).void();
    repeat(0.., alt((spaces, comment))).parse_next(input)
}

/// All tokens of a text.
pub(crate) fn tokens(source: &str) -> Result<Vec<Lexed>, Fault> {
    if source.len() > LONGEST {
        let span = Span { start: 0, end: 0 };
        return Err(Fault::new(span, format!("a text of {} bytes", source.len()), format!("at most {LONGEST} bytes")));
    }
    let mut input = LocatingSlice::new(source);
    let mut tokens = Vec::new();
    loop {
        let start = input.current_token_start();
        if blank.parse_next(&mut input).is_err() || input.is_empty() {
            return Ok(tokens);
        }
        let at = input.current_token_start();
        match alt((name, number, text, sign, newline)).with_span().parse_next(&mut input) {
            Ok((token, span)) => tokens.push((token, Span { start: span.start, end: span.end })),
            Err(_) => {
                let found = source[at.max(start)..].chars().next().unwrap_or(' ');
                let span = Span { start: at, end: at + found.len_utf8() };
                let expected = match found {
                    '"' => "a closing quote on the same line",
                    _ => "a name, a number, a quoted text, or one of + - * ( ) , =",
                };
                return Err(Fault::new(span, format!("'{found}'"), expected));
            }
        }
    }
}
