// A matrix of a product whose rows start anywhere.
@group(0) @binding(BINDING) var<storage, read> NAME: array<f32>;

// Four numbers from `at` on; zeros unless `live`, and past the first `count`.
fn NAME_quad(at: u32, count: u32, live: bool) -> vec4<f32> {
    // Loaded without a branch, so that several loads are in flight; WGSL makes loads past the end harmless.
    let all = vec4<f32>(NAME[at], NAME[at + 1u], NAME[at + 2u], NAME[at + 3u]);
    let wanted = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(count);
    return select(vec4<f32>(), all, wanted & vec4<bool>(live));
}
