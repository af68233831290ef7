//! Writing loops out before a kernel is compiled.
//!
//! Private arrays stay in registers only while every index is a constant. Drivers would unroll short loops themselves, but naga
//! adds a counter to each loop so that none runs forever, and that stops them: scans then run several times slower.

use std::collections::HashMap;

/// Longest text that one loop may become; a longer loop stays. Drivers take seconds over very long kernels.
const LONGEST: usize = 12_000;

/// Writes out each loop of `text` whose first line is `for (var i = 0u; i < BOUND; i++) { // unroll`.
///
/// BOUND is a number as `4u`, or a name that `size` knows. The body is repeated with `i` replaced; inner loops come first. Other loops,
/// and loops that would become longer than [`LONGEST`], stay as they are.
fn unroll(text: &str, size: &impl Fn(&str) -> Option<usize>) -> String {
    let mut lines = text.lines();
    let mut written = String::with_capacity(text.len());
    while let Some(line) = lines.next() {
        let found = loop_head(line).and_then(|(indent, counter, bound)| {
            let count = bound.strip_suffix('u').and_then(|digits| digits.parse().ok()).or_else(|| size(bound))?;
            // The body ends at the first brace with the loop's own indent.
            let rest = lines.clone();
            let len = rest.clone().position(|line| line.strip_prefix(indent) == Some("}"))?;
            Some((counter, count, rest.take(len).collect::<Vec<_>>().join("\n"), len))
        });
        let Some((counter, count, body, len)) = found else {
            written.push_str(line);
            written.push('\n');
            continue;
        };
        lines.nth(len);
        let body = unroll(&body, size);
        if body.len() * count > LONGEST {
            written.push_str(&format!("{line}\n{body}}}\n"));
            continue;
        }
        for i in 0..count {
            written.push_str("{\n");
            replace_word(&body, counter, &format!("{i}u"), &mut written);
            written.push_str("}\n");
        }
    }
    written
}

/// Writes out each marked loop of a whole kernel, with the sizes that its own `const` lines give.
pub(crate) fn unroll_all(source: &str) -> String {
    let sizes = sizes(source);
    unroll(source, &|name| sizes.get(name).copied())
}

/// The values of a kernel's `const NAME: u32` lines.
pub(crate) fn sizes(source: &str) -> HashMap<String, usize> {
    let constant = |line: &'_ str| {
        let (name, value) = line.strip_prefix("const ")?.split_once(": u32 = ")?;
        Some((name.to_owned(), value.strip_suffix("u;")?.parse().ok()?))
    };
    source.lines().filter_map(constant).collect()
}

/// Indent, counter and bound of a marked loop.
fn loop_head(line: &str) -> Option<(&str, &str, &str)> {
    let trimmed = line.trim_start();
    let (counter, rest) = trimmed.strip_prefix("for (var ")?.strip_suffix(") { // unroll")?.split_once(" = 0u; ")?;
    let (condition, step) = rest.split_once("; ")?;
    let (same, bound) = condition.split_once(" < ")?;
    let whole = same == counter && step.strip_suffix("++") == Some(counter);
    whole.then_some((&line[..line.len() - trimmed.len()], counter, bound))
}

fn replace_word(text: &str, word: &str, by: &str, written: &mut String) {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let whole = !before.ends_with(part_of_word) && !after.starts_with(part_of_word);
        written.push_str(before);
        written.push_str(if whole { by } else { word });
        rest = after;
    }
    written.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, unroll};

    fn sizes(name: &str) -> Option<usize> {
        (name == "N").then_some(2)
    }

    #[test]
    fn nested_loops_are_written_out() {
        let text = "a;\n    for (var i = 0u; i < N; i++) { // unroll\n        for (var j = 0u; j < 2u; j++) { // unroll\n            \
                    x[i * 2u + j] = ij;\n        }\n    }\nb;\n";
        let written = unroll(text, &sizes);
        let lines: Vec<&str> = written.lines().map(str::trim).filter(|line| !matches!(*line, "{" | "}")).collect();
        assert_eq!(lines, ["a;", "x[0u * 2u + 0u] = ij;", "x[0u * 2u + 1u] = ij;", "x[1u * 2u + 0u] = ij;", "x[1u * 2u + 1u] = ij;", "b;"]);
    }

    #[test]
    fn a_loop_that_would_be_too_long_keeps_its_short_inner_loops() {
        let statement = "x += 1.0;".repeat(LONGEST / 20);
        let text = format!(
            "for (var i = 0u; i < 3u; i++) {{ // unroll\n{statement}\n  for (var j = 0u; j < N; j++) {{ // unroll\n    y[j];\n  }}\n}}\n"
        );
        let written = unroll(&text, &sizes);
        assert!(written.starts_with("for (var i") && written.contains("y[1u]"), "{written}");
        assert_eq!(written.matches('{').count(), written.matches('}').count());
    }

    #[test]
    fn other_loops_stay() {
        for text in ["for (var i = 0u; i < N; i++) {\n}\n", "for (var i = 0u; i < M; i++) { // unroll\n}\n"] {
            assert_eq!(unroll(text, &sizes), text);
        }
    }
}
