//! Light, dark, or as the system says.

use crate::figure::{Diverging, Ground};
use gloo::storage::{LocalStorage as Stored, Storage};
use leptos::prelude::*;
use std::sync::Arc;
use wasm_bindgen::{JsCast, closure::Closure};

const KEY: &str = "palimpsest.theme";

/// The theme in force and the map drawn on it.
#[derive(Clone, Copy)]
pub(crate) struct Theme {
    chosen: RwSignal<Option<Ground>>,
    ground: Memo<Ground>,
    /// The diverging map over this theme's page.
    pub(crate) map: Memo<Arc<Diverging>>,
}

impl Theme {
    /// Follows the system until the person chooses.
    pub(crate) fn provide() -> Theme {
        let system = RwSignal::new(Ground::Light);
        if let Some(query) = window().match_media("(prefers-color-scheme: dark)").ok().flatten() {
            let read = |dark: bool| if dark { Ground::Dark } else { Ground::Light };
            system.set(read(query.matches()));
            let source = query.clone();
            let changed = Closure::<dyn Fn()>::new(move || system.set(read(source.matches())));
            let _ = query.add_event_listener_with_callback("change", changed.as_ref().unchecked_ref());
            changed.forget();
        }
        let stored = match Stored::get::<String>(KEY).as_deref() {
            Ok("light") => Some(Ground::Light),
            Ok("dark") => Some(Ground::Dark),
            _ => None,
        };
        let chosen = RwSignal::new(stored);
        let ground = Memo::new(move |_| chosen.get().unwrap_or(system.get()));
        let map = Memo::new(move |_| Arc::new(Diverging::on(ground.get())));
        Effect::new(move || {
            if let Some(root) = document().document_element() {
                let _ = root.set_attribute("data-theme", word(ground.get()));
            }
        });
        let theme = Theme { chosen, ground, map };
        provide_context(theme);
        theme
    }

    /// The other theme's name, for the button.
    pub(crate) fn other(self) -> &'static str {
        word(opposite(self.ground.get()))
    }

    /// Changes to the other theme and remembers it.
    pub(crate) fn toggle(self) {
        let next = opposite(self.ground.get_untracked());
        let _ = Stored::set(KEY, word(next));
        self.chosen.set(Some(next));
    }
}

fn opposite(ground: Ground) -> Ground {
    match ground {
        Ground::Light => Ground::Dark,
        Ground::Dark => Ground::Light,
    }
}

fn word(ground: Ground) -> &'static str {
    match ground {
        Ground::Light => "light",
        Ground::Dark => "dark",
    }
}
