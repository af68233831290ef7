// A rule's map around its generated text: packed inputs of a token and head to its packed steps.

@group(0) @binding(0) var<storage, read> inputs: array<f32>;
@group(0) @binding(1) var<storage, read_write> steps: array<f32>;

// False for rows past the end; they compute the last row again and store nothing.
var<private> live: bool;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    invocation = index;
    let row = flat_group(group, groups) * ROWS + index / LANES;
    live = row < COUNT;
    let clamped = min(row, COUNT - 1u);
    rule_map(clamped, clamped % HEADS, index % LANES);
}
