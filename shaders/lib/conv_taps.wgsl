@group(0) @binding(TAPS_BINDING) var<storage, read> taps: array<f32>;

// c[n] = sum_i taps[column, i] x[n - (TAPS - 1) + i], zeros before the sequence.
fn convolved(n: u32, column: u32) -> f32 {
    let t = n % TIME;
    let at = n * X_STRIDE + X_FIRST + column;
    var sum = 0.0;
    for (var i = 0u; i < TAPS; i++) { // unroll
        let lag = TAPS - 1u - i;
        if (t >= lag) {
            sum += taps[column * TAPS + i] * x[at - lag * X_STRIDE];
        }
    }
    return sum;
}
