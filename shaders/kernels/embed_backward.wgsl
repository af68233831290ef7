// d_table[v] (+)= sum of dy[n] over the n with tokens[n] = v, in the order of n: no atomics on floats, no sort.
// A workgroup owns one row of the table and COLUMNS of its columns. It marks the matching tokens of a span as bits, then walks
// the bits; PARTS invocations share a column and take words in turn.

@group(0) @binding(0) var<storage, read> tokens: array<u32>;
@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read_write> d_table: array<f32>;

const WORDS: u32 = 64u;
const SPAN: u32 = 2048u;

var<workgroup> matches: array<atomic<u32>, 64>;
var<workgroup> sums: array<f32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let flat = flat_group(group, groups);
    let row = flat / COLUMN_GROUPS;
    let part = index / COLUMNS;
    let column = (flat % COLUMN_GROUPS) * COLUMNS + index % COLUMNS;
    var sum = 0.0;
    for (var start = 0u; start < COUNT; start += SPAN) {
        if (index < WORDS) {
            atomicStore(&matches[index], 0u);
        }
        workgroupBarrier();
        for (var i = index; i < SPAN; i += WORKGROUP) {
            let n = start + i;
            if (n < COUNT && tokens[min(n, COUNT - 1u)] == row) {
                atomicOr(&matches[i / 32u], 1u << (i % 32u));
            }
        }
        workgroupBarrier();
        if (column < WIDTH) {
            for (var word = part; word < WORDS; word += PARTS) {
                var bits = atomicLoad(&matches[word]);
                while (bits != 0u) {
                    let n = start + word * 32u + countTrailingZeros(bits);
                    sum += dy[n * WIDTH + column];
                    bits = bits & (bits - 1u);
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
    if (part == 0u && column < WIDTH && row < VOCAB) {
        let at = row * WIDTH + column;
        d_table[at] = select(sums[index], sums[index] + d_table[at], ADD);
    }
}
