fn store_gate(row: u32, j: u32, value: f32) {
}
