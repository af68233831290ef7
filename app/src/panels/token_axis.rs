//! Rows that share one axis of tokens, wherever they stand in the page.

use crate::desk::desk;
use leptos::{html::Div, prelude::*};
use palimpsest_protocol::Sample;

/// What all token axes have in common; a copy is as good as the original.
#[derive(Clone, Copy)]
pub(crate) struct AxisView {
    /// How far they are scrolled, in pixels.
    left: RwSignal<i32>,
    /// Whether the whole sequence is squeezed into sight.
    pub(crate) whole: RwSignal<bool>,
}

impl AxisView {
    /// At the first token, at full size.
    pub(crate) fn new() -> AxisView {
        AxisView { left: RwSignal::new(0), whole: RwSignal::new(false) }
    }
}

/// A stretch of the axis with rows on it. All axes scroll together, and the place stays in sight.
#[component]
pub(crate) fn TokenAxis(
    tokens: usize,
    longest: usize,
    /// Name of a stretch that takes the focus itself, as nothing in it does: the page's keys scroll it.
    #[prop(optional)]
    label: Option<&'static str>,
    children: Children,
) -> impl IntoView {
    let desk = desk();
    let AxisView { left, whole } = desk.axis;
    let scroller = NodeRef::<Div>::new();
    let place = move || desk.token.get().min(tokens.saturating_sub(1));
    Effect::new(move || {
        let left = left.get();
        if let Some(scroller) = scroller.get().filter(|scroller| scroller.scroll_left() != left) {
            scroller.set_scroll_left(left);
        }
    });
    Effect::new(move || {
        let token = place();
        // The sequence leads; the others follow it, so that a new one does not jump.
        if let Some(scroller) = scroller.get().filter(|_| label.is_none()) {
            let column = f64::from(scroller.scroll_width()) / tokens.max(1) as f64;
            let (from, width) = (f64::from(scroller.scroll_left()), f64::from(scroller.client_width()));
            let start = token as f64 * column;
            if start < from || start + column > from + width {
                scroller.set_scroll_left((start - width / 2.0) as i32);
                left.set(scroller.scroll_left());
            }
        }
    });
    let scrolled = move |_| {
        if let Some(now) = scroller.get_untracked().map(|scroller| scroller.scroll_left()).filter(|now| left.get_untracked() != *now) {
            left.set(now);
        }
    };
    let sizes = format!("--tokens:{tokens};--chars:{longest}");
    view! {
        <div class="axis" class:axis-whole=move || whole.get() style=sizes>
            <div
                class="axis-scroll"
                node_ref=scroller
                on:scroll=scrolled
                tabindex=label.map(|_| "0")
                role=label.map(|_| "group")
                aria-label=label
            >
                <div class="axis-rows">
                    <div class="playhead" style:--at=move || place().to_string() aria-hidden="true"></div>
                    {children()}
                </div>
            </div>
        </div>
    }
}

/// Characters of the longest token of a sample.
pub(crate) fn longest(sample: &Sample) -> usize {
    sample.texts.iter().map(|text| text.chars().count()).max().unwrap_or(1)
}
