// y[n, h, SLOT + j] = x / sqrt(sum x^2 + EPSILON), a row per token and head.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    invocation = index;
    let lane = index % LANES;
    let row = flat_group(group, groups) * ROWS + index / LANES;
    let clamped = min(row, COUNT - 1u);
    let first = (clamped / HEADS) * X_STRIDE + X_FIRST + (clamped % HEADS) * WIDTH;
    var squares = 0.0;
    for (var j = lane; j < WIDTH; j += LANES) {
        squares += x[first + j] * x[first + j];
    }
    let scale = inverseSqrt(row_sum(squares, lane) + EPSILON);
    if (row < COUNT) {
        for (var j = lane; j < WIDTH; j += LANES) {
            y[row * STRIDE + SLOT + j] = x[first + j] * scale;
        }
    }
}
