//! The width an element has, followed as it changes.

use leptos::{html::Div, prelude::*};
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::ResizeObserver;

/// Width of `node` in pixels, `start` until it is known.
pub(crate) fn width_of(node: NodeRef<Div>, start: f64) -> ReadSignal<f64> {
    let (width, set_width) = signal(start);
    Effect::new(move || {
        let Some(element) = node.get() else { return };
        let watched = element.clone();
        let measure = Closure::<dyn Fn()>::new(move || {
            let now = f64::from(watched.client_width());
            if now > 0.0 && now != width.get_untracked() {
                set_width.set(now);
            }
        });
        if let Ok(observer) = ResizeObserver::new(measure.as_ref().unchecked_ref()) {
            observer.observe(&element);
            on_cleanup_local(observer);
        }
        // The observer calls it for as long as the page lives.
        measure.forget();
    });
    width
}

fn on_cleanup_local(observer: ResizeObserver) {
    let observer = StoredValue::new_local(observer);
    on_cleanup(move || {
        observer.try_with_value(ResizeObserver::disconnect);
    });
}
