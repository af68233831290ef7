// With n = x r, r = 1 / sqrt(mean(x^2) + EPSILON): dx = r (w dy - n mean(w dy n)), dw = sum over rows of dy n.
// A workgroup walks CHUNK rows and leaves one row of dw's partial sums.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> dy: array<f32>;
@group(0) @binding(3) var<storage, read_write> dx: array<f32>;
@group(0) @binding(4) var<storage, read_write> partial: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    invocation = index;
    let lane = index % LANES;
    let chunk = flat_group(group, groups);
    var dw: array<f32, PER_LANE>;
    for (var step = 0u; step < CHUNK; step += ROWS) {
        let row = chunk * CHUNK + step + index / LANES;
        let live = row < COUNT;
        let first = min(row, COUNT - 1u) * WIDTH;
        var squares = 0.0;
        var product = 0.0;
        for (var j = lane; j < WIDTH; j += LANES) {
            squares += x[first + j] * x[first + j];
            product += weight[j] * dy[first + j] * x[first + j];
        }
        let scale = inverseSqrt(row_sum(squares, lane) / f32(WIDTH) + EPSILON);
        let mean = row_sum(product, lane) * scale / f32(WIDTH);
        if (live) {
            for (var i = 0u; i < PER_LANE; i++) { // unroll
                let j = lane + i * LANES;
                if (j < WIDTH) {
                    let n = x[first + j] * scale;
                    let value = scale * (weight[j] * dy[first + j] - n * mean);
                    dx[first + j] = select(value, value + dx[first + j], ADD);
                    dw[i] += dy[first + j] * n;
                }
            }
        }
    }
    for (var i = 0u; i < PER_LANE; i++) { // unroll
        let j = lane + i * LANES;
        let sum = sum_of_rows(dw[i], lane);
        if (index < LANES && j < WIDTH && chunk < CHUNKS) {
            partial[chunk * WIDTH + j] = sum;
        }
    }
}
