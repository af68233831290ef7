//! What a person should know before anything else: a corrected link, a dead worker, the CPU, a refused command.

use crate::desk::desk;
use crate::session::{SessionStoreFields, fallback};
use leptos::prelude::*;

/// Notices, each dismissible unless it still holds.
#[component]
pub(crate) fn Notices(corrections: RwSignal<Vec<String>>) -> impl IntoView {
    let desk = desk();
    let link = desk.session.worker_link();
    let shown_fallback = RwSignal::new(true);
    let corrected = move || {
        corrections.with(|lines| {
            (!lines.is_empty()).then(|| {
                let items: Vec<_> = lines.iter().map(|line| view! { <li>{line.clone()}</li> }).collect();
                view! {
                    <div class="notice" role="status" data-testid="corrections">
                        <div>
                            <p>"This link did not fit; it was opened with the nearest valid settings:"</p>
                            <ul>{items}</ul>
                        </div>
                        <button class="plain" on:click=move |_| corrections.set(Vec::new())>"Understood"</button>
                    </div>
                }
            })
        })
    };
    let dead = move || {
        let reason = link.with(|link| link.dead.clone());
        reason.map(|reason| view! { <div class="notice notice-bad" role="alert"><p>"Nothing can be trained: " {reason}</p></div> })
    };
    let late = move || desk.late.get().map(|sentence| view! { <div class="notice" role="status"><p>{sentence}</p></div> });
    let on_cpu = move || {
        let reason = link.with(|link| link.fallback.as_ref().map(fallback)).filter(|_| shown_fallback.get());
        reason.map(|reason| {
            view! {
                <div class="notice" role="status" data-testid="fallback">
                    <p>{reason}</p>
                    <button class="plain" on:click=move |_| shown_fallback.set(false)>"Understood"</button>
                </div>
            }
        })
    };
    let refused = move || {
        link.with(|link| link.refused.clone()).map(|sentence| {
            view! {
                <div class="notice notice-bad" role="alert">
                    <p>{sentence}</p>
                    <button class="plain" on:click=move |_| link.update(|link| link.refused = None)>"Understood"</button>
                </div>
            }
        })
    };
    view! { <div class="notices">{dead} {late} {corrected} {on_cpu} {refused}</div> }
}
