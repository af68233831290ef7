// What a chunk needs before its first state is known; one workgroup per (batch, head, chunk), all chunks at once.
//
//   A_ij = sum_d a_id k_jd exp(G_id - G_jd), j < i          P_tj = sum_d q_td k_jd exp(G_id - G_jd), j <= i, i the token's last row
// exp(G_i - G_j) is the product of exp(g) over rows j+1..=i: no running sum that loses digits, and never a positive exponent.
// Then the inverse of I + A by forward substitution, and its products with a * prefix and U.

const TILE_STRIDE: u32 = TILE4 + 1u;
const ROW_DECAY: u32 = 0u;
const ROW_KEY: u32 = EDITS * TILE_STRIDE;
const ROW_ERASE: u32 = 2u * EDITS * TILE_STRIDE;
const ROW_QUERY: u32 = 3u * EDITS * TILE_STRIDE;

// TILE4 vec4s of K of every row's exp(g), k, a, q; later (I + A)^-1, [EDITS, EDITS4].
var<workgroup> tile: array<vec4<f32>, TILE_LEN>;
// A [EDITS, EDITS4], then P [CHUNK, EDITS4].
var<workgroup> pairs: array<vec4<f32>, (EDITS + CHUNK) * EDITS4>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let index = group.y * groups.x + group.x;
    if (index >= B * H * CHUNKS) {
        return;
    }
    let bh = index / CHUNKS;
    let chunk = index % CHUNKS;
    let out = index * FACTORS4;

    for (var first4 = 0u; first4 < K4; first4 += TILE4) {
        let width = min(TILE4, K4 - first4);
        workgroupBarrier();
        for (var item = lane; item < EDITS * width; item += WG) {
            let i = item / width;
            let x = item % width;
            let at = i * TILE_STRIDE + x;
            tile[ROW_DECAY + at] = row_decay(bh, chunk, i, first4 + x);
            tile[ROW_KEY + at] = row_key(bh, chunk, i, first4 + x);
            tile[ROW_ERASE + at] = row_erase(bh, chunk, i, first4 + x);
            if (i < CHUNK) {
                tile[ROW_QUERY + at] = token_query(bh, chunk, i, first4 + x);
            }
        }
        workgroupBarrier();

        // Four columns of one row of A or P per item; consecutive items differ in the row.
        for (var item = lane; item < (EDITS + CHUNK) * EDITS4; item += WG) {
            let row = item % (EDITS + CHUNK);
            let block = item / (EDITS + CHUNK);
            var i = row;
            var count = row;
            var left = ROW_ERASE + row * TILE_STRIDE;
            if (row >= EDITS) {
                i = (row - EDITS) * STEPS + STEPS - 1u;
                count = i + 1u;
                left = ROW_QUERY + (row - EDITS) * TILE_STRIDE;
            }
            var sum = vec4<f32>();
            if (block * 4u < count) {
                let top = min(block * 4u + 4u, count);
                for (var x = 0u; x < width; x++) {
                    var moved = tile[left + x];
                    if (DECAYS) {
                        for (var l = i; l >= top; l--) {
                            moved *= tile[ROW_DECAY + l * TILE_STRIDE + x];
                        }
                    }
                    for (var c = 0u; c < 4u; c++) { // unroll
                        let j = block * 4u + 3u - c;
                        if (j < count) {
                            sum[3u - c] += dot(moved, tile[ROW_KEY + j * TILE_STRIDE + x]);
                            if (DECAYS) {
                                moved *= tile[ROW_DECAY + j * TILE_STRIDE + x];
                            }
                        }
                    }
                }
            }
            if (first4 == 0u) {
                pairs[row * EDITS4 + block] = sum;
            } else {
                pairs[row * EDITS4 + block] += sum;
            }
        }

        for (var item = lane; item < (EDITS + 1u) * width; item += WG) {
            let i = item / width;
            let x = item % width;
            let k4 = first4 + x;
            var prefix = vec4<f32>(1.0);
            var suffix = vec4<f32>(1.0);
            if (DECAYS) {
                for (var l = 0u; l < EDITS; l++) { // unroll
                    let keep = tile[ROW_DECAY + l * TILE_STRIDE + x];
                    if (l <= i) {
                        prefix *= keep;
                    } else {
                        suffix *= keep;
                    }
                }
            }
            if (i == EDITS) {
                factors[out + KEPT + k4] = prefix;
            } else {
                factors[out + ERASED + i * K4 + k4] = prefix * tile[ROW_ERASE + i * TILE_STRIDE + x];
                factors[out + KEYED + i * K4 + k4] = suffix * tile[ROW_KEY + i * TILE_STRIDE + x];
                if (i % STEPS == STEPS - 1u) {
                    factors[out + QUERIED + (i / STEPS) * K4 + k4] = prefix * tile[ROW_QUERY + (i / STEPS) * TILE_STRIDE + x];
                }
            }
        }
    }
    storageBarrier();
    workgroupBarrier();

    // Four columns of (I + A)^-1 per thread: x_i = e_i - sum_j A_ij x_j.
    if (lane < EDITS4) {
        let first = lane * 4u;
        for (var i = 0u; i < EDITS; i++) {
            tile[i * EDITS4 + lane] = vec4<f32>(vec4<u32>(first, first + 1u, first + 2u, first + 3u) == vec4<u32>(i));
        }
        for (var i = first + 1u; i < EDITS; i++) {
            // A is zero from column i on.
            var x = tile[i * EDITS4 + lane];
            for (var j4 = lane; j4 * 4u < i; j4++) {
                let a = pairs[i * EDITS4 + j4];
                let at = j4 * 4u * EDITS4 + lane;
                x -= a.x * tile[at] + a.y * tile[at + EDITS4] + a.z * tile[at + 2u * EDITS4] + a.w * tile[at + 3u * EDITS4];
            }
            tile[i * EDITS4 + lane] = x;
        }
    }
    workgroupBarrier();

    for (var item = lane; item < EDITS * EDITS4; item += WG) {
        factors[out + SOLVE + item] = tile[item];
    }
    for (var item = lane; item < CHUNK * EDITS4; item += WG) {
        factors[out + READ + item] = pairs[EDITS * EDITS4 + item];
    }
    for (var item = lane; item < EDITS * (K4 + V4); item += WG) {
        let i = item / (K4 + V4);
        let x = item % (K4 + V4);
        var sum = vec4<f32>();
        if (x < K4) {
            for (var j = 0u; j < EDITS; j++) { // unroll
                sum += tile[i * EDITS4 + j / 4u][j % 4u] * factors[out + ERASED + j * K4 + x];
            }
            factors[out + SOLVED_ERASE + i * K4 + x] = sum;
        } else {
            for (var j = 0u; j < EDITS; j++) { // unroll
                sum += tile[i * EDITS4 + j / 4u][j % 4u] * row_write(bh, chunk, j, x - K4);
            }
            factors[out + SOLVED_WRITE + i * V4 + x - K4] = sum;
        }
    }
}
