// o_t = sum_{s <= t} softmax_s(q_t . k_s SCALE) v_s. A workgroup owns TILE queries and walks the keys before them; the running
// maximum and sum are rescaled as larger scores appear.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
@group(0) @binding(2) var<storage, read_write> rows: array<f32>;

var<workgroup> queries: array<f32, TILE * KEY>;
var<workgroup> scores: array<f32, WORKGROUP>;

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
    let t = tile * TILE + own;
    for (var i = index; i < TILE * KEY; i += WORKGROUP) {
        queries[i] = x[token_row(sequence, min(tile * TILE + i / KEY, TIME - 1u)) + i % KEY];
    }
    workgroupBarrier();

    // Finite, and below every score that matters; WGSL has no infinity.
    var largest = -3e38;
    var sum = 0.0;
    var own_o: array<f32, VALUES_EACH>;
    for (var block = 0u; block <= tile; block++) {
        let s = block * TILE + other;
        var score = -3e38;
        if (s <= t && s < TIME) {
            let key = token_row(sequence, s) + KEY;
            var product = 0.0;
            for (var d = 0u; d < KEY; d++) {
                product += queries[own * KEY + d] * x[key + d];
            }
            score = product * SCALE;
        }
        scores[index] = score;
        workgroupBarrier();
        var peak = largest;
        for (var j = 0u; j < TILE; j++) {
            peak = max(peak, scores[own * TILE + j]);
        }
        workgroupBarrier();
        scores[index] = select(0.0, exp(score - peak), s <= t && s < TIME);
        workgroupBarrier();
        let shrink = exp(largest - peak);
        largest = peak;
        sum = sum * shrink;
        for (var j = 0u; j < TILE; j++) {
            sum += scores[own * TILE + j];
        }
        for (var i = 0u; i < VALUES_EACH; i++) { // unroll
            let v = min(other + i * TILE, VALUE - 1u);
            var total = own_o[i] * shrink;
            for (var j = 0u; j < TILE; j++) {
                total += scores[own * TILE + j] * x[token_row(sequence, min(block * TILE + j, TIME - 1u)) + 2u * KEY + v];
            }
            own_o[i] = total;
        }
        workgroupBarrier();
    }
    if (t >= TIME || flat >= SEQUENCES * TILES) {
        return;
    }
    let row = row_index(sequence, t);
    for (var i = 0u; i < VALUES_EACH; i++) { // unroll
        let v = other + i * TILE;
        if (v < VALUE) {
            o[row * VALUE + v] = own_o[i] / sum;
        }
    }
    if (other == 0u) {
        rows[2u * row] = largest + log(sum);
    }
}
