// From dc: dx[t] = sum_i taps[i] dc[t + (TAPS - 1) - i] within the sequence, dtaps[i] = sum_t dc[t] x[t - (TAPS - 1) + i].
// An invocation walks CHUNK tokens of one column and leaves partial sums [CHUNKS, COLUMNS, TAPS] of dtaps.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> taps: array<f32>;
@group(0) @binding(2) var<storage, read> dc: array<f32>;
@group(0) @binding(3) var<storage, read_write> dx: array<f32>;
@group(0) @binding(4) var<storage, read_write> partial: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let own = flat_group(group, groups) * WORKGROUP + index;
    if (own >= CHUNKS * COLUMNS) {
        return;
    }
    let column = own % COLUMNS;
    let start = (own / COLUMNS) * CHUNK;
    var d_taps: array<f32, TAPS>;
    for (var n = start; n < min(start + CHUNK, COUNT); n++) {
        let t = n % TIME;
        let at = n * X_STRIDE + X_FIRST + column;
        let here = dc[n * COLUMNS + column];
        var sum = 0.0;
        for (var i = 0u; i < TAPS; i++) { // unroll
            let lag = TAPS - 1u - i;
            if (t + lag < TIME) {
                sum += taps[column * TAPS + i] * dc[(n + lag) * COLUMNS + column];
            }
            if (t >= lag) {
                d_taps[i] += here * x[at - lag * X_STRIDE];
            }
        }
        dx[at] = select(sum, sum + dx[at], ADD);
    }
    for (var i = 0u; i < TAPS; i++) { // unroll
        partial[own * TAPS + i] = d_taps[i];
    }
}
