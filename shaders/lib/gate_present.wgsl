// The gate of GatedNorm: columns of a matrix [N, GATE_STRIDE].
@group(0) @binding(GATE_BINDING) var<storage, read> gate: array<f32>;

fn opening(row: u32, j: u32) -> f32 {
    return sigmoid(gate[(row / HEADS) * GATE_STRIDE + GATE_FIRST + (row % HEADS) * WIDTH + j]);
}
