//! The address bar is the document: it always holds the link of what the controls say.

use leptos::prelude::window;
use palimpsest_spec::{Correction, Settings};
use wasm_bindgen::JsValue;

/// Words in the address that open the self-check and the benchmark.
const SELF_CHECK: &str = "selfcheck";
const BENCH: &str = "bench";

/// What the address asked for.
pub(crate) struct Opening {
    /// Nearest valid settings.
    pub(crate) settings: Settings,
    /// What was changed to get there.
    pub(crate) corrections: Vec<Correction>,
    /// Whether the self-check is shown.
    pub(crate) self_check: bool,
    /// Whether the benchmark is shown.
    pub(crate) bench: bool,
}

/// Reads the address.
pub(crate) fn read() -> Opening {
    let query = window().location().search().unwrap_or_default();
    let (rest, own) = split(query.trim_start_matches('?'));
    let asks = |word: &str| own.contains(&word);
    let (settings, corrections) = Settings::from_link(&rest);
    Opening { settings, corrections, self_check: asks(SELF_CHECK), bench: asks(BENCH) }
}

/// Puts settings into the address without a new entry in the history.
pub(crate) fn write(settings: &Settings, self_check: bool, bench: bool) {
    let link = settings.to_link();
    let words = [(self_check, SELF_CHECK), (bench, BENCH)].into_iter().filter(|(on, _)| *on).map(|(_, word)| word);
    let parts: Vec<&str> = words.chain([link.as_str()]).filter(|part| !part.is_empty()).collect();
    let address = format!("?{}", parts.join("&"));
    if let Ok(history) = window().history() {
        // Refused only on a page without an origin of its own, where the link could not be shared anyway.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address));
    }
}

/// Takes the page's own words out of the query: the rest is settings.
fn split(query: &str) -> (String, Vec<&str>) {
    let word = |part: &&str| matches!(part.split('=').next(), Some(SELF_CHECK | BENCH));
    let (own, rest): (Vec<&str>, Vec<&str>) = query.split('&').filter(|part| !part.is_empty()).partition(word);
    (rest.join("&"), own.into_iter().filter_map(|part| part.split('=').next()).collect())
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_pages_own_words_are_no_settings() {
        assert_eq!(split("selfcheck"), (String::new(), vec!["selfcheck"]));
        assert_eq!(split("v=1&selfcheck=1&batch=8&bench"), ("v=1&batch=8".to_owned(), vec!["selfcheck", "bench"]));
        assert_eq!(split("v=1&batch=8"), ("v=1&batch=8".to_owned(), vec![]));
    }
}
