// x = x * a + b, over and over in registers: how fast a kernel can multiply and add.

@group(0) @binding(0) var<storage, read> factors: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> results: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    // Read from memory, so that the compiler cannot compute anything beforehand.
    let a = factors[0];
    let b = factors[1];
    // Chains do not wait for each other: a multiplier takes one while another is under way.
    var x: array<vec4<f32>, CHAINS>;
    for (var c = 0u; c < CHAINS; c++) { // unroll
        x[c] = b * f32(index + c);
    }
    for (var turn = 0u; turn < TURNS; turn++) {
        for (var r = 0u; r < REPEATS; r++) { // unroll
            for (var c = 0u; c < CHAINS; c++) { // unroll
                x[c] = x[c] * a + b;
            }
        }
    }
    var sum = vec4<f32>();
    for (var c = 0u; c < CHAINS; c++) { // unroll
        sum += x[c];
    }
    results[flat_group(group, groups) * WORKGROUP + index] = sum;
}
