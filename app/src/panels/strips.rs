//! What the gates do along the sequence: strips on the token axis.

use super::strip_row::StripRow;
use super::token_axis::{TokenAxis, longest};
use crate::desk::desk;
use crate::session::SessionStoreFields;
use leptos::prelude::*;

/// All strips of the shown layer and head.
#[component]
pub(crate) fn Strips() -> impl IntoView {
    let part = desk().session.view();
    let shown = Memo::new(move |_| part.with(|view| view.sample.clone().zip(view.traced.clone())));
    let whose =
        move || shown.with(|shown| shown.as_ref().map(|(_, traced)| format!("layer {}, head {}", traced.layer + 1, traced.head + 1)));
    view! {
        <section class="strips" aria-label="Gates along the sequence">
            <div class="panel-head">
                <h2>"Gates along the sequence"</h2>
                <span class="quiet">{whose}</span>
            </div>
            {move || {
                shown.get().map(|(sample, traced)| {
                    let first = traced.trace.first;
                    let rows: Vec<_> = traced.strips.iter().cloned().map(|strip| view! { <StripRow strip first /> }).collect();
                    view! { <TokenAxis tokens=sample.tokens.len() longest=longest(&sample) label="Strips, one column a token">{rows}</TokenAxis> }
                })
            }}
        </section>
    }
}
