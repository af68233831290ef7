//! A run axis for kernels that were written for one run.
//!
//! Runs that are stacked share every launch: workgroups with `z` = r are run r's, and every number of a binding lies a fixed stride
//! after that of the run before. Only text changes, so that operations know nothing of it.

use crate::unroll::sizes;
use std::collections::HashMap;

/// The kernel's name for the index of its run.
const RUN: &str = "stacked_run";

/// Gives the kernel `source` a run axis. `strides[i]` is the distance in bytes of two runs' numbers in binding i; 0 where all runs share
/// them, as they share workgroup memory with no one.
///
/// Every `name[index]` of a binding with a stride becomes `name[stacked_run * STRIDE + (index)]`, and `main` sets `stacked_run` from its
/// workgroup.
///
/// # Errors
/// What stands in the way, as a clause: a declaration that does not read as expected, or a pointer to a whole binding.
pub(crate) fn with_run_axis(source: &str, strides: &[u64]) -> Result<String, String> {
    let source = without_comments(source);
    let sizes = sizes(&source);
    let mut stacked = HashMap::new();
    for line in source.lines().filter(|line| line.contains("var<storage")) {
        let (binding, name, element) = declaration(line).ok_or_else(|| format!("it declares '{line}'"))?;
        let index = binding.parse().ok().or_else(|| sizes.get(binding).copied());
        let stride = index.and_then(|index: usize| strides.get(index).copied());
        let stride = stride.ok_or_else(|| format!("binding {binding} ('{name}') has no region"))?;
        let size = element_bytes(element).ok_or_else(|| format!("'{name}' holds {element}"))?;
        if !stride.is_multiple_of(size) {
            return Err(format!("'{name}' of two runs lies {stride} bytes apart, which are not whole {element}"));
        }
        if stride > 0 {
            stacked.insert(name, stride / size);
        }
    }
    let mut text = String::with_capacity(2 * source.len());
    offset(&source, &stacked, &mut text)?;
    let text = set_run(&text).ok_or("it has no 'fn main('")?;
    Ok(format!("{text}var<private> {RUN}: u32;\n"))
}

fn without_comments(source: &str) -> String {
    let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end());
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Binding, name and element of `@group(0) @binding(i) var<storage, ..> name: array<element>;`.
fn declaration(line: &str) -> Option<(&str, &str, &str)> {
    let (binding, rest) = line.split_once("@binding(")?.1.split_once(')')?;
    let (name, rest) = rest.trim_start().strip_prefix("var<storage")?.split_once('>')?.1.split_once(':')?;
    let element = rest.trim().strip_prefix("array<")?.strip_suffix(">;")?;
    Some((binding, name.trim(), element))
}

fn element_bytes(element: &str) -> Option<u64> {
    match element {
        "f32" | "u32" | "i32" => Some(4),
        "vec2<f32>" | "vec2<u32>" | "vec2<i32>" => Some(8),
        "vec4<f32>" | "vec4<u32>" | "vec4<i32>" => Some(16),
        _ => None,
    }
}

/// Copies `text`, with the run's offset in every index of a stacked binding.
fn offset(text: &str, stacked: &HashMap<&str, u64>, written: &mut String) -> Result<(), String> {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(start) = rest.find(part_of_word) {
        let (before, from_word) = rest.split_at(start);
        let (word, after) = from_word.split_at(from_word.find(|c| !part_of_word(c)).unwrap_or(from_word.len()));
        written.push_str(before);
        written.push_str(word);
        rest = after;
        // `.name` is a member, not the binding.
        let Some(stride) = stacked.get(word).filter(|_| !before.ends_with('.')) else { continue };
        match after.strip_prefix('[') {
            Some(index) => {
                let end = closing(index).ok_or_else(|| format!("an index of '{word}' is not closed"))?;
                written.push_str(&format!("[{RUN} * {stride}u + ("));
                offset(&index[..end], stacked, written)?;
                written.push_str(")]");
                rest = &index[end + 1..];
            }
            None if before.ends_with('&') => return Err(format!("it takes a pointer to '{word}'")),
            None => {}
        }
    }
    written.push_str(rest);
    Ok(())
}

/// Where the bracket that was opened before `text` closes.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        (depth == 0).then_some(at)
    })
}

/// Lets `main` set the run's index first of all.
fn set_run(text: &str) -> Option<String> {
    let (before, main) = text.split_once("fn main(")?;
    let (parameters, body) = main.split_once('{')?;
    let given = parameters.split_once("@builtin(workgroup_id)").and_then(|(_, rest)| rest.split_once(':'));
    let (group, added) = match given {
        Some((name, _)) => (name.trim(), ""),
        None => ("stacked_group", "@builtin(workgroup_id) stacked_group: vec3<u32>, "),
    };
    Some(format!("{before}fn main({added}{parameters}{{\n    {RUN} = {group}.z;{body}"))
}

#[cfg(test)]
mod tests {
    use super::with_run_axis;

    const KERNEL: &str = "const TABLE: u32 = 2u;
@group(0) @binding(0) var<storage, read> x: array<f32>; // [N]
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(TABLE) var<storage, read> table: array<u32>;
fn twice(x: f32) -> f32 { return x + x; }
fn main(@builtin(local_invocation_index) i: u32) {
    y[table[i + 1u]].x += twice(x[table[x_of[i]]]) + own.x[i]; // x[
}
";

    #[test]
    fn every_index_of_a_stacked_binding_gets_the_runs_offset() {
        let text = with_run_axis(KERNEL, &[256, 512, 0]).expect("a kernel that can be stacked");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines[4..],
            [
                "fn twice(x: f32) -> f32 { return x + x; }",
                "fn main(@builtin(workgroup_id) stacked_group: vec3<u32>, @builtin(local_invocation_index) i: u32) {",
                "stacked_run = stacked_group.z;",
                "y[stacked_run * 32u + (table[i + 1u])].x += twice(x[stacked_run * 64u + (table[x_of[i]])]) + own.x[i];",
                "}",
                "var<private> stacked_run: u32;",
            ]
        );
    }

    #[test]
    fn indices_within_indices_are_offset_and_a_given_workgroup_is_used() {
        let kernel = KERNEL.replace("local_invocation_index", "workgroup_id").replace("i: u32", "place: vec3<u32>");
        let text = with_run_axis(&kernel, &[256, 512, 1024]).expect("a kernel that can be stacked");
        assert!(text.contains("stacked_run = place.z;"), "{text}");
        assert!(text.contains("y[stacked_run * 32u + (table[stacked_run * 256u + (i + 1u)])]"), "{text}");
    }

    #[test]
    fn what_cannot_be_stacked_is_named() {
        let refused = |kernel: &str, strides: &[u64]| with_run_axis(kernel, strides).expect_err("not to be stacked");
        assert_eq!(refused(KERNEL, &[256, 512]), "binding TABLE ('table') has no region");
        assert_eq!(refused(KERNEL, &[256, 8, 0]), "'y' of two runs lies 8 bytes apart, which are not whole vec4<f32>");
        assert_eq!(refused(&KERNEL.replace("twice(x[", "arrayLength(&x) + (x["), &[4, 16, 0]), "it takes a pointer to 'x'");
        assert_eq!(refused(&KERNEL.replace("array<f32>", "array<Pair>"), &[4, 16, 0]), "'x' holds Pair");
        assert_eq!(
            refused(&KERNEL.replace("array<f32>", "f32"), &[4, 16, 0]),
            "it declares '@group(0) @binding(0) var<storage, read> x: f32;'"
        );
        assert_eq!(refused(&KERNEL.replace("fn main", "fn other"), &[4, 16, 0]), "it has no 'fn main('");
    }
}
