// copied = source: how fast a kernel can move numbers that no cache holds.

@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    // Neighbours read neighbours; each invocation has several loads in flight.
    let first = flat_group(group, groups) * WORKGROUP * EACH + index;
    for (var i = 0u; i < EACH; i++) { // unroll
        let at = first + i * WORKGROUP;
        if (at < COUNT) {
            copied[at] = source[at];
        }
    }
}
