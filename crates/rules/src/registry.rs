//! Every rule of the folder `shaders/rules`, in the order that their files give.

use crate::Rule;
use std::sync::OnceLock;

/// (slug, text) of each file; written by the build script.
const TEXTS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// All rules, in order.
pub fn rules() -> &'static [Rule] {
    static RULES: OnceLock<Vec<Rule>> = OnceLock::new();
    RULES.get_or_init(|| {
        // a text that does not parse is left out here and named by the test below
        let mut rules: Vec<Rule> = TEXTS.iter().filter_map(|(slug, text)| Rule::parse(slug, text).ok()).collect();
        rules.sort_by(|a, b| a.order().total_cmp(&b.order()).then_with(|| a.slug().cmp(b.slug())));
        rules
    })
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
    fn every_file_is_a_rule_and_one_is_the_default() {
        let errors: Vec<String> =
            TEXTS.iter().filter_map(|(slug, text)| Rule::parse(slug, text).err()).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(rules().len(), TEXTS.len());
        assert!(rules().len() >= 11);
        assert_eq!(rules().iter().filter(|rule| rule.is_default()).count(), 1);
        assert_eq!(find(default_rule().slug()).map(Rule::slug), Some(default_rule().slug()));
    }
}
