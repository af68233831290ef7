// y[0] = mean(x[..COUNT]), one workgroup.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) index: u32) {
    invocation = index;
    var sum = 0.0;
    for (var i = index; i < COUNT; i += WORKGROUP) {
        sum += x[i];
    }
    let total = row_sum(sum, index);
    if (index == 0u) {
        y[0] = total / f32(COUNT);
    }
}
