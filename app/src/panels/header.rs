//! Name, what computes, link, theme.

use crate::desk::desk;
use crate::session::{SessionStoreFields, badge};
use crate::theme::Theme;
use gloo::timers::callback::Timeout;
use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// The top of the page.
#[component]
pub(crate) fn Header() -> impl IntoView {
    let theme = expect_context::<Theme>();
    let desk = desk();
    let switch = move |_: leptos::ev::MouseEvent| desk.set("theme", untrack(|| theme.other()).word());
    let link = desk.session.worker_link();
    let computes = move || link.with(|link| link.adapter.as_ref().map_or_else(|| "Starting".to_owned(), badge));
    let on_cpu = move || link.with(|link| link.fallback.is_some());
    view! {
        <header class="header">
            <h1>"Palimpsest"</h1>
            <p class="tagline">"trains a memory, shows what it keeps"</p>
            <div class="header-tools">
                <span class="badge" class:badge-cpu=on_cpu data-testid="badge">{computes}</span>
                <CopyLink />
                <button class="plain" on:click=switch>{move || theme.other_name()}</button>
                <button class="plain" aria-haspopup="dialog" on:click=move |_| desk.keys.set(true)>"Keys"</button>
            </div>
        </header>
    }
}

/// Copies the address, and says whether that worked.
#[component]
fn CopyLink() -> impl IntoView {
    let said = RwSignal::new("Copy link");
    let copy = move |_| {
        let Ok(address) = window().location().href() else { return };
        leptos::task::spawn_local(async move {
            // Without a secure origin there is no clipboard: writing then throws, and the address bar has the link anyway.
            let clipboard = js_sys::Reflect::get(&window().navigator(), &"clipboard".into()).ok().filter(|c| !c.is_undefined());
            let copied = match clipboard {
                Some(_) => JsFuture::from(window().navigator().clipboard().write_text(&address)).await.is_ok(),
                None => false,
            };
            said.set(if copied { "Link copied" } else { "Copy it from the address bar" });
            Timeout::new(2500, move || said.set("Copy link")).forget();
        });
    };
    view! { <button class="plain" aria-live="polite" on:click=copy>{move || said.get()}</button> }
}
