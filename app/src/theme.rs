//! Light, dark, or as the system says. The choice is a setting, so that a link shows what its sender saw.

use crate::figure::{Ground, Maps};
use leptos::prelude::*;
use palimpsest_spec::{Settings, Theme as Choice};
use std::sync::Arc;
use wasm_bindgen::{JsCast, closure::Closure};

/// The theme in force and the colour maps on it.
#[derive(Clone, Copy)]
pub(crate) struct Theme {
    system: RwSignal<Ground>,
    ground: Memo<Ground>,
    /// The colour maps over this theme's page.
    pub(crate) maps: Memo<Arc<Maps>>,
}

impl Theme {
    /// Follows the settings, and the system where they leave it to that.
    pub(crate) fn provide(draft: RwSignal<Settings>) {
        let system = RwSignal::new(Ground::Light);
        if let Some(query) = window().match_media("(prefers-color-scheme: dark)").ok().flatten() {
            let read = |dark: bool| if dark { Ground::Dark } else { Ground::Light };
            system.set(read(query.matches()));
            let source = query.clone();
            let changed = Closure::<dyn Fn()>::new(move || system.set(read(source.matches())));
            let _ = query.add_event_listener_with_callback("change", changed.as_ref().unchecked_ref());
            changed.forget();
        }
        let ground = Memo::new(move |_| match draft.with(Settings::theme) {
            Choice::System => system.get(),
            Choice::Light => Ground::Light,
            Choice::Dark => Ground::Dark,
        });
        let maps = Memo::new(move |_| Arc::new(Maps::on(ground.get())));
        Effect::new(move || {
            let word = choice(ground.get()).word();
            if let Some(root) = document().document_element() {
                let _ = root.set_attribute("data-theme", word);
            }
        });
        provide_context(Theme { system, ground, maps });
    }

    /// The setting that gives the other theme.
    pub(crate) fn other(self) -> Choice {
        let other = match self.ground.get() {
            Ground::Light => Ground::Dark,
            Ground::Dark => Ground::Light,
        };
        if other == self.system.get() { Choice::System } else { choice(other) }
    }

    /// The other theme's name, for the button.
    pub(crate) fn other_name(self) -> &'static str {
        match self.ground.get() {
            Ground::Light => "Dark theme",
            Ground::Dark => "Light theme",
        }
    }
}

fn choice(ground: Ground) -> Choice {
    match ground {
        Ground::Light => Choice::Light,
        Ground::Dark => Choice::Dark,
    }
}
