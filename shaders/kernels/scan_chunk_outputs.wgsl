// o = (q * prefix) S + P R, all chunks at once: one thread per four tokens and four columns.

const CHUNK_STATES: u32 = CHUNKS + 1u;
const QUARTERS: u32 = CHUNK / 4u;

@compute @workgroup_size(WG)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let item = id.y * groups.x * WG + id.x;
    if (item >= B * H * CHUNKS * QUARTERS * V4) {
        return;
    }
    let v4 = item % V4;
    let first = item / V4 % QUARTERS * 4u;
    let index = item / V4 / QUARTERS;
    let bh = index / CHUNKS;
    let chunk = index % CHUNKS;
    let at = index * FACTORS4;

    var read: array<vec4<f32>, 4>;
    for (var k4 = 0u; k4 < K4; k4++) { // unroll
        let s = ((bh * CHUNK_STATES + chunk) * K + k4 * 4u) * V4 + v4;
        let s0 = states[s];
        let s1 = states[s + V4];
        let s2 = states[s + 2u * V4];
        let s3 = states[s + 3u * V4];
        for (var t = 0u; t < 4u; t++) { // unroll
            let query = factors[at + QUERIED + (first + t) * K4 + k4];
            read[t] += query.x * s0 + query.y * s1 + query.z * s2 + query.w * s3;
        }
    }
    // P is zero past each token's last row.
    for (var j4 = 0u; j4 < (first + 4u) * STEPS / 4u; j4++) {
        let r = (index * EDITS + j4 * 4u) * V4 + v4;
        let r0 = chunk_edits[r];
        let r1 = chunk_edits[r + V4];
        let r2 = chunk_edits[r + 2u * V4];
        let r3 = chunk_edits[r + 3u * V4];
        for (var t = 0u; t < 4u; t++) { // unroll
            let weight = factors[at + READ + (first + t) * EDITS4 + j4];
            read[t] += weight.x * r0 + weight.y * r1 + weight.z * r2 + weight.w * r3;
        }
    }
    for (var t = 0u; t < 4u; t++) { // unroll
        if (chunk * CHUNK + first + t < T) {
            o[read_start(bh, chunk, first + t) + v4] = read[t];
        }
    }
}
