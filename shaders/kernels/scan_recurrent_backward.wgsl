// Gradient of the recurrent scan for columns FIRST .. FIRST + COLS of V. EVERY tokens at a time, in any order: the state before
// them and the state's gradient after them are known. GROUPS workgroups share the (batch, head, EVERY tokens) out.
//
// Thread (kx, vx) holds a KEYS x VALUES4 * 4 block of S and of its gradient D. From the checkpoint on the decayed states S' and
// the edits r are computed again onto a tape that only their own thread reads, then token by token backwards
//   o = S^T q:        dq = S do,   D += q do^T
//   S = S' + k r^T:   dk = D r,    dr = D^T k,   du = dr
//   r = u - S'^T a:   da = -S' dr, D -= a dr^T
//   S' = exp(g) S:    dg = rowsum(D * S'),  D = exp(g) D
// Sums over a column pass through `columns`, sums over a row through `sums`, in fixed order.

const TAPE4: u32 = (KEYS + 1u) * VALUES4;
// Row sums of one step.
const DK: u32 = 0u;
const DA: u32 = 1u;
const DG: u32 = 2u;
const DQ: u32 = 3u;

var<workgroup> columns: array<vec4<f32>, 2u * KX * COLS4>;
var<workgroup> sums: array<vec4<f32>, 4u * VX * K4>;

fn put(at: u32, value: vec4<f32>, adds: bool) {
    if (adds) {
        d_steps[at] += value;
    } else {
        d_steps[at] = value;
    }
}

// The sum of one row quantity over the VX threads that share it.
fn row_total(quantity: u32, k4: u32) -> vec4<f32> {
    var total = vec4<f32>();
    for (var x = 0u; x < VX; x++) { // unroll
        total += sums[(quantity * VX + x) * K4 + k4];
    }
    return total;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let own = group.y * groups.x + group.x;
    let kx = lane / VX;
    let vx = lane % VX;
    let key4 = kx * KEYS4;
    let value4 = FIRST4 + vx * VALUES4;
    // This block's first vec4 in a [K, V4] state.
    let corner = kx * KEYS * V4 + value4;

    var state: array<vec4<f32>, KEYS * VALUES4>;
    var grad: array<vec4<f32>, KEYS * VALUES4>;
    var edit: array<vec4<f32>, VALUES4>;
    for (var item = own; item < B * H * CHECKPOINTS; item += GROUPS) {
        let bh = item / CHECKPOINTS;
        let first = (item % CHECKPOINTS) * EVERY;
        let end = min(first + EVERY, T);
        for (var i = 0u; i < KEYS; i++) { // unroll
            for (var j = 0u; j < VALUES4; j++) { // unroll
                state[i * VALUES4 + j] = checkpoints[item * K * V4 + corner + i * V4 + j];
                grad[i * VALUES4 + j] = d_states[item * K * V4 + corner + i * V4 + j];
            }
        }

        var turn = 0u;
        for (var t = first; t < end; t++) {
            let row = row_start(bh, t);
            for (var s = 0u; s < STEPS; s++) {
                let tape_at = ((own * EVERY + t - first) * STEPS + s) * TAPE4 * WG + lane;
                for (var j = 0u; j < VALUES4; j++) { // unroll
                    edit[j] = vec4<f32>();
                }
                for (var i = 0u; i < KEYS; i++) { // unroll
                    let keep = decay_at(row, s, key4 + i / 4u)[i % 4u];
                    let erase = erase_at(row, s, key4 + i / 4u)[i % 4u];
                    for (var j = 0u; j < VALUES4; j++) { // unroll
                        let x = keep * state[i * VALUES4 + j];
                        state[i * VALUES4 + j] = x;
                        tape[tape_at + (i * VALUES4 + j) * WG] = x;
                        edit[j] -= erase * x;
                    }
                }
                if (has_erase(s)) {
                    for (var j = 0u; j < VALUES4; j++) { // unroll
                        columns[(turn * KX + kx) * COLS4 + vx * VALUES4 + j] = edit[j];
                    }
                    workgroupBarrier();
                    for (var j = 0u; j < VALUES4; j++) { // unroll
                        var total = vec4<f32>();
                        for (var x = 0u; x < KX; x++) { // unroll
                            total += columns[(turn * KX + x) * COLS4 + vx * VALUES4 + j];
                        }
                        edit[j] = total;
                    }
                    turn = 1u - turn;
                }
                for (var j = 0u; j < VALUES4; j++) { // unroll
                    edit[j] += write_at(row, s, value4 + j);
                    tape[tape_at + (KEYS * VALUES4 + j) * WG] = edit[j];
                }
                for (var i = 0u; i < KEYS; i++) { // unroll
                    let key = key_at(row, s, key4 + i / 4u)[i % 4u];
                    for (var j = 0u; j < VALUES4; j++) { // unroll
                        state[i * VALUES4 + j] += key * edit[j];
                    }
                }
            }
        }
        workgroupBarrier();

        for (var t_back = 0u; t_back < end - first; t_back++) {
            let t = end - 1u - t_back;
            let row = row_start(bh, t);
            let read_at = (((bh / H) * T + t) * H + bh % H) * V4 + value4;
            for (var s_back = 0u; s_back < STEPS; s_back++) {
                let s = STEPS - 1u - s_back;
                let tape_at = ((own * EVERY + t - first) * STEPS + s) * TAPE4 * WG + lane;
                for (var j = 0u; j < VALUES4; j++) { // unroll
                    edit[j] = tape[tape_at + (KEYS * VALUES4 + j) * WG];
                }
                for (var i = 0u; i < BLOCK4; i++) { // unroll
                    state[i] = tape[tape_at + i * WG];
                }

                var d_query: array<vec4<f32>, KEYS4>;
                if (s_back == 0u) {
                    for (var i4 = 0u; i4 < KEYS4; i4++) { // unroll
                        let query = steps[row + key4 + i4];
                        let key = key_at(row, s, key4 + i4);
                        var dq = vec4<f32>();
                        for (var c = 0u; c < 4u; c++) { // unroll
                            for (var j = 0u; j < VALUES4; j++) { // unroll
                                let at = (i4 * 4u + c) * VALUES4 + j;
                                let d_read = d_o[read_at + j];
                                dq[c] += dot(state[at] + key[c] * edit[j], d_read);
                                grad[at] += query[c] * d_read;
                            }
                        }
                        d_query[i4] = dq;
                    }
                }

                // dk = D r, dr = D^T k
                var d_key: array<vec4<f32>, KEYS4>;
                var d_edit: array<vec4<f32>, VALUES4>;
                for (var j = 0u; j < VALUES4; j++) { // unroll
                    d_edit[j] = vec4<f32>();
                }
                for (var i4 = 0u; i4 < KEYS4; i4++) { // unroll
                    let key = key_at(row, s, key4 + i4);
                    var dk = vec4<f32>();
                    for (var c = 0u; c < 4u; c++) { // unroll
                        for (var j = 0u; j < VALUES4; j++) { // unroll
                            let d = grad[(i4 * 4u + c) * VALUES4 + j];
                            dk[c] += dot(d, edit[j]);
                            d_edit[j] += key[c] * d;
                        }
                    }
                    d_key[i4] = dk;
                }
                for (var j = 0u; j < VALUES4; j++) { // unroll
                    columns[kx * COLS4 + vx * VALUES4 + j] = d_edit[j];
                }
                workgroupBarrier();
                for (var j = 0u; j < VALUES4; j++) { // unroll
                    var total = vec4<f32>();
                    for (var x = 0u; x < KX; x++) { // unroll
                        total += columns[x * COLS4 + vx * VALUES4 + j];
                    }
                    d_edit[j] = total;
                    if (has_write(s) && kx == 0u) {
                        put(row + write_slot(s) + value4 + j, total, ADDS);
                    }
                }

                // da = -S' dr, D -= a dr^T, dg = rowsum(D * S'), D = exp(g) D
                for (var i4 = 0u; i4 < KEYS4; i4++) { // unroll
                    let erase = erase_at(row, s, key4 + i4);
                    let keep = decay_at(row, s, key4 + i4);
                    var da = vec4<f32>();
                    var dg = vec4<f32>();
                    for (var c = 0u; c < 4u; c++) { // unroll
                        for (var j = 0u; j < VALUES4; j++) { // unroll
                            let at = (i4 * 4u + c) * VALUES4 + j;
                            da[c] -= dot(state[at], d_edit[j]);
                            let d = grad[at] - erase[c] * d_edit[j];
                            dg[c] += dot(d, state[at]);
                            grad[at] = keep[c] * d;
                        }
                    }
                    let at = vx * K4 + key4 + i4;
                    sums[DK * VX * K4 + at] = d_key[i4];
                    sums[DA * VX * K4 + at] = da;
                    sums[DG * VX * K4 + at] = dg;
                    sums[DQ * VX * K4 + at] = d_query[i4];
                }
                workgroupBarrier();
                for (var k4 = lane; k4 < K4; k4 += WG) {
                    put(row + key_slot(s) + k4, row_total(DK, k4), ROWS_ADD);
                }
                if (has_erase(s)) {
                    for (var k4 = (lane + WG / 4u) % WG; k4 < K4; k4 += WG) {
                        put(row + erase_slot(s) + k4, row_total(DA, k4), ROWS_ADD);
                    }
                }
                if (decay_kind(s) == DECAY_KEY) {
                    for (var k4 = (lane + WG / 2u) % WG; k4 < K4; k4 += WG) {
                        put(row + decay_slot(s) + k4, row_total(DG, k4), ROWS_ADD);
                    }
                } else if (decay_kind(s) == DECAY_SCALAR && lane == WG - 1u) {
                    var total = vec4<f32>();
                    for (var i = 0u; i < VX * K4; i++) {
                        total += sums[DG * VX * K4 + i];
                    }
                    put(row + decay_slot(s), vec4<f32>(total.x + total.y + total.z + total.w, 0.0, 0.0, 0.0), ROWS_ADD);
                }
                if (s_back == 0u) {
                    for (var k4 = (lane + WG / 4u * 3u) % WG; k4 < K4; k4 += WG) {
                        put(row + k4, row_total(DQ, k4), ROWS_ADD);
                    }
                }
            }
        }
    }
}
