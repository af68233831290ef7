//! A token as a chip: its role shows by shape and letter as well as by colour.

use crate::desk::desk;
use leptos::prelude::*;
use palimpsest_protocol::Sample;
use palimpsest_tasks::{Legend, Role};

/// Class of the style sheet; the words of a role are its task's.
pub(crate) fn class(role: Role) -> &'static str {
    match role {
        Role::Key => "chip-key",
        Role::Value => "chip-value",
        Role::Query => "chip-query",
        Role::Filler => "chip-filler",
        Role::Marker => "chip-marker",
    }
}

/// An answer as text, and whether it is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What is right.
    pub(crate) target: String,
    /// What the model says.
    pub(crate) answer: String,
    /// Whether they agree.
    pub(crate) right: bool,
    /// Tokens since it was written.
    pub(crate) lag: u32,
}

/// The answer asked for at a token, if one is.
pub(crate) fn answer_at(sample: &Sample, position: usize) -> Option<Answer> {
    let index = sample.labels.iter().position(|label| label.position as usize == position)?;
    let label = &sample.labels[index];
    let (target, answer) = sample.names.get(index)?.clone();
    Some(Answer { target, answer, right: label.target == label.answer, lag: label.lag })
}

/// One sentence about a token.
pub(crate) fn sentence(sample: &Sample, position: usize, legend: &[Legend]) -> String {
    let (Some(text), Some(token_role)) = (sample.texts.get(position), sample.roles.get(position)) else { return String::new() };
    let place = format!("Token {} of {}: {text} ({}).", position + 1, sample.tokens.len(), Legend::text(legend, *token_role));
    match answer_at(sample, position) {
        Some(a) if a.right => format!("{place} The model answers {}: right. Written {} tokens before.", a.answer, a.lag),
        Some(a) => format!("{place} The model answers {}: wrong, it is {}. Written {} tokens before.", a.answer, a.target, a.lag),
        None => place,
    }
}

/// A chip that moves the place to its token.
#[component]
pub(crate) fn Chip(position: usize, text: String, token_role: Role, meaning: &'static str) -> impl IntoView {
    let token = desk().token;
    view! {
        <button
            class=format!("chip {}", class(token_role))
            class:chip-here=move || token.get() == position
            tabindex="-1"
            title=format!("token {}: {meaning}", position + 1)
            on:click=move |_| token.set(position)
        >
            {text}
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palimpsest_protocol::SampleLabel;

    fn sample(answer: u32) -> Sample {
        Sample {
            step: 0,
            index: 0,
            tokens: vec![3, 40, 3],
            texts: vec!["k3".into(), "v8".into(), "k3".into()],
            roles: vec![Role::Key, Role::Value, Role::Query],
            labels: vec![SampleLabel { position: 2, target: 40, answer, lag: 1 }],
            names: vec![("v8".into(), format!("v{}", answer - 32))],
        }
    }

    const LEGEND: &[Legend] = &[Legend { role: Role::Key, text: "key to keep" }, Legend { role: Role::Query, text: "key asked for" }];

    #[test]
    fn right_and_wrong_are_said_in_words() {
        assert!(sentence(&sample(40), 2, LEGEND).contains("answers v8: right"));
        assert!(sentence(&sample(41), 2, LEGEND).contains("answers v9: wrong, it is v8"));
        assert_eq!(sentence(&sample(40), 0, LEGEND), "Token 1 of 3: k3 (key to keep).");
        assert_eq!(sentence(&sample(40), 7, LEGEND), "");
    }
}
