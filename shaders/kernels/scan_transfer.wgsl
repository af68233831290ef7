// From chunk to chunk: S' = M S + N, or with REVERSE from the last chunk on D' = M^T D + N. [M | N] of a chunk are [K, K + V] of
// `transfers`, N of the reverse pass [K, V] of `additions`. Keeps what every chunk starts from, `borders` [B, H, CHUNKS, K, V].
// One workgroup per (batch, head, COLS4 vec4s of V); the state stays in workgroup memory, in two turns.

const WIDTH4: u32 = K4 + V4;

var<workgroup> state: array<vec4<f32>, 2u * K * COLS4>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let index = group.y * groups.x + group.x;
    if (index >= B * H * SLICES) {
        return;
    }
    let bh = index / SLICES;
    let first4 = (index % SLICES) * COLS4;
    let width = min(COLS4, V4 - first4);

    for (var item = lane; item < K * width; item += WG) {
        let k = item / width;
        let x = item % width;
        state[k * COLS4 + x] = initial_at((bh * K + k) * V4 + first4 + x);
    }
    var turn = 0u;
    for (var step = 0u; step < CHUNKS; step++) {
        let chunk = bh * CHUNKS + select(step, CHUNKS - 1u - step, REVERSE);
        workgroupBarrier();
        for (var item = lane; item < K * width; item += WG) {
            let k = item / width;
            let x = item % width;
            let own = turn * K * COLS4 + x;
            borders[(chunk * K + k) * V4 + first4 + x] = state[own + k * COLS4];
            var next = addition_at(chunk, k, first4 + x);
            for (var j4 = 0u; j4 < K4; j4++) { // unroll
                let source = own + j4 * 4u * COLS4;
                var row: vec4<f32>;
                if (REVERSE) {
                    let at = (chunk * K + j4 * 4u) * WIDTH4 + k / 4u;
                    let c = k % 4u;
                    row = vec4<f32>(
                        transfers[at][c],
                        transfers[at + WIDTH4][c],
                        transfers[at + 2u * WIDTH4][c],
                        transfers[at + 3u * WIDTH4][c],
                    );
                } else {
                    row = transfers[(chunk * K + k) * WIDTH4 + j4];
                }
                next += row.x * state[source] + row.y * state[source + COLS4] + row.z * state[source + 2u * COLS4] + row.w * state[source + 3u * COLS4];
            }
            state[(1u - turn) * K * COLS4 + k * COLS4 + x] = next;
        }
        turn = 1u - turn;
    }
}
