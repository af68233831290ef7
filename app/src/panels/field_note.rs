//! What was corrected in one setting, beside its field.

use crate::desk::desk;
use leptos::prelude::*;

/// Sentences of the link and of the last change that concern this setting; nothing when there are none.
#[component]
pub(crate) fn FieldNote(key_name: &'static str, id: String) -> impl IntoView {
    let notes = desk().notes;
    let said = Memo::new(move |_| notes.about(key_name));
    move || {
        let sentences = said.get();
        let id = id.clone();
        (!sentences.is_empty()).then(|| view! { <p class="field-note" id=id>{sentences.join(". ")}"."</p> })
    }
}
