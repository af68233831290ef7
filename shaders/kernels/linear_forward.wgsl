// The tiles of y = x W^T: both matrices lie along k, and so do their tiles, [64, QUADS_K] quads.

fn a_fetch(first: u32, row: u32, k: u32, to: u32, index: u32) -> vec4<f32> {
    let m = row + index / QUADS_K;
    let inner = k + 4u * (index % QUADS_K);
    return a_quad(first + m * A_STRIDE + inner, max(to, inner) - inner, m < M);
}

fn b_fetch(first: u32, column: u32, k: u32, to: u32, index: u32) -> vec4<f32> {
    let n = column + index / QUADS_K;
    let inner = k + 4u * (index % QUADS_K);
    return b_quad(first + n * B_STRIDE + inner, max(to, inner) - inner, n < N);
}

fn a_place(index: u32) -> u32 {
    return (index / QUADS_K) * PITCH + index % QUADS_K;
}

fn b_place(index: u32) -> u32 {
    return (index / QUADS_K) * PITCH + index % QUADS_K;
}

// Columns own_n, own_n + 16, ..: neighbours read neighbouring rows of the tile.
fn column_of(own_n: u32, j: u32) -> u32 {
    return own_n + QUADS * j;
}

fn multiply(q: u32, own_m: u32, own_n: u32) {
    let at_b = own_n * PITCH + q;
    let b0 = b_tile[at_b];
    let b1 = b_tile[at_b + QUADS * PITCH];
    let b2 = b_tile[at_b + 2u * QUADS * PITCH];
    let b3 = b_tile[at_b + 3u * QUADS * PITCH];
    let at_a = 4u * own_m * PITCH + q;
    let a0 = a_tile[at_a];
    let a1 = a_tile[at_a + PITCH];
    let a2 = a_tile[at_a + 2u * PITCH];
    let a3 = a_tile[at_a + 3u * PITCH];
    c0 += vec4<f32>(dot(a0, b0), dot(a0, b1), dot(a0, b2), dot(a0, b3));
    c1 += vec4<f32>(dot(a1, b0), dot(a1, b1), dot(a1, b2), dot(a1, b3));
    c2 += vec4<f32>(dot(a2, b0), dot(a2, b1), dot(a2, b2), dot(a2, b3));
    c3 += vec4<f32>(dot(a3, b0), dot(a3, b1), dot(a3, b2), dot(a3, b3));
}
