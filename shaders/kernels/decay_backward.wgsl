// With strength a = A D: dg/da = -1, or -exp(a / FLOOR) for the safe gate; da/dx = A sigmoid(x + bias), da/dlog_rate = a.
// An invocation walks CHUNK rows of one column and leaves partial sums [CHUNKS, 2 COLUMNS]: dbias, then dlog_rate.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> log_rate: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;
@group(0) @binding(5) var<storage, read_write> partial: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = flat_group(group, groups) * WORKGROUP + index;
    if (i < CHUNKS * COLUMNS) {
        let column = i % COLUMNS;
        let chunk = i / COLUMNS;
        let own = place(column);
        let rate = exp(log_rate[column / WIDTH]);
        var d_bias = 0.0;
        var d_log_rate = 0.0;
        for (var n = chunk * CHUNK; n < min((chunk + 1u) * CHUNK, COUNT); n++) {
            let at = n * X_STRIDE + X_FIRST + column;
            let logit = x[at] + bias[column];
            let strength = rate * softplus(logit);
            let slope = dy[n * Y_STRIDE + own] * select(-1.0, -exp(strength / FLOOR), SAFE);
            let value = slope * rate * sigmoid(logit);
            dx[at] = select(value, value + dx[at], ADD);
            d_bias += value;
            d_log_rate += slope * strength;
        }
        partial[chunk * 2u * COLUMNS + column] = d_bias;
        partial[chunk * 2u * COLUMNS + COLUMNS + column] = d_log_rate;
    }
}
