// y[n, h, slot + j] = sigmoid(x[n, column] + bias[column]); place(column) is h * STRIDE + slot + j.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> bias: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

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
        y[n * Y_STRIDE + place(column)] = sigmoid(x[n * X_STRIDE + X_FIRST + column] + bias[column]);
    }
}
