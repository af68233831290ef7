// dv_s = sum_{t >= s} p do_t and dk_s = SCALE sum_{t >= s} ds q_t. A workgroup owns TILE keys and walks the queries after them.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> d_o: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;
@group(0) @binding(3) var<storage, read> rows: array<f32>;

var<workgroup> probabilities: array<f32, WORKGROUP>;
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
    let s = min(tile * TILE + own, TIME - 1u);
    let key = token_row(sequence, s) + KEY;

    var dk: array<f32, KEYS_EACH>;
    var dv: array<f32, VALUES_EACH>;
    for (var block = tile; block < TILES; block++) {
        let t = block * TILE + other;
        var p = 0.0;
        var value = 0.0;
        if (t >= s && t < TIME) {
            let row = row_index(sequence, t);
            let query = token_row(sequence, t);
            var product = 0.0;
            for (var d = 0u; d < KEY; d++) {
                product += x[query + d] * x[key + d];
            }
            var dp = 0.0;
            for (var v = 0u; v < VALUE; v++) {
                dp += d_o[row * VALUE + v] * x[key + KEY + v];
            }
            p = exp(product * SCALE - rows[2u * row]);
            value = p * (dp - rows[2u * row + 1u]) * SCALE;
        }
        probabilities[index] = p;
        d_scores[index] = value;
        workgroupBarrier();
        for (var j = 0u; j < TILE; j++) {
            let start = min(block * TILE + j, TIME - 1u);
            let query = token_row(sequence, start);
            let row = row_index(sequence, start) * VALUE;
            for (var i = 0u; i < KEYS_EACH; i++) { // unroll
                dk[i] += d_scores[own * TILE + j] * x[query + min(other + i * TILE, KEY - 1u)];
            }
            for (var i = 0u; i < VALUES_EACH; i++) { // unroll
                dv[i] += probabilities[own * TILE + j] * d_o[row + min(other + i * TILE, VALUE - 1u)];
            }
        }
        workgroupBarrier();
    }
    if (tile * TILE + own >= TIME || flat >= SEQUENCES * TILES) {
        return;
    }
    for (var i = 0u; i < KEYS_EACH; i++) { // unroll
        let d = other + i * TILE;
        if (d < KEY) {
            dx[key + d] = select(dk[i], dk[i] + dx[key + d], ADD);
        }
    }
    for (var i = 0u; i < VALUES_EACH; i++) { // unroll
        let v = other + i * TILE;
        if (v < VALUE) {
            let at = key + KEY + v;
            dx[at] = select(dv[i], dv[i] + dx[at], ADD);
        }
    }
}
