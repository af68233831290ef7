// GatedNorm without a gate.
fn opening(row: u32, j: u32) -> f32 {
    return 1.0;
}
