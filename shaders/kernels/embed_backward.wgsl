// partial[span, v] = sum of dy[n] over the n of a span of tokens with tokens[n] = v, in the order of n: no atomics on floats, no sort.
// A workgroup owns one row of the table, COLUMNS of its columns and a span. It marks the matching tokens as bits, up to STRETCH at a
// time, then walks the bits; PARTS invocations share a column and take words in turn.

@group(0) @binding(0) var<storage, read> tokens: array<u32>;
@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read_write> partial: array<f32>;

const STRETCH: u32 = min(SPAN, 2048u);
const WORDS: u32 = STRETCH / 32u;

var<workgroup> matches: array<atomic<u32>, WORDS>;
var<workgroup> sums: array<f32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let flat = flat_group(group, groups);
    let row = (flat / COLUMN_GROUPS) % VOCAB;
    // Folding may add groups past the last span; they sum nothing.
    let span = flat / (COLUMN_GROUPS * VOCAB);
    let end = min((span + 1u) * SPAN, COUNT);
    let part = index / COLUMNS;
    let column = (flat % COLUMN_GROUPS) * COLUMNS + index % COLUMNS;
    var sum = 0.0;
    for (var start = span * SPAN; start < end; start += STRETCH) {
        if (index < WORDS) {
            atomicStore(&matches[index], 0u);
        }
        workgroupBarrier();
        for (var i = index; i < STRETCH; i += WORKGROUP) {
            let n = start + i;
            if (n < end && tokens[min(n, COUNT - 1u)] == row) {
                atomicOr(&matches[i / 32u], 1u << (i % 32u));
            }
        }
        workgroupBarrier();
        if (column < WIDTH) {
            for (var word = part; word < WORDS; word += PARTS) {
                var bits = atomicLoad(&matches[word]);
                while (bits != 0u) {
                    // Several loads in flight: their latency is most of the time.
                    for (var i = 0u; i < 4u; i++) { // unroll
                        let n = start + word * 32u + min(countTrailingZeros(bits), 31u);
                        sum += select(0.0, dy[min(n, COUNT - 1u) * WIDTH + column], bits != 0u);
                        bits = bits & (max(bits, 1u) - 1u);
                    }
                }
            }
        }
        workgroupBarrier();
    }
    sums[index] = sum;
    workgroupBarrier();
    for (var s = PARTS / 2u; s > 0u; s = s / 2u) {
        if (part < s) {
            sums[index] += sums[index + s * COLUMNS];
        }
        workgroupBarrier();
    }
    if (part == 0u && column < WIDTH && span < SPANS) {
        partial[(span * VOCAB + row) * WIDTH + column] = sums[index];
    }
}
