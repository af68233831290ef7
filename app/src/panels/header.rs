//! Name, what computes, link, theme.

use crate::desk::desk;
use crate::session::{SessionStoreFields, badge};
use crate::theme::Theme;
use crate::widgets::CopyLink;
use leptos::prelude::*;

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
                <button class="plain" aria-pressed=move || desk.bench_open.get().to_string() on:click=move |_| desk.bench_open.update(|open| *open = !*open)>
                    "Benchmark"
                </button>
                <button class="plain" on:click=switch>{move || theme.other_name()}</button>
                <button class="plain" aria-haspopup="dialog" on:click=move |_| desk.keys.set(true)>"Keys"</button>
            </div>
        </header>
    }
}
