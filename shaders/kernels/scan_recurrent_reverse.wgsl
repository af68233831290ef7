// Gradient of the state alone, token by token from the last one: D += q do^T, then per step dr = D^T k, D -= a dr^T, D = exp(g) D.
//
// Columns of V need nothing of each other, as in the forward scan: one workgroup per (batch, head, LENGTH tokens, COLS columns of
// V), a column belongs to SPLIT threads with KEYS4 * 4 of its keys each. Where KEEPS, keeps D as it stands after the last token of
// every EVERY tokens, so that what else the backward pass computes needs no order between them.

var<workgroup> rows: array<vec4<f32>, TILE * STRIDE4>;
// d_o of the tile's tokens, [TILE, COLS].
var<workgroup> reads: array<f32, TILE * COLS>;
// Two turns of parts of dr: a turn is rewritten one barrier after it was read.
var<workgroup> parts: array<f32, PARTS>;

// Token of row `i` of the tile that ends before token `end`; the first token's for rows before the sequence.
fn token_before(end: u32, i: u32) -> u32 {
    return max(end + i, TILE) - TILE;
}

fn step_part(bh: u32, end: u32, i: u32) -> vec4<f32> {
    return steps[row_start(bh, token_before(end, min(i / STRIDE4, TILE - 1u))) + i % STRIDE4];
}

fn read_part(bh: u32, first: u32, end: u32, i: u32) -> f32 {
    let t = token_before(end, min(i / COLS, TILE - 1u));
    return d_o[(((bh / H) * T + t) * H + bh % H) * V + min(first + i % COLS, V - 1u)];
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let index = group.y * groups.x + group.x;
    if (index >= B * H * CHUNKS * SLICES) {
        return;
    }
    let part = index / SLICES;
    let bh = part / CHUNKS;
    let start = (part % CHUNKS) * LENGTH;
    let stop = min(start + LENGTH, T);
    let column = lane % COLS;
    let split = lane / COLS;
    // Columns past V repeat the last one and store nothing.
    let first_column = (index % SLICES) * COLS;
    let v = min(first_column + column, V - 1u);
    let live = first_column + column < V;
    let first4 = split * KEYS4;

    // [KEYS4 * 4] of column v
    var grad: array<vec4<f32>, KEYS4>;
    for (var j = 0u; j < KEYS4; j++) { // unroll
        let at = (part * K + (first4 + j) * 4u) * V + v;
        grad[j] = vec4<f32>(last_gradient_at(at), last_gradient_at(at + V), last_gradient_at(at + 2u * V), last_gradient_at(at + 3u * V));
    }

    // The next rows travel while this tile is worked on.
    var ahead: array<vec4<f32>, AHEAD>;
    var ahead_reads: array<f32, AHEAD_READS>;
    for (var p = 0u; p < AHEAD; p++) { // unroll
        ahead[p] = step_part(bh, stop, lane + p * WG);
    }
    for (var p = 0u; p < AHEAD_READS; p++) { // unroll
        ahead_reads[p] = read_part(bh, first_column, stop, lane + p * WG);
    }
    var turn = 0u;
    for (var end = stop; end > start; end -= min(end - start, TILE)) {
        workgroupBarrier();
        for (var p = 0u; p < AHEAD; p++) { // unroll
            let i = lane + p * WG;
            if (i < TILE * STRIDE4) {
                if (is_decay(i % STRIDE4)) {
                    rows[i] = exp(ahead[p]);
                } else {
                    rows[i] = ahead[p];
                }
            }
        }
        for (var p = 0u; p < AHEAD_READS; p++) { // unroll
            let i = lane + p * WG;
            if (i < TILE * COLS) {
                reads[i] = ahead_reads[p];
            }
        }
        workgroupBarrier();
        let next = end - min(end - start, TILE);
        for (var p = 0u; p < AHEAD; p++) { // unroll
            ahead[p] = step_part(bh, next, lane + p * WG);
        }
        for (var p = 0u; p < AHEAD_READS; p++) { // unroll
            ahead_reads[p] = read_part(bh, first_column, next, lane + p * WG);
        }
        for (var t = end; t > next; t--) {
            // Token t - 1 is row TILE - (end - t) - 1 of the tile.
            let own = TILE + t - end - 1u;
            let row = own * STRIDE4;
            if (KEEPS && (t == T || t % EVERY == 0u) && live) {
                let at = ((bh * CHECKPOINTS + (t - 1u) / EVERY) * K + first4 * 4u) * V + v;
                for (var j = 0u; j < KEYS4; j++) { // unroll
                    for (var c = 0u; c < 4u; c++) { // unroll
                        keep_gradient(at + (j * 4u + c) * V, grad[j][c]);
                    }
                }
            }
            let d_read = reads[own * COLS + column];
            for (var j = 0u; j < KEYS4; j++) { // unroll
                grad[j] += rows[row + first4 + j] * d_read;
            }
            for (var back = 0u; back < STEPS; back++) { // unroll
                let s = STEPS - 1u - back;
                if (has_erase(s)) {
                    var sum = vec4<f32>();
                    for (var j = 0u; j < KEYS4; j++) { // unroll
                        sum += grad[j] * rows[row + key_slot(s) + first4 + j];
                    }
                    var d_edit = sum.x + sum.y + sum.z + sum.w;
                    if (SPLIT > 1u) {
                        parts[turn * WG + lane] = d_edit;
                        workgroupBarrier();
                        d_edit = 0.0;
                        for (var i = 0u; i < SPLIT; i++) { // unroll
                            d_edit += parts[turn * WG + i * COLS + column];
                        }
                        turn = 1u - turn;
                    }
                    for (var j = 0u; j < KEYS4; j++) { // unroll
                        grad[j] -= rows[row + erase_slot(s) + first4 + j] * d_edit;
                    }
                }
                if (decay_kind(s) == DECAY_KEY) {
                    for (var j = 0u; j < KEYS4; j++) { // unroll
                        grad[j] *= rows[row + decay_slot(s) + first4 + j];
                    }
                } else if (decay_kind(s) == DECAY_SCALAR) {
                    let keep = rows[row + decay_slot(s)].x;
                    for (var j = 0u; j < KEYS4; j++) { // unroll
                        grad[j] *= keep;
                    }
                }
            }
        }
    }

    if (live && (!KEEPS || start == 0u)) {
        let matrix = select(part, bh, KEEPS);
        for (var j = 0u; j < KEYS4; j++) { // unroll
            for (var c = 0u; c < 4u; c++) { // unroll
                initial_gradient_put((matrix * K + (first4 + j) * 4u + c) * V + v, grad[j][c]);
            }
        }
    }
}
