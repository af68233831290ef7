// dx[rows[i]] (+)= dy[i]; rows are distinct.

@group(0) @binding(0) var<storage, read> rows: array<u32>;
@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = flat_group(group, groups) * WORKGROUP + index;
    if (i < COUNT) {
        let at = rows[i / WIDTH] * WIDTH + i % WIDTH;
        dx[at] = select(dy[i], dy[i] + dx[at], ADD);
    }
}
