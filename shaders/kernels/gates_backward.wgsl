// dx = dy y (1 - y), dbias = sum over rows of dx. An invocation walks CHUNK rows of one column.

@group(0) @binding(0) var<storage, read> y: array<f32>;
@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;
@group(0) @binding(3) var<storage, read_write> partial: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = flat_group(group, groups) * WORKGROUP + index;
    if (i < CHUNKS * COLUMNS) {
        let column = i % COLUMNS;
        let start = (i / COLUMNS) * CHUNK;
        let own = place(column);
        var sum = 0.0;
        for (var n = start; n < min(start + CHUNK, COUNT); n++) {
            let s = y[n * Y_STRIDE + own];
            let value = dy[n * Y_STRIDE + own] * s * (1.0 - s);
            let at = n * X_STRIDE + X_FIRST + column;
            dx[at] = select(value, value + dx[at], ADD);
            sum += value;
        }
        partial[i] = sum;
    }
}
