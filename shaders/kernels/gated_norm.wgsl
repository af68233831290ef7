// y = weight * o / sqrt(mean(o^2) + EPSILON) * sigmoid(gate), a row per token and head.

@group(0) @binding(0) var<storage, read> o: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

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
    let first = clamped * WIDTH;
    var squares = 0.0;
    for (var j = lane; j < WIDTH; j += LANES) {
        squares += o[first + j] * o[first + j];
    }
    let scale = inverseSqrt(row_sum(squares, lane) / f32(WIDTH) + EPSILON);
    if (row < COUNT) {
        for (var j = lane; j < WIDTH; j += LANES) {
            y[first + j] = weight[j] * o[first + j] * scale * opening(clamped, j);
        }
    }
}
