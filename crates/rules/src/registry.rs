//! Every rule of the folder `shaders/rules`, in the order that their files give.

use crate::Rule;
use std::sync::OnceLock;

/// (slug, text) of each file in order; checked and written by the build script.
const TEXTS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// All rules, in the order that their files give.
pub fn rules() -> &'static [Rule] {
    static RULES: OnceLock<Vec<Rule>> = OnceLock::new();
    // the build has parsed each of them, so that none is left out
    RULES.get_or_init(|| TEXTS.iter().filter_map(|(slug, text)| Rule::parse(slug, text).ok()).collect())
}

/// The rule with this slug.
pub fn find(slug: &str) -> Option<&'static Rule> {
    rules().iter().find(|rule| rule.slug() == slug)
}

/// The rule to begin with: the one whose file says `default`, else the first.
pub fn default_rule() -> &'static Rule {
    let rules = rules();
    rules.iter().find(|rule| rule.is_default()).unwrap_or(&rules[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_a_rule_and_one_is_the_default() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shaders/rules");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut slugs: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "rule"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        let mut found: Vec<String> = rules().iter().map(|rule| rule.slug().to_owned()).collect();
        slugs.sort();
        found.sort();
        assert_eq!(found, slugs);
        assert!(found.len() >= 11);
        assert_eq!(rules().iter().filter(|rule| rule.is_default()).count(), 1);
        assert_eq!(find(default_rule().slug()).map(Rule::slug), Some(default_rule().slug()));
        assert!(find("no such rule").is_none());
        assert!(rules().is_sorted_by(|a, b| a.order() < b.order()));
        for rule in rules() {
            assert!(!rule.cites().is_empty() && rule.about().ends_with(['.', '?']) && !rule.equations().is_empty(), "{}", rule.slug());
        }
    }
}
