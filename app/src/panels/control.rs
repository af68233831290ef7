//! One setting: its field, its help, and the way back to its default.

use super::field_note::FieldNote;
use crate::desk::desk;
use crate::table::{Field, Line};
use leptos::prelude::*;

/// The control of the row with this key.
#[component]
pub(crate) fn Control(key_name: &'static str, all: Memo<Vec<Line>>) -> impl IntoView {
    let desk = desk();
    let id = format!("set-{key_name}");
    let (help, note) = (format!("{id}-help"), format!("{id}-note"));
    let line = Memo::new(move |_| all.with(|all| all.iter().find(|line| line.key == key_name).cloned()));
    let of = move |read: fn(&Line) -> String| move || line.with(|line| line.as_ref().map(read).unwrap_or_default());
    let changed = Memo::new(move |_| line.with(|line| line.as_ref().is_some_and(Line::changed)));
    let field = Memo::new(move |_| line.with(|line| line.as_ref().map(|line| line.field.clone())));
    let value = Signal::derive(of(|line| line.value.clone()));
    let change = Callback::new(move |text: String| desk.set(key_name, &text));
    let default = of(|line| line.default.clone());
    let back = move |_| change.run(untrack(default));
    let entry = {
        let (id, described) = (id.clone(), format!("{help} {note}"));
        move || field.get().map(|field| entry(field, id.clone(), described.clone(), value, change))
    };
    view! {
        <div class="control" class:control-changed=move || changed.get()>
            <label for=id>{of(|line| line.label.to_owned())}</label>
            {entry}
            <Show when=move || changed.get()>
                <button class="back" on:click=back><span class="unseen">"changed: "</span>"back to " {of(Line::default_word)}</button>
            </Show>
            <FieldNote key_name id=note />
            <p class="help" id=help>{of(|line| line.help.to_owned())}</p>
        </div>
    }
}

/// The field of a row; a value out of range is moved to the nearest valid one when it is set.
fn entry(field: Field, id: String, described: String, value: Signal<String>, change: Callback<String>) -> AnyView {
    // Shows the value in force even when setting it changed nothing.
    let set = move |event: leptos::ev::Event| {
        change.run(event_target_value(&event));
        event_target::<web_sys::HtmlInputElement>(&event).set_value(&value.get_untracked());
    };
    match field {
        Field::Number { min, max, step } => {
            view! { <input id=id type="number" min=min max=max step=step aria-describedby=described prop:value=value on:change=set /> }
                .into_any()
        }
        Field::Text => view! { <input id=id type="text" aria-describedby=described prop:value=value on:change=set /> }.into_any(),
        Field::Flag => {
            let tick = move |event| change.run(if event_target_checked(&event) { "1" } else { "0" }.to_owned());
            view! { <input id=id type="checkbox" aria-describedby=described prop:checked=move || value.get() == "1" on:change=tick /> }
                .into_any()
        }
        Field::Choice(choices) => {
            let options: Vec<_> = choices
                .into_iter()
                .map(|choice| view! { <option value=choice.word prop:selected=move || value.get() == choice.word>{choice.label}</option> })
                .collect();
            let pick = move |event| change.run(event_target_value(&event));
            view! { <select id=id aria-describedby=described on:change=pick>{options}</select> }.into_any()
        }
    }
}
