//! What a person should know before anything else: a corrected link, a dead worker, the CPU, a refused command.

use crate::desk::desk;
use crate::session::{SessionStoreFields, fallback};
use leptos::prelude::*;
use palimpsest_protocol::Fallback;
use palimpsest_spec::{Correction, Settings};

/// Notices, each dismissible unless it still holds.
#[component]
pub(crate) fn Notices() -> impl IntoView {
    let desk = desk();
    let link = desk.session.worker_link();
    let shown_fallback = RwSignal::new(true);
    let link_notes = move || list(desk.notes.link, "This link did not fit. The nearest valid settings are used:", "corrections");
    let control_notes = move || list(desk.notes.change, "With this change:", "notes");
    let dead = move || {
        let reason = link.with(|link| link.dead.clone());
        reason.map(|reason| view! { <div class="notice notice-bad" role="alert"><p>"Nothing can be trained: " {reason}</p></div> })
    };
    let late = move || desk.late.get().map(|sentence| view! { <div class="notice" role="status"><p>{sentence}</p></div> });
    let on_cpu = move || {
        // The worker tells of the device before it knows the settings; to who asked for the CPU, what the GPU lacks is no news.
        let asked = desk.draft.with(Settings::wants_cpu);
        let reason = link.with(|link| link.fallback.as_ref().map(|reason| fallback(if asked { &Fallback::Asked } else { reason })));
        let reason = reason.filter(|_| shown_fallback.get());
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
    view! { <div class="notices">{dead} {late} {link_notes} {control_notes} {on_cpu} {refused}</div> }
}

/// Sentences with a heading, until they are understood.
fn list(lines: RwSignal<Vec<Correction>>, heading: &'static str, id: &'static str) -> Option<impl IntoView + use<>> {
    let sentences = lines.get();
    (!sentences.is_empty()).then(|| {
        let items: Vec<_> = sentences.iter().map(|note| view! { <li>{note.to_string()}"."</li> }).collect();
        view! {
            <div class="notice" role="status" data-testid=id>
                <div>
                    <p>{heading}</p>
                    <ul>{items}</ul>
                </div>
                <button class="plain" on:click=move |_| lines.set(Vec::new())>"Understood"</button>
            </div>
        }
    })
}
