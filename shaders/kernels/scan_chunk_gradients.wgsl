// Gradients of a chunk's steps once its first state S, edits R, and the gradients D (of its last state), dR and do are known;
// one workgroup per (batch, head, chunk), all chunks at once; a thread has OWN (row, vec4 of K) items. With Y = (I + A)^-T dR:
//   du = Y,  dA = -Y R^T,  dP = do R^T,  d(a * prefix) = -Y S^T,  d(q * prefix) = do S^T,  d(k * suffix) = R D^T,
// then through A_ij and P_tj and the decay products. The decay of row i, by key channel, is passed by what goes
//   from S or a row before i to D:              dg_i  = kept rowsum(D * S) + sum of k_j dk_j over rows before i, dk through D alone,
//   from S or a row before i to a row from i:   dg_i += sum of a_l da_l - k_l dk_l + q_l dq_l over rows from i, dk without D.
// What passes a row undecayed (a row's own pair, its key to D) never enters: it could outweigh a small dg_i and cancel badly.

const CHUNK_STATES: u32 = CHUNKS + 1u;
// Columns of V per pass, in vec4s, and their padded stride.
const PASS4: u32 = 4u;
const PASS_STRIDE: u32 = PASS4 + 1u;
const WRITE_PART: u32 = 0u;
const EDIT_PART: u32 = EDITS * PASS_STRIDE;
const READ_PART: u32 = 2u * EDITS * PASS_STRIDE;

// dA [EDITS, EDITS4], then dP [CHUNK, EDITS4].
var<workgroup> pairs: array<vec4<f32>, (EDITS + CHUNK) * EDITS4>;
// Y, R and do of a pass; later the terms and then the sums of dg, [EDITS, K4].
var<workgroup> tile: array<vec4<f32>, TILE_LEN>;
// rowsum(D * S), then times the chunk's decay.
var<workgroup> through: array<f32, K>;

fn put(at: u32, value: vec4<f32>) {
    if (ADDS) {
        d_steps[at] += value;
    } else {
        d_steps[at] = value;
    }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let index = group.y * groups.x + group.x;
    if (index >= B * H * CHUNKS) {
        return;
    }
    let bh = index / CHUNKS;
    let chunk = index % CHUNKS;
    let at = index * FACTORS4;
    let start = (bh * CHUNK_STATES + chunk) * K * V4;
    let d_end = index * K * V4;

    for (var item = lane; item < (EDITS + CHUNK) * EDITS4; item += WG) {
        pairs[item] = vec4<f32>();
    }
    for (var k = lane; k < K; k += WG) {
        var sum = 0.0;
        for (var v4 = 0u; v4 < V4; v4++) {
            sum += dot(d_states[d_end + k * V4 + v4], states[start + k * V4 + v4]);
        }
        through[k] = sum * factors[at + KEPT + k / 4u][k % 4u];
    }

    // Through S and D, by item: d(a * prefix), d(k * suffix), d(q * prefix).
    var d_erased: array<vec4<f32>, OWN>;
    var d_keyed: array<vec4<f32>, OWN>;
    var d_queried: array<vec4<f32>, OWN>;
    for (var first4 = 0u; first4 < V4; first4 += PASS4) {
        let width = min(PASS4, V4 - first4);
        workgroupBarrier();
        for (var item = lane; item < EDITS * width; item += WG) {
            let j = item / width;
            let x = item % width;
            let column = first4 + x;
            var y = vec4<f32>();
            for (var i = 0u; i < EDITS; i++) { // unroll
                y += factors[at + SOLVE + i * EDITS4 + j / 4u][j % 4u] * d_edits[(index * EDITS + i) * V4 + column];
            }
            tile[WRITE_PART + j * PASS_STRIDE + x] = y;
            tile[EDIT_PART + j * PASS_STRIDE + x] = chunk_edits[(index * EDITS + j) * V4 + column];
            if (j < CHUNK) {
                var d_read = vec4<f32>();
                if (chunk * CHUNK + j < T) {
                    d_read = d_o[read_start(bh, chunk, j) + column];
                }
                tile[READ_PART + j * PASS_STRIDE + x] = d_read;
            }
            if (has_write(j % STEPS) && within(chunk, j)) {
                put(chunk_row(bh, chunk, j) + write_slot(j % STEPS) + column, y);
            }
        }
        workgroupBarrier();
        for (var item = lane; item < (EDITS + CHUNK) * EDITS4; item += WG) {
            let row = item / EDITS4;
            let block = item % EDITS4;
            var left = WRITE_PART + row * PASS_STRIDE;
            var sign = -1.0;
            if (row >= EDITS) {
                left = READ_PART + (row - EDITS) * PASS_STRIDE;
                sign = 1.0;
            }
            var sum = vec4<f32>();
            for (var x = 0u; x < width; x++) {
                let y = tile[left + x];
                let r = EDIT_PART + block * 4u * PASS_STRIDE + x;
                sum += vec4<f32>(dot(y, tile[r]), dot(y, tile[r + PASS_STRIDE]), dot(y, tile[r + 2u * PASS_STRIDE]), dot(y, tile[r + 3u * PASS_STRIDE]));
            }
            pairs[item] += sign * sum;
        }
        for (var own = 0u; own < OWN; own++) { // unroll
            let item = own * WG + lane;
            if (item < EDITS * K4) {
                let i = item / K4;
                let k4 = item % K4;
                let reads = i % STEPS == STEPS - 1u;
                for (var c = 0u; c < 4u; c++) { // unroll
                    let s = (k4 * 4u + c) * V4 + first4;
                    for (var x = 0u; x < width; x++) {
                        let state = states[start + s + x];
                        d_erased[own][c] -= dot(tile[WRITE_PART + i * PASS_STRIDE + x], state);
                        d_keyed[own][c] += dot(tile[EDIT_PART + i * PASS_STRIDE + x], d_states[d_end + s + x]);
                        if (reads) {
                            d_queried[own][c] += dot(tile[READ_PART + i / STEPS * PASS_STRIDE + x], state);
                        }
                    }
                }
            }
        }
    }
    workgroupBarrier();

    // Terms of dg: to D, and between rows.
    var to_end: array<vec4<f32>, OWN>;
    var between: array<vec4<f32>, OWN>;
    for (var own = 0u; own < OWN; own++) { // unroll
        let item = own * WG + lane;
        if (item < EDITS * K4) {
            let i = item / K4;
            let k4 = item % K4;
            let t = i / STEPS;
            let s = i % STEPS;
            let reads = s == STEPS - 1u;
            let query = token_query(bh, chunk, t, k4);
            let erase = row_erase(bh, chunk, i, k4);
            let key = row_key(bh, chunk, i, k4);
            let d_self = pairs[(EDITS + t) * EDITS4 + i / 4u][i % 4u];

            // Down to the chunk's start: what row i erases and its token reads.
            var moved = row_decay(bh, chunk, i, k4);
            var d_erase = vec4<f32>();
            var d_query = vec4<f32>();
            for (var j = i; j > 0u; j--) {
                let other = moved * row_key(bh, chunk, j - 1u, k4);
                d_erase += pairs[i * EDITS4 + (j - 1u) / 4u][(j - 1u) % 4u] * other;
                if (reads) {
                    d_query += pairs[(EDITS + t) * EDITS4 + (j - 1u) / 4u][(j - 1u) % 4u] * other;
                }
                moved *= row_decay(bh, chunk, j - 1u, k4);
            }
            d_erase += moved * d_erased[own];
            d_query += moved * d_queried[own];

            // Up to its end: who sees what row i wrote.
            moved = vec4<f32>(1.0);
            var d_key = vec4<f32>();
            for (var l = i + 1u; l < EDITS; l++) {
                moved *= row_decay(bh, chunk, l, k4);
                d_key += pairs[l * EDITS4 + i / 4u][i % 4u] * moved * row_erase(bh, chunk, l, k4);
                if (l % STEPS == STEPS - 1u) {
                    d_key += pairs[(EDITS + l / STEPS) * EDITS4 + i / 4u][i % 4u] * moved * token_query(bh, chunk, l / STEPS, k4);
                }
            }
            between[own] = erase * d_erase - key * d_key;
            to_end[own] = key * moved * d_keyed[own];
            d_key += moved * d_keyed[own];
            if (reads) {
                between[own] += query * d_query;
                d_query += d_self * key;
                d_key += d_self * query;
            }
            if (within(chunk, i)) {
                let row = chunk_row(bh, chunk, i);
                put(row + key_slot(s) + k4, d_key);
                if (has_erase(s)) {
                    put(row + erase_slot(s) + k4, d_erase);
                }
                if (reads) {
                    put(row + k4, d_query);
                }
            }
        }
    }

    if (DECAYS) {
        workgroupBarrier();
        for (var own = 0u; own < OWN; own++) { // unroll
            let item = own * WG + lane;
            if (item < EDITS * K4) {
                tile[item] = to_end[own];
            }
        }
        workgroupBarrier();
        for (var k4 = lane; k4 < K4; k4 += WG) {
            var sum = vec4<f32>(through[k4 * 4u], through[k4 * 4u + 1u], through[k4 * 4u + 2u], through[k4 * 4u + 3u]);
            for (var i = 0u; i < EDITS; i++) {
                let term = tile[i * K4 + k4];
                tile[i * K4 + k4] = sum;
                sum += term;
            }
        }
        workgroupBarrier();
        for (var own = 0u; own < OWN; own++) { // unroll
            let item = own * WG + lane;
            if (item < EDITS * K4) {
                to_end[own] = tile[item];
                tile[item] = between[own];
            }
        }
        workgroupBarrier();
        for (var k4 = lane; k4 < K4; k4 += WG) {
            var sum = vec4<f32>();
            for (var back = 0u; back < EDITS; back++) {
                let i = EDITS - 1u - back;
                sum += tile[i * K4 + k4];
                tile[i * K4 + k4] = sum;
            }
        }
        workgroupBarrier();
        for (var own = 0u; own < OWN; own++) { // unroll
            let item = own * WG + lane;
            if (item < EDITS * K4) {
                let i = item / K4;
                let d_decay = to_end[own] + tile[item];
                if (within(chunk, i) && decay_kind(i % STEPS) == DECAY_KEY) {
                    put(chunk_row(bh, chunk, i) + decay_slot(i % STEPS) + item % K4, d_decay);
                }
                tile[item] = d_decay;
            }
        }
        workgroupBarrier();
        for (var i = lane; i < EDITS; i += WG) {
            if (within(chunk, i) && decay_kind(i % STEPS) == DECAY_SCALAR) {
                var sum = vec4<f32>();
                for (var k4 = 0u; k4 < K4; k4++) {
                    sum += tile[i * K4 + k4];
                }
                put(chunk_row(bh, chunk, i) + decay_slot(i % STEPS), vec4<f32>(sum.x + sum.y + sum.z + sum.w, 0.0, 0.0, 0.0));
            }
        }
    }
}
