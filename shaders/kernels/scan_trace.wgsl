// The memory of one head over TOKENS tokens of one sequence, one thread per column of V: the state after decay, erase and
// write of every step, and the read. Starts from the initial state, whatever the window's first token.

// Stores a column of the state: [TOKENS, STEPS, 3, K, V].
fn put(token: u32, s: u32, moment: u32, k: u32, v: u32, value: f32) {
    states[(((token * STEPS + s) * 3u + moment) * K + k) * V + v] = value;
}

@compute @workgroup_size(V)
fn main(@builtin(local_invocation_index) v: u32) {
    let bh = arguments[0] * H + arguments[1];
    let first = arguments[2];

    var state: array<vec4<f32>, K4>;
    for (var k4 = 0u; k4 < K4; k4++) {
        for (var c = 0u; c < 4u; c++) {
            state[k4][c] = initial_at((bh * K + k4 * 4u + c) * V + v);
        }
    }
    for (var t = 0u; t < min(first + TOKENS, T); t++) {
        let row = row_start(bh, t);
        let shown = t >= first;
        // Wraps for tokens before the window, which are not stored.
        let token = t - first;
        for (var s = 0u; s < STEPS; s++) {
            var erased = 0.0;
            for (var k4 = 0u; k4 < K4; k4++) {
                state[k4] *= decay_at(row, s, k4);
                erased += dot(state[k4], erase_at(row, s, k4));
            }
            let written = write_at(row, s, v / 4u)[v % 4u];
            for (var k4 = 0u; k4 < K4; k4++) {
                let key = key_at(row, s, k4);
                let after_erase = state[k4] - key * erased;
                let after_write = state[k4] + key * (written - erased);
                if (shown) {
                    for (var c = 0u; c < 4u; c++) {
                        put(token, s, 0u, k4 * 4u + c, v, state[k4][c]);
                        put(token, s, 1u, k4 * 4u + c, v, after_erase[c]);
                        put(token, s, 2u, k4 * 4u + c, v, after_write[c]);
                    }
                }
                state[k4] = after_write;
            }
        }
        if (shown) {
            var sum = 0.0;
            for (var k4 = 0u; k4 < K4; k4++) {
                sum += dot(state[k4], steps[row + k4]);
            }
            reads[token * V + v] = sum;
        }
    }
}
