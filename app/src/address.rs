//! The address bar is the document: it always holds the link of what the controls say.

use leptos::prelude::window;
use palimpsest_spec::Settings;
use wasm_bindgen::JsValue;

/// Word in the address that opens the self-check.
const SELF_CHECK: &str = "selfcheck";

/// What the address asked for.
pub(crate) struct Opening {
    /// Nearest valid settings.
    pub(crate) settings: Settings,
    /// What was changed to get there, in plain words.
    pub(crate) corrections: Vec<String>,
    /// Whether the self-check is shown.
    pub(crate) self_check: bool,
}

/// Reads the address.
pub(crate) fn read() -> Opening {
    let query = window().location().search().unwrap_or_default();
    let (rest, self_check) = split(query.trim_start_matches('?'));
    let (settings, corrections) = Settings::from_link(&rest);
    Opening { settings, corrections: corrections.iter().map(ToString::to_string).collect(), self_check }
}

/// Puts settings into the address without a new entry in the history.
pub(crate) fn write(settings: &Settings, self_check: bool) {
    let link = settings.to_link();
    let parts: Vec<&str> = [if self_check { SELF_CHECK } else { "" }, &link].into_iter().filter(|part| !part.is_empty()).collect();
    let address = format!("?{}", parts.join("&"));
    if let Ok(history) = window().history() {
        // Refused only on a page without an origin of its own, where the link could not be shared anyway.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address));
    }
}

/// Takes the page's own word out of the query: the rest is settings.
fn split(query: &str) -> (String, bool) {
    let (own, rest): (Vec<&str>, Vec<&str>) =
        query.split('&').filter(|part| !part.is_empty()).partition(|part| part.split('=').next() == Some(SELF_CHECK));
    (rest.join("&"), !own.is_empty())
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_pages_own_word_is_no_setting() {
        assert_eq!(split("selfcheck"), (String::new(), true));
        assert_eq!(split("v=1&selfcheck=1&batch=8"), ("v=1&batch=8".to_owned(), true));
        assert_eq!(split("v=1&batch=8"), ("v=1&batch=8".to_owned(), false));
    }
}
