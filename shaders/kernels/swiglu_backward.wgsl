// dx[:, ..M] = dy x[:, M..] silu'(x[:, ..M]), dx[:, M..] = dy silu(x[:, ..M])

@group(0) @binding(0) var<storage, read> x: array<f32>;
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
        let at = (i / M) * 2u * M + i % M;
        let gate = dy[i] * x[at + M] * silu_slope(x[at]);
        let value = dy[i] * silu(x[at]);
        dx[at] = select(gate, gate + dx[at], ADD);
        dx[at + M] = select(value, value + dx[at + M], ADD);
    }
}
