// With n = o r and s = sigmoid(gate): do = r (w s dy - n mean(w s dy n)), dw = sum of dy s n, dgate = dy w n s (1 - s).
// A workgroup walks CHUNK rows (token and head) and leaves one row of dw's partial sums.

@group(0) @binding(0) var<storage, read> o: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> dy: array<f32>;
@group(0) @binding(3) var<storage, read_write> d_o: array<f32>;
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
        let clamped = min(row, COUNT - 1u);
        let first = clamped * WIDTH;
        var squares = 0.0;
        var product = 0.0;
        for (var j = lane; j < WIDTH; j += LANES) {
            squares += o[first + j] * o[first + j];
            product += weight[j] * opening(clamped, j) * dy[first + j] * o[first + j];
        }
        let scale = inverseSqrt(row_sum(squares, lane) / f32(WIDTH) + EPSILON);
        let mean = row_sum(product, lane) * scale / f32(WIDTH);
        if (live) {
            for (var i = 0u; i < PER_LANE; i++) { // unroll
                let j = lane + i * LANES;
                if (j < WIDTH) {
                    let n = o[first + j] * scale;
                    let s = opening(clamped, j);
                    let value = scale * (weight[j] * s * dy[first + j] - n * mean);
                    d_o[first + j] = select(value, value + d_o[first + j], ADD);
                    dw[i] += dy[first + j] * s * n;
                    store_gate(clamped, j, dy[first + j] * weight[j] * n * s * (1.0 - s));
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
