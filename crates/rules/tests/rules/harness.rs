//! The smallest WGSL around a rule's text, checked by naga.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use palimpsest_rules::{Rule, Scope};

/// Both functions of a rule in modules of their own, validated. `Err` holds the message and the text.
pub(crate) fn validate(rule: &Rule, key: usize, value: usize, lanes: u32) -> Result<(), String> {
    let (map, gradient) = (rule.wgsl_map(key, value, lanes), rule.wgsl_map_gradient(key, value, lanes));
    module(rule, &map, "rule_map", &["steps"], lanes)?;
    module(rule, &gradient, "rule_map_gradient", &["d_inputs", "d_heads"], lanes)
}

/// A module around the text of one function.
pub(crate) fn module(rule: &Rule, text: &str, function: &str, written: &[&str], lanes: u32) -> Result<(), String> {
    let heads = rule.inputs().iter().filter(|input| input.scope == Scope::Head).map(|input| format!("head_{}", input.name));
    let read = ["inputs".to_owned(), "d_steps".to_owned()].into_iter().chain(heads).map(|name| (name, "read"));
    let arrays = read.chain(written.iter().map(|name| ((*name).to_owned(), "read_write")));
    let arrays: String = arrays
        .enumerate()
        .map(|(at, (name, access))| format!("@group(0) @binding({at}) var<storage, {access}> {name}: array<f32>;\n"))
        .collect();
    let source = format!(
        "{arrays}
const LANES: u32 = {lanes}u;
var<workgroup> partial: array<f32, 64>;
var<private> live: bool;
fn row_sum(x: f32, lane: u32) -> f32 {{
    workgroupBarrier();
    partial[lane] = x;
    workgroupBarrier();
    var sum = 0.0;
    for (var i = 0u; i < LANES; i++) {{ sum += partial[i]; }}
    return sum;
}}
{text}
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {{
    live = group.x < 7u;
    {function}(min(group.x, 6u), 0u, lane);
}}
"
    );
    let failed = |message: String| format!("{} {function}: {message}\n{source}", rule.slug());
    let module = naga::front::wgsl::parse_str(&source).map_err(|error| failed(error.emit_to_string(&source)))?;
    Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).map_err(|error| failed(format!("{error:?}")))?;
    Ok(())
}
