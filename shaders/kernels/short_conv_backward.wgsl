// Gradient of the convolved sums: through the unit vector (ds = r (dy - y dot(y, dy))), then SiLU. Rows as in short_conv.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read_write> dc: array<f32>;

fn part(row: u32, lane: u32, live: bool, start: u32, width: u32, slot: u32, unit: bool) {
    let n = row / HEADS;
    let first = start + (row % HEADS) * width;
    let first_y = row * STRIDE + slot;
    var scale = 1.0;
    var along = 0.0;
    if (unit) {
        var squares = 0.0;
        var product = 0.0;
        for (var j = lane; j < width; j += LANES) {
            let s = silu(convolved(n, first + j));
            squares += s * s;
            product += s * dy[first_y + j];
        }
        scale = inverseSqrt(row_sum(squares, lane) + EPSILON);
        along = row_sum(product, lane) * scale * scale;
    }
    if (live) {
        for (var j = lane; j < width; j += LANES) {
            let c = convolved(n, first + j);
            let value = scale * (dy[first_y + j] - silu(c) * along) * silu_slope(c);
            let at = n * C_STRIDE + C_FIRST + first + j;
            dc[at] = select(value, value + dc[at], ADD);
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    invocation = index;
    let row = flat_group(group, groups) * ROWS + index / LANES;
    parts(min(row, COUNT - 1u), index % LANES, row < COUNT);
}
