// Sums of the rows of many matrices of partial sums into the packed gradients. A workgroup belongs to one segment of the table:
// [first workgroup, first partial sum, rows, stride, first gradient, count, group, group stride, first column, width, numbers of a
// workgroup]. The invocations share the numbers out, and the terms of each; a fixed tree joins them.

@group(0) @binding(0) var<storage, read> segments: array<u32>;
@group(0) @binding(1) var<storage, read> partials: array<f32>;
@group(0) @binding(2) var<storage, read_write> gradients: array<f32>;

var<workgroup> sums: array<f32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let flat = flat_group(group, groups);
    var low = 0u;
    var high = SEGMENTS;
    while (high - low > 1u) {
        let middle = (low + high) / 2u;
        if (segments[middle * WORDS] <= flat) {
            low = middle;
        } else {
            high = middle;
        }
    }
    let segment = low * WORDS;
    let numbers = segments[segment + 10u];
    let part = index / numbers;
    let parts = WORKGROUP / numbers;
    let number = (flat - segments[segment]) * numbers + index % numbers;
    let live = flat < GROUPS && number < segments[segment + 5u];
    var sum = 0.0;
    if (live) {
        let rows = segments[segment + 2u];
        let stride = segments[segment + 3u];
        let in_group = segments[segment + 6u];
        let width = segments[segment + 9u];
        let column = (number / in_group) * segments[segment + 7u] + segments[segment + 8u] + number % in_group;
        let first = segments[segment + 1u] + column;
        // Several loads in flight: their latency is most of the time.
        for (var term = part; term < rows * width; term += 8u * parts) {
            for (var i = 0u; i < 8u; i++) { // unroll
                let own = term + i * parts;
                sum += select(0.0, partials[first + (own / width) * stride + own % width], own < rows * width);
            }
        }
    }
    sums[index] = sum;
    workgroupBarrier();
    for (var s = WORKGROUP / 2u; s > 0u; s = s / 2u) {
        if (s >= numbers && index < s) {
            sums[index] += sums[index + s];
        }
        workgroupBarrier();
    }
    if (live && part == 0u) {
        gradients[segments[segment + 4u] + number] = sums[index];
    }
}
