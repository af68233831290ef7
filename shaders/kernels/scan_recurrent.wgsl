// Token by token: S' = Diag(exp g) S, r = u - S'^T a, S = S' + k r^T per step, then o = S^T q.
//
// One workgroup per (batch, head, LENGTH tokens, COLS columns of S). A column of S belongs to SPLIT threads, each with KEYS4 * 4 of
// its keys in registers, so that r and o need no sum over threads (SPLIT = 1) or one exchange per step.
// TILE rows of steps are staged at a time, decays already as exp(g). Loops marked `unroll` are written out before compiling.
//
// Where TRANSFERS, S has K columns before those of V: they start as the unit matrix and are written nothing, so that they become
// the matrix M that the tokens turn any first state with, S_last = M S_first + N; N are the columns of V, from zero. Nothing is read.

var<workgroup> rows: array<vec4<f32>, TILE * STRIDE4>;
// Two turns of (part of r, part of the previous token's o): a turn is rewritten one barrier after it was read.
var<workgroup> parts: array<vec2<f32>, PARTS>;

// vec4 `i` of the rows from token `first` on; the last row's past the end.
fn step_part(bh: u32, first: u32, i: u32) -> vec4<f32> {
    return steps[row_start(bh, min(first + i / STRIDE4, T - 1u)) + i % STRIDE4];
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
    // Columns past the last repeat it and store nothing.
    let wanted = (index % SLICES) * COLS + column;
    let x = min(wanted, WIDTH - 1u);
    let live = wanted < WIDTH;
    let writes = x >= BEFORE;
    let v = max(x, BEFORE) - BEFORE;
    let first4 = split * KEYS4;

    // [KEYS4 * 4] of column x
    var state: array<vec4<f32>, KEYS4>;
    for (var j = 0u; j < KEYS4; j++) { // unroll
        let k = (first4 + j) * 4u;
        if (TRANSFERS) {
            state[j] = vec4<f32>(vec4<u32>(k, k + 1u, k + 2u, k + 3u) == vec4<u32>(x));
        } else {
            let at = (part * K + k) * V + v;
            state[j] = vec4<f32>(initial_at(at), initial_at(at + V), initial_at(at + 2u * V), initial_at(at + 3u * V));
        }
    }

    // The next rows travel while this tile is worked on.
    var ahead: array<vec4<f32>, AHEAD>;
    for (var p = 0u; p < AHEAD; p++) { // unroll
        ahead[p] = step_part(bh, start, lane + p * WG);
    }
    var turn = 0u;
    var read = 0.0;
    for (var first = start; first < stop; first += TILE) {
        let end = min(first + TILE, stop);
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
        workgroupBarrier();
        for (var p = 0u; p < AHEAD; p++) { // unroll
            ahead[p] = step_part(bh, end, lane + p * WG);
        }
        for (var t = first; t < end; t++) {
            let row = (t - first) * STRIDE4;
            if (SAVES && t % EVERY == 0u && live) {
                let at = ((bh * CHECKPOINTS + t / EVERY) * K + first4 * 4u) * V + v;
                for (var j = 0u; j < KEYS4; j++) { // unroll
                    for (var c = 0u; c < 4u; c++) { // unroll
                        save(at + (j * 4u + c) * V, state[j][c]);
                    }
                }
            }
            for (var s = 0u; s < STEPS; s++) { // unroll
                if (decay_kind(s) == DECAY_KEY) {
                    for (var j = 0u; j < KEYS4; j++) { // unroll
                        state[j] *= rows[row + decay_slot(s) + first4 + j];
                    }
                } else if (decay_kind(s) == DECAY_SCALAR) {
                    let keep = rows[row + decay_slot(s)].x;
                    for (var j = 0u; j < KEYS4; j++) { // unroll
                        state[j] *= keep;
                    }
                }
                var r = 0.0;
                if (has_erase(s)) {
                    var sum = vec4<f32>();
                    for (var j = 0u; j < KEYS4; j++) { // unroll
                        sum += state[j] * rows[row + erase_slot(s) + first4 + j];
                    }
                    r = -(sum.x + sum.y + sum.z + sum.w);
                }
                if (SPLIT > 1u && (has_erase(s) || s == 0u)) {
                    parts[turn * WG + lane] = vec2<f32>(r, read);
                    workgroupBarrier();
                    var total = vec2<f32>();
                    for (var i = 0u; i < SPLIT; i++) { // unroll
                        total += parts[turn * WG + i * COLS + column];
                    }
                    r = total.x;
                    turn = 1u - turn;
                    if (READS && s == 0u && t > start && split == 0u && live) {
                        put_read((((bh / H) * T + t - 1u) * H + bh % H) * V + v, total.y);
                    }
                }
                if (has_write(s) && writes) {
                    r += rows[row + write_slot(s) + v / 4u][v % 4u];
                }
                for (var j = 0u; j < KEYS4; j++) { // unroll
                    state[j] += rows[row + key_slot(s) + first4 + j] * r;
                }
            }
            if (READS) {
                var sum = vec4<f32>();
                for (var j = 0u; j < KEYS4; j++) { // unroll
                    sum += state[j] * rows[row + first4 + j];
                }
                read = sum.x + sum.y + sum.z + sum.w;
                if (SPLIT == 1u && live) {
                    put_read((((bh / H) * T + t) * H + bh % H) * V + v, read);
                }
            }
        }
    }

    if (READS && SPLIT > 1u) {
        parts[turn * WG + lane] = vec2<f32>(0.0, read);
        workgroupBarrier();
        if (split == 0u && live) {
            var total = 0.0;
            for (var i = 0u; i < SPLIT; i++) { // unroll
                total += parts[turn * WG + i * COLS + column].y;
            }
            put_read((((bh / H) * T + stop - 1u) * H + bh % H) * V + v, total);
        }
    }
    if (live && (TRANSFERS || stop == T)) {
        let matrix = select(bh, part, TRANSFERS);
        for (var j = 0u; j < KEYS4; j++) { // unroll
            for (var c = 0u; c < 4u; c++) { // unroll
                last_put((matrix * K + (first4 + j) * 4u + c) * WIDTH + x, state[j][c]);
            }
        }
    }
}
