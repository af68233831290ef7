// Partial sums of the squares of all gradients, one a workgroup.

@group(0) @binding(0) var<storage, read> gradients: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> partial: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>) {
    invocation = index;
    var sum = 0.0;
    for (var i = group.x * WORKGROUP + index; i < QUADS; i += PARTIALS * WORKGROUP) {
        sum += dot(gradients[i], gradients[i]);
    }
    let total = row_sum(sum, index);
    if (index == 0u) {
        partial[group.x] = total;
    }
}
