// Sums the rows of a matrix [ROWS, STRIDE], a chunk of CHUNK rows at a time, into outputs that name their columns.
// PARTS invocations share a column, COLUMNS columns a workgroup; a fixed tree joins the parts.

var<workgroup> sums: array<f32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let flat = flat_group(group, groups);
    let chunk = flat / COLUMN_GROUPS;
    let part = index / COLUMNS;
    let output = (flat % COLUMN_GROUPS) * COLUMNS + index % COLUMNS;
    let live = output < OUTPUTS && chunk * CHUNK < ROWS;
    var sum = 0.0;
    if (live) {
        let first = first_column(output);
        let width = column_count(output);
        let to = min((chunk + 1u) * CHUNK, ROWS);
        for (var column = 0u; column < width; column++) {
            // Several loads in flight: their latency is most of the time.
            for (var row = chunk * CHUNK + part; row < to; row += 4u * PARTS) {
                for (var i = 0u; i < 4u; i++) { // unroll
                    let own = row + i * PARTS;
                    sum += select(0.0, partial[own * STRIDE + first + column], own < to);
                }
            }
        }
    }
    sums[index] = sum;
    workgroupBarrier();
    for (var s = PARTS / 2u; s > 0u; s = s / 2u) {
        if (part < s) {
            sums[index] += sums[index + s * COLUMNS];
        }
        workgroupBarrier();
    }
    if (live && part == 0u) {
        store(chunk, output, sums[index]);
    }
}
