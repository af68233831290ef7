// A layer without a convolution.
fn convolved(n: u32, column: u32) -> f32 {
    return x[n * X_STRIDE + X_FIRST + column];
}
