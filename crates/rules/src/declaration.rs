//! What a declaration asks of the layer.

use crate::error::Fault;
use crate::graph::{Kind, Scope};
use crate::rule::Source;
use crate::syntax::Argument;
use crate::token::Span;

/// Largest rank of a direction.
const MOST_RANK: f64 = 128.0;

/// Kind, scope and source of `what(arguments)`, which stands at `at`.
pub(crate) fn declaration(what: &str, at: Span, arguments: &[Argument]) -> Result<(Kind, Scope, Source), Fault> {
    let Some((first, rest)) = arguments.split_first() else {
        return Err(Fault::new(at, format!("'{what}' without an argument"), "one or more in parentheses"));
    };
    match what {
        "decay" => {
            alone(rest, what)?;
            let kind = choice(first, &[("channel", Kind::Key), ("head", Kind::Scalar)], "channel or head")?;
            Ok((kind, Scope::Token, Source::Decay))
        }
        "gate" => {
            let kinds = [("scalar", Kind::Scalar), ("key", Kind::Key), ("value", Kind::Value)];
            let kind = choice(first, &kinds, "scalar, key or value")?;
            let mut bias = 0.0;
            for argument in rest {
                match (argument.words.as_str(), argument.number) {
                    ("bias", Some(number)) => bias = single(argument, number)?,
                    _ => return wrong(argument, "bias and a number"),
                }
            }
            Ok((kind, Scope::Token, Source::Gate { bias }))
        }
        "direction" => {
            alone(rest, what)?;
            match (first.words.as_str(), first.number) {
                ("rank", Some(rank)) if (1.0..=MOST_RANK).contains(&rank) && rank.fract() == 0.0 => {
                    Ok((Kind::Key, Scope::Token, Source::Direction { rank: rank as usize }))
                }
                _ => wrong(first, "rank and a whole number from 1 to 128"),
            }
        }
        "fixed" => {
            alone(rest, what)?;
            let kind = choice(first, &[("key", Kind::Key)], "key")?;
            Ok((kind, Scope::Head, Source::Fixed))
        }
        "parameter" => {
            let kind = choice(first, &[("head", Kind::Scalar)], "head")?;
            let (mut init, mut rate, mut weight_decay) = (0.0, 1.0, true);
            for argument in rest {
                match (argument.words.as_str(), argument.number) {
                    ("init", Some(number)) => init = single(argument, number)?,
                    ("rate", Some(number)) if number > 0.0 => rate = single(argument, number)?,
                    ("no weight decay", None) => weight_decay = false,
                    _ => return wrong(argument, "init and a number, rate and a number above 0, or no weight decay"),
                }
            }
            Ok((kind, Scope::Head, Source::Parameter { init, rate, weight_decay }))
        }
        _ => Err(Fault::new(at, format!("'{what}'"), "decay, gate, direction, parameter or fixed")),
    }
}

fn wrong<T>(argument: &Argument, expected: &str) -> Result<T, Fault> {
    let number = argument.number.map(|number| format!(" {number}")).unwrap_or_default();
    Err(Fault::new(argument.span, format!("'{}{number}'", argument.words), expected))
}

/// The first argument as one of these words, without a number.
fn choice(argument: &Argument, words: &[(&str, Kind)], expected: &str) -> Result<Kind, Fault> {
    match words.iter().find(|(word, _)| *word == argument.words && argument.number.is_none()) {
        Some((_, kind)) => Ok(*kind),
        None => wrong(argument, expected),
    }
}

/// No argument but the first.
fn alone(rest: &[Argument], what: &str) -> Result<(), Fault> {
    rest.first().map_or(Ok(()), |extra| wrong(extra, &format!("one argument for {what}")))
}

/// A number as the layer keeps it.
fn single(argument: &Argument, number: f64) -> Result<f32, Fault> {
    let single = number as f32;
    if single.is_finite() { Ok(single) } else { wrong(argument, "a number of at most 3.4e38") }
}
