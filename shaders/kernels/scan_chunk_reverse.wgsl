// From chunk to chunk backwards, D the gradient of the state at the chunk's end:
//   dR = P^T do + (k * suffix) D,  D <- Diag(kept) D + (q * prefix)^T do - ((I + A)^-1 (a * prefix))^T dR.
// One workgroup per (batch, head, COLS4 vec4s of V). Keeps dR and every chunk's D.

var<workgroup> grad: array<vec4<f32>, K * COLS4>;
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
        grad[k * COLS4 + x] = last_gradient_at((bh * K + k) * V4 + first4 + x);
    }
    for (var back = 0u; back < CHUNKS; back++) {
        let chunk = CHUNKS - 1u - back;
        let at = (bh * CHUNKS + chunk) * FACTORS4;
        workgroupBarrier();
        for (var item = lane; item < EDITS * width; item += WG) {
            let i = item / width;
            let x = item % width;
            var dr = vec4<f32>();
            for (var t = 0u; t < CHUNK; t++) { // unroll
                // P is zero for tokens before row i; past the sequence P is too.
                dr += factors[at + READ + t * EDITS4 + i / 4u][i % 4u] * d_o[read_start(bh, chunk, t) + first4 + x];
            }
            for (var k4 = 0u; k4 < K4; k4++) { // unroll
                let key = factors[at + KEYED + i * K4 + k4];
                let d = k4 * 4u * COLS4 + x;
                dr += key.x * grad[d] + key.y * grad[d + COLS4] + key.z * grad[d + 2u * COLS4] + key.w * grad[d + 3u * COLS4];
            }
            edits[i * COLS4 + x] = dr;
            d_edits[((bh * CHUNKS + chunk) * EDITS + i) * V4 + first4 + x] = dr;
        }
        workgroupBarrier();
        for (var item = lane; item < K * width; item += WG) {
            let k = item / width;
            let x = item % width;
            var d = grad[k * COLS4 + x];
            d_states[((bh * CHUNKS + chunk) * K + k) * V4 + first4 + x] = d;
            d *= factors[at + KEPT + k / 4u][k % 4u];
            for (var t = 0u; t < CHUNK; t++) { // unroll
                d += factors[at + QUERIED + t * K4 + k / 4u][k % 4u] * d_o[read_start(bh, chunk, t) + first4 + x];
            }
            if (ERASES) {
                for (var i = 0u; i < EDITS; i++) { // unroll
                    d -= factors[at + SOLVED_ERASE + i * K4 + k / 4u][k % 4u] * edits[i * COLS4 + x];
                }
            }
            grad[k * COLS4 + x] = d;
        }
    }
    for (var item = lane; item < K * width; item += WG) {
        let k = item / width;
        let x = item % width;
        initial_gradient_put((bh * K + k) * V4 + first4 + x, grad[k * COLS4 + x]);
    }
}
