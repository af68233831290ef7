// d_logits = (softmax(logits) - one_hot(target)) / COUNT

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> targets: array<u32>;
@group(0) @binding(2) var<storage, read> log_sums: array<f32>;
@group(0) @binding(3) var<storage, read_write> d_logits: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = flat_group(group, groups) * WORKGROUP + index;
    if (i < COUNT * WIDTH) {
        let row = i / WIDTH;
        let p = exp(logits[i] - log_sums[2u * row] - log_sums[2u * row + 1u]);
        let value = (p - select(0.0, 1.0, targets[row] == i % WIDTH)) / f32(COUNT);
        d_logits[i] = select(value, value + d_logits[i], ADD);
    }
}
