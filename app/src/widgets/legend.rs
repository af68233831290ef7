//! The legend of the diverging map, with numbers.

use crate::{figure::number, theme::Theme};
use leptos::prelude::*;

/// From -limit over zero, which is the page, to +limit.
#[component]
pub(crate) fn Legend(#[prop(into)] limit: Signal<f32>) -> impl IntoView {
    let maps = expect_context::<Theme>().maps;
    let text = move |sign: f64| number(sign * f64::from(limit.get()));
    view! {
        <div class="legend">
            <span class="num">{move || text(-1.0)}</span>
            <span class="legend-bar" style:background=move || maps.with(|maps| maps.css())></span>
            <span class="num">{move || format!("+{}", text(1.0))}</span>
            <span class="quiet">"0 is the page"</span>
        </div>
    }
}
