// With r = 1 / sqrt(sum x^2 + EPSILON), y = x r: dx = r (dy - y dot(y, dy)).

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;

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
    let first_y = clamped * STRIDE + SLOT;
    var squares = 0.0;
    var product = 0.0;
    for (var j = lane; j < WIDTH; j += LANES) {
        squares += x[first + j] * x[first + j];
        product += x[first + j] * dy[first_y + j];
    }
    let scale = inverseSqrt(row_sum(squares, lane) + EPSILON);
    let along = row_sum(product, lane) * scale * scale;
    if (row < COUNT) {
        for (var j = lane; j < WIDTH; j += LANES) {
            let value = scale * (dy[first_y + j] - x[first + j] * along);
            dx[first + j] = select(value, value + dx[first + j], ADD);
        }
    }
}
