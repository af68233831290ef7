// The tiles of dW = dy^T x: both matrices lie across k, and so do their tiles, [DEPTH, QUADS] quads.

fn a_fetch(first: u32, row: u32, k: u32, to: u32, index: u32) -> vec4<f32> {
    let term = k + index / QUADS;
    let inner = row + 4u * (index % QUADS);
    return a_quad(first + term * A_STRIDE + inner, max(M, inner) - inner, term < to);
}

fn b_fetch(first: u32, column: u32, k: u32, to: u32, index: u32) -> vec4<f32> {
    let term = k + index / QUADS;
    let inner = column + 4u * (index % QUADS);
    return b_quad(first + term * B_STRIDE + inner, max(N, inner) - inner, term < to);
}

fn a_place(index: u32) -> u32 {
    return index;
}

fn b_place(index: u32) -> u32 {
    return index;
}

fn column_of(own_n: u32, j: u32) -> u32 {
    return 4u * own_n + j;
}

fn multiply(q: u32, own_m: u32, own_n: u32) {
    for (var i = 0u; i < 4u; i++) { // unroll
        let a = a_tile[(4u * q + i) * QUADS + own_m];
        let b = b_tile[(4u * q + i) * QUADS + own_n];
        c0 += a.x * b;
        c1 += a.y * b;
        c2 += a.z * b;
        c3 += a.w * b;
    }
}
