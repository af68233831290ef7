//! One setting: its field, its help, and the way back to its default.

use crate::desk::desk;
use crate::table::{Field, Group, Row, set};
use leptos::prelude::*;

/// The control of the row with this key.
#[component]
pub(crate) fn Control(name: String, all: Memo<Vec<Group>>) -> impl IntoView {
    let draft = desk().draft;
    let id = format!("set-{name}");
    let help_id = format!("{id}-help");
    let key = StoredValue::new(name.clone());
    let row =
        Memo::new(move |_| key.with_value(|key| all.with(|all| all.iter().flat_map(|g| &g.rows).find(|row| row.key == *key).cloned())));
    let change = Callback::new(move |value: String| key.with_value(|key| draft.update(|draft| set(draft, key, &value))));
    let changed = Memo::new(move |_| row.with(|row| row.as_ref().is_some_and(Row::changed)));
    let read = move |read: fn(&Row) -> String| move || row.with(|row| row.as_ref().map(read).unwrap_or_default());
    let field = Memo::new(move |_| row.with(|row| row.as_ref().map(|row| row.field.clone())));
    let value = Signal::derive(read(|row| row.value.clone()));
    let back = move |_| {
        let default = row.with_untracked(|row| row.as_ref().map(|row| row.default.clone()));
        if let Some(default) = default {
            change.run(default);
        }
    };
    let input = {
        let (id, help_id) = (id.clone(), help_id.clone());
        move || field.get().map(|field| input(field, id.clone(), help_id.clone(), value, change))
    };
    view! {
        <div class="control" class:control-changed=move || changed.get()>
            <label for=id>{read(|row| row.label.clone())}</label>
            {input}
            <Show when=move || changed.get()>
                <button class="back" on:click=back>{move || format!("changed: back to {}", row.with(|row| row.as_ref().map(Row::default_word).unwrap_or_default()))}</button>
            </Show>
            <p class="help" id=help_id>{read(|row| row.help.clone())}</p>
        </div>
    }
}

/// The field of a row; a value out of range is moved to the nearest valid one when it is set.
fn input(field: Field, id: String, help: String, value: Signal<String>, change: Callback<String>) -> AnyView {
    match field {
        Field::Number { min, max, step } => {
            let set = move |event| {
                change.run(event_target_value(&event));
                // Shows the corrected number even when it equals the one before.
                let input: web_sys::HtmlInputElement = event_target(&event);
                input.set_value(&value.get_untracked());
            };
            view! { <input id=id type="number" min=min max=max step=step aria-describedby=help prop:value=value on:change=set /> }
                .into_any()
        }
        Field::Flag => {
            let set = move |event| change.run(if event_target_checked(&event) { "true" } else { "false" }.to_owned());
            view! { <input id=id type="checkbox" aria-describedby=help prop:checked=move || value.get() == "true" on:change=set /> }
                .into_any()
        }
        Field::Choice(options) => {
            let options: Vec<_> = options
                .into_iter()
                .map(|(slug, label)| {
                    let own = slug.clone();
                    view! { <option value=slug selected=move || value.get() == own>{label}</option> }
                })
                .collect();
            let set = move |event| change.run(event_target_value(&event));
            view! { <select id=id aria-describedby=help on:change=set>{options}</select> }.into_any()
        }
        Field::Text => {
            let set = move |event| change.run(event_target_value(&event));
            view! { <input id=id type="text" aria-describedby=help prop:value=value on:change=set /> }.into_any()
        }
    }
}
