//! Lists the folder of rule texts, so that adding a rule is adding a file. A text with an error stops the build.

// The same front half as the library's: from text to a typed graph.
#![allow(dead_code, unreachable_pub, reason = "the library uses the rest of these modules")]

#[path = "src/declaration.rs"]
mod declaration;
#[path = "src/error.rs"]
mod error;
#[path = "src/graph.rs"]
mod graph;
#[path = "src/lower.rs"]
mod lower;
#[path = "src/quote.rs"]
mod quote;
#[path = "src/rule.rs"]
mod rule;
#[path = "src/syntax.rs"]
mod syntax;
#[path = "src/token.rs"]
mod token;

use rule::Rule;
use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../shaders/rules");
    println!("cargo::rerun-if-changed={}", folder.display());
    for module in ["declaration", "error", "graph", "lower", "quote", "rule", "syntax", "token"] {
        println!("cargo::rerun-if-changed=src/{module}.rs");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let mut rules = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rule") {
            println!("cargo::rerun-if-changed={}", path.display());
            let slug = path.file_stem().and_then(|stem| stem.to_str()).ok_or("a rule's file name is not UTF-8")?;
            rules.push(check(slug, &fs::read_to_string(&path)?));
        }
    }
    let mut errors: Vec<String> = rules.iter().filter_map(|rule| rule.as_ref().err().cloned()).collect();
    let mut rules: Vec<Rule> = rules.into_iter().flatten().collect();
    rules.sort_by(|a, b| a.order().total_cmp(&b.order()));
    for pair in rules.windows(2).filter(|pair| pair[0].order() == pair[1].order()) {
        errors.push(format!("{}.rule and {}.rule have the same order; give each its own", pair[0].slug(), pair[1].slug()));
    }
    let defaults: Vec<&str> = rules.iter().filter(|rule| rule.is_default()).map(Rule::slug).collect();
    if defaults.len() != 1 && errors.is_empty() {
        errors.push(format!("found {} rules with the word default ({}), expected one", defaults.len(), defaults.join(", ")));
    }
    errors.iter().for_each(|error| println!("cargo::error={error}"));
    let texts: Vec<String> = rules.iter().map(|rule| format!("({:?}, {:?}),\n", rule.slug(), rule.source())).collect();
    fs::write(Path::new(&env::var("OUT_DIR")?).join("rules.rs"), format!("[\n{}]\n", texts.concat()))?;
    Ok(())
}

/// A rule that lists can show: besides a sound text it needs every heading.
fn check(slug: &str, text: &str) -> Result<Rule, String> {
    let rule = Rule::parse(slug, text).map_err(|error| error.to_string())?;
    let missing = [("cites", rule.cites().is_empty()), ("about", rule.about().is_empty()), ("order", rule.order() == f64::MAX)];
    match missing.iter().find(|(_, missing)| *missing) {
        Some((heading, _)) => Err(format!("{slug}.rule: found no line '{heading}', expected one")),
        None => Ok(rule),
    }
}
