//! Boxes to tick, for a setting that holds several words.

use super::field_note::FieldNote;
use crate::desk::desk;
use leptos::prelude::*;
use palimpsest_spec::{Kind, Value};

/// One box per word that the setting of this key may hold.
#[component]
pub(crate) fn Ticks(key_name: &'static str, legend: &'static str) -> impl IntoView {
    let desk = desk();
    let kind = desk.draft.with_untracked(|draft| draft.row(key_name).map(|row| row.kind));
    let choices = if let Some(Kind::Words(choices)) = kind { choices } else { Vec::new() };
    let words: Vec<&'static str> = choices.iter().map(|choice| choice.word).collect();
    let words = StoredValue::new(words);
    let chosen = Memo::new(move |_| match desk.draft.with(|draft| draft.get(key_name)) {
        Some(Value::Words(words)) => words,
        _ => Vec::new(),
    });
    let boxes: Vec<_> = choices
        .into_iter()
        .map(|choice| {
            let word = choice.word;
            let toggle = move |event| {
                let on = event_target_checked(&event);
                let kept = |other: &&str| if *other == word { on } else { chosen.with_untracked(|chosen| chosen.contains(other)) };
                let all: Vec<&str> = words.with_value(|words| words.iter().copied().filter(kept).collect());
                desk.set(key_name, &all.join(","));
            };
            let about = palimpsest_rules::find(word).map(|rule| rule.about().to_owned());
            view! {
                <label class="check" title=about>
                    <input
                        type="checkbox"
                        value=word
                        prop:checked=move || chosen.with(|chosen| chosen.contains(&word))
                        on:change=toggle
                    />
                    {choice.label}
                </label>
            }
        })
        .collect();
    view! {
        <fieldset class="choices">
            <legend class="choices-name">{legend}</legend>
            {boxes}
            <FieldNote key_name id=format!("ticks-{key_name}-note") />
        </fieldset>
    }
}
