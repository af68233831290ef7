// A matrix of a product whose rows all start at multiples of four numbers.
@group(0) @binding(BINDING) var<storage, read> NAME: array<vec4<f32>>;

// Four numbers from `at` on; zeros unless `live`. `count` of them are wanted: four or none here.
fn NAME_quad(at: u32, count: u32, live: bool) -> vec4<f32> {
    // Loaded without a branch, so that several loads are in flight; WGSL makes loads past the end harmless.
    return select(vec4<f32>(), NAME[at / 4u], live && count > 0u);
}
