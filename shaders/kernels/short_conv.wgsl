// Causal depthwise convolution, SiLU and (by part) unit vectors. A row is a token and head; parts() calls part() for each part.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

// `start`: the head's first column in the part.
fn part(row: u32, lane: u32, live: bool, start: u32, width: u32, slot: u32, unit: bool) {
    let n = row / HEADS;
    let first = start + (row % HEADS) * width;
    let first_y = row * STRIDE + slot;
    var scale = 1.0;
    if (unit) {
        var squares = 0.0;
        for (var j = lane; j < width; j += LANES) {
            let s = silu(convolved(n, first + j));
            squares += s * s;
        }
        scale = inverseSqrt(row_sum(squares, lane) + EPSILON);
    }
    if (live) {
        for (var j = lane; j < width; j += LANES) {
            y[first_y + j] = silu(convolved(n, first + j)) * scale;
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
