// Log-decay from D = softplus(x + bias), A = exp(log_rate): g = -A D, or the safe gate g = FLOOR (1 - exp(A D / FLOOR)).

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> log_rate: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = flat_group(group, groups) * WORKGROUP + index;
    if (i < COUNT * COLUMNS) {
        let n = i / COLUMNS;
        let column = i % COLUMNS;
        let strength = exp(log_rate[column / WIDTH]) * softplus(x[n * X_STRIDE + X_FIRST + column] + bias[column]);
        let safe = FLOOR * one_minus_exp(strength / -FLOOR);
        y[n * Y_STRIDE + place(column)] = select(-strength, safe, SAFE);
    }
}
