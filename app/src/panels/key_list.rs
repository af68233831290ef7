//! The list of keys, over the page.

use crate::desk::desk;
use crate::keyboard::KEYS;
use leptos::{html::Button, prelude::*};

/// Shown by `?`.
#[component]
pub(crate) fn KeyList() -> impl IntoView {
    let keys = desk().keys;
    view! { <Show when=move || keys.get()><KeyDialog /></Show> }
}

#[component]
fn KeyDialog() -> impl IntoView {
    let close = NodeRef::<Button>::new();
    Effect::new(move || {
        if let Some(button) = close.get() {
            let _ = button.focus();
        }
    });
    let rows = KEYS.map(|(key, does)| view! { <dt><kbd>{key}</kbd></dt> <dd>{does}</dd> });
    view! {
        <div class="veil" on:click=move |_| desk().keys.set(false)>
            <div class="dialog" role="dialog" aria-modal="true" aria-label="Keys" on:click=|event| event.stop_propagation()>
                <h2>"Keys"</h2>
                <dl class="keys">{rows}</dl>
                <button node_ref=close class="plain" on:click=move |_| desk().keys.set(false)>"Close"</button>
            </div>
        </div>
    }
}
