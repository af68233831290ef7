//! Keys of the whole page. They rest while a person types or works a control.

use crate::desk::Desk;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

/// What a key does, with its line in the list.
pub(crate) const KEYS: [(&str, &str); 8] = [
    ("Space", "train or pause"),
    ("← →", "one token back or on"),
    ("↑ ↓", "one moment back or on: decay, erase, write, read"),
    ("s", "one training step"),
    ("r", "reset to the same initial weights"),
    ("?", "show or hide this list"),
    ("Esc", "hide this list"),
    ("Tab, then arrows", "on the matrix or the charts: move the reading"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Press,
    Token(isize),
    Frame(isize),
    Step,
    Reset,
    Keys,
    Escape,
}

fn action(key: &str) -> Option<Action> {
    Some(match key {
        " " => Action::Press,
        "ArrowLeft" => Action::Token(-1),
        "ArrowRight" => Action::Token(1),
        "ArrowUp" => Action::Frame(-1),
        "ArrowDown" => Action::Frame(1),
        "s" => Action::Step,
        "r" => Action::Reset,
        "?" => Action::Keys,
        "Escape" => Action::Escape,
        _ => return None,
    })
}

/// Listens for as long as the page lives.
pub(crate) fn listen(desk: Desk) {
    let handle = window_event_listener(leptos::ev::keydown, move |event: KeyboardEvent| {
        if event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let Some(action) = action(&event.key()) else { return };
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if target.is_some_and(|target| busy(&target, action)) {
            return;
        }
        event.prevent_default();
        match action {
            Action::Press => desk.press(),
            Action::Token(by) => desk.move_token(by),
            Action::Frame(by) => desk.move_frame(by),
            Action::Step => desk.step(),
            Action::Reset => desk.reset(),
            Action::Keys => desk.keys.update(|shown| *shown = !*shown),
            Action::Escape => desk.keys.set(false),
        }
    });
    // The listener goes with the page.
    std::mem::forget(handle);
}

/// Whether the element in focus has its own use for the key.
fn busy(target: &Element, action: Action) -> bool {
    let tag = target.tag_name().to_ascii_lowercase();
    match tag.as_str() {
        "input" if target.get_attribute("type").as_deref() == Some("checkbox") => action == Action::Press,
        "input" | "select" | "textarea" => true,
        "button" | "a" | "summary" => action == Action::Press,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_single_key_does_something() {
        for (key, _) in KEYS.iter().filter(|(key, _)| key.chars().count() == 1) {
            assert!(action(key).is_some(), "{key}");
        }
        assert_eq!(action("ArrowLeft"), Some(Action::Token(-1)));
        assert_eq!(action("q"), None);
    }
}
