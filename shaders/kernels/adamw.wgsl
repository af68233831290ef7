// AdamW over the packed parameters. Every workgroup joins the partial sums of the norm in the same order, so all agree on it.

@group(0) @binding(0) var<storage, read> step: array<u32>; // rate, 1 - beta1^t, 1 - beta2^t, slot of the result
@group(0) @binding(1) var<storage, read> partial: array<f32>; // [PARTIALS]
@group(0) @binding(2) var<storage, read> rates: array<vec2<f32>>; // per 64 parameters: scale, decay
@group(0) @binding(3) var<storage, read> gradients: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> parameters: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> moments: array<vec4<f32>>; // first, then second
@group(0) @binding(6) var<storage, read> loss: array<f32>;
@group(0) @binding(7) var<storage, read_write> results: array<f32>; // [slots, 2]: loss, norm

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    invocation = index;
    var squares = 0.0;
    if (index < PARTIALS) {
        squares = partial[index];
    }
    let norm = sqrt(row_sum(squares, index));
    let i = flat_group(group, groups) * WORKGROUP + index;
    if (i == 0u) {
        results[2u * step[3]] = loss[0];
        results[2u * step[3] + 1u] = norm;
    }
    if (i >= QUADS) {
        return;
    }
    let rate = bitcast<f32>(step[0]);
    var shrink = 1.0;
    if (CLIP > 0.0 && norm > CLIP) {
        shrink = CLIP / norm;
    }
    let g = gradients[i] * shrink;
    let m = BETA1 * moments[i] + (1.0 - BETA1) * g;
    let v = BETA2 * moments[QUADS + i] + (1.0 - BETA2) * g * g;
    moments[i] = m;
    moments[QUADS + i] = v;
    let own = rates[i / 16u];
    let p = parameters[i];
    let direction = m / bitcast<f32>(step[1]) / (sqrt(v / bitcast<f32>(step[2])) + EPSILON);
    parameters[i] = p - rate * own.x * (direction + own.y * p);
}
