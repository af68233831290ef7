// dq_t = SCALE sum_{s <= t} ds k_s with p = softmax, ds = p (do_t . v_s - do_t . o_t). Leaves do . o for the keys' kernel.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> o: array<f32>;
@group(0) @binding(2) var<storage, read> d_o: array<f32>;
@group(0) @binding(3) var<storage, read_write> dx: array<f32>;
@group(0) @binding(4) var<storage, read_write> rows: array<f32>;

var<workgroup> d_scores: array<f32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let flat = flat_group(group, groups);
    let sequence = min(flat / TILES, SEQUENCES - 1u);
    let tile = flat % TILES;
    let own = index / TILE;
    let other = index % TILE;
    let t = min(tile * TILE + own, TIME - 1u);
    let row = row_index(sequence, t);
    let query = token_row(sequence, t);
    let log_sum = rows[2u * row];
    var along = 0.0;
    for (var v = 0u; v < VALUE; v++) {
        along += d_o[row * VALUE + v] * o[row * VALUE + v];
    }

    var dq: array<f32, KEYS_EACH>;
    for (var block = 0u; block <= tile; block++) {
        let s = block * TILE + other;
        var value = 0.0;
        if (s <= t) {
            let key = token_row(sequence, s) + KEY;
            var product = 0.0;
            for (var d = 0u; d < KEY; d++) {
                product += x[query + d] * x[key + d];
            }
            var dp = 0.0;
            for (var v = 0u; v < VALUE; v++) {
                dp += d_o[row * VALUE + v] * x[key + KEY + v];
            }
            value = exp(product * SCALE - log_sum) * (dp - along) * SCALE;
        }
        d_scores[index] = value;
        workgroupBarrier();
        for (var i = 0u; i < KEYS_EACH; i++) { // unroll
            let d = min(other + i * TILE, KEY - 1u);
            var total = dq[i];
            for (var j = 0u; j < TILE; j++) {
                total += d_scores[own * TILE + j] * x[token_row(sequence, min(block * TILE + j, TIME - 1u)) + KEY + d];
            }
            dq[i] = total;
        }
        workgroupBarrier();
    }
    if (tile * TILE + own >= TIME || flat >= SEQUENCES * TILES) {
        return;
    }
    for (var i = 0u; i < KEYS_EACH; i++) { // unroll
        let d = other + i * TILE;
        if (d < KEY) {
            dx[query + d] = select(dq[i], dq[i] + dx[query + d], ADD);
        }
    }
    if (other == 0u) {
        rows[2u * row + 1u] = along;
    }
}
