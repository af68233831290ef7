@group(0) @binding(6) var<storage, read_write> d_gate: array<f32>;

fn store_gate(row: u32, j: u32, value: f32) {
    let at = (row / HEADS) * GATE_STRIDE + GATE_FIRST + (row % HEADS) * WIDTH + j;
    d_gate[at] = select(value, value + d_gate[at], ADD_GATE);
}
