// From chunk to chunk: R = (I + A)^-1 (U - (a * prefix) S), S' = Diag(kept) S + (k * suffix)^T R.
// One workgroup per (batch, head, COLS4 vec4s of V); the state stays in workgroup memory. Keeps R and every chunk's first state.

const CHUNK_STATES: u32 = CHUNKS + 1u;

var<workgroup> state: array<vec4<f32>, K * COLS4>;
var<workgroup> edits: array<vec4<f32>, EDITS * COLS4>;

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
    for (var chunk = 0u; chunk < CHUNKS; chunk++) {
        let at = (bh * CHUNKS + chunk) * FACTORS4;
        workgroupBarrier();
        for (var item = lane; item < EDITS * width; item += WG) {
            let i = item / width;
            let x = item % width;
            var r = factors[at + SOLVED_WRITE + i * V4 + first4 + x];
            if (ERASES) {
                for (var k4 = 0u; k4 < K4; k4++) { // unroll
                    let erase = factors[at + SOLVED_ERASE + i * K4 + k4];
                    let s = k4 * 4u * COLS4 + x;
                    r -= erase.x * state[s] + erase.y * state[s + COLS4] + erase.z * state[s + 2u * COLS4] + erase.w * state[s + 3u * COLS4];
                }
            }
            edits[i * COLS4 + x] = r;
            chunk_edits[((bh * CHUNKS + chunk) * EDITS + i) * V4 + first4 + x] = r;
        }
        workgroupBarrier();
        for (var item = lane; item < K * width; item += WG) {
            let k = item / width;
            let x = item % width;
            var s = state[k * COLS4 + x];
            states[((bh * CHUNK_STATES + chunk) * K + k) * V4 + first4 + x] = s;
            s *= factors[at + KEPT + k / 4u][k % 4u];
            for (var i = 0u; i < EDITS; i++) { // unroll
                s += factors[at + KEYED + i * K4 + k / 4u][k % 4u] * edits[i * COLS4 + x];
            }
            state[k * COLS4 + x] = s;
        }
    }
    for (var item = lane; item < K * width; item += WG) {
        let k = item / width;
        let x = item % width;
        states[((bh * CHUNK_STATES + CHUNKS) * K + k) * V4 + first4 + x] = state[k * COLS4 + x];
        last_put((bh * K + k) * V4 + first4 + x, state[k * COLS4 + x]);
    }
}
