//! A button that copies a text, and says whether that worked.

use gloo::timers::callback::Timeout;
use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// How long the button says what came of it.
const SAID_MS: u32 = 2500;

/// Copies what `text` gives when it is pressed; says `failed` where there is no clipboard.
#[component]
pub(crate) fn CopyButton(
    label: &'static str,
    copied: &'static str,
    failed: &'static str,
    text: impl Fn() -> String + 'static,
) -> impl IntoView {
    let said = RwSignal::new(label);
    let copy = move |_| {
        let text = text();
        leptos::task::spawn_local(async move {
            // Without a secure origin there is no clipboard: writing then throws.
            let clipboard = js_sys::Reflect::get(&window().navigator(), &"clipboard".into()).ok().filter(|c| !c.is_undefined());
            let done = match clipboard {
                Some(_) => JsFuture::from(window().navigator().clipboard().write_text(&text)).await.is_ok(),
                None => false,
            };
            said.set(if done { copied } else { failed });
            Timeout::new(SAID_MS, move || said.set(label)).forget();
        });
    };
    view! { <button class="plain" aria-live="polite" on:click=copy>{move || said.get()}</button> }
}

/// Copies the address of the page.
#[component]
pub(crate) fn CopyLink() -> impl IntoView {
    let address = || window().location().href().unwrap_or_default();
    view! { <CopyButton label="Copy link" copied="Link copied" failed="Copy it from the address bar" text=address /> }
}
