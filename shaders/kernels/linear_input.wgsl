// The tiles of dx = dy W: dy lies along k, its tile [64, QUADS_K] quads; W lies across it, its tile [DEPTH, QUADS].

fn a_fetch(first: u32, row: u32, k: u32, to: u32, index: u32) -> vec4<f32> {
    let m = row + index / QUADS_K;
    let inner = k + 4u * (index % QUADS_K);
    return a_quad(first + m * A_STRIDE + inner, max(to, inner) - inner, m < M);
}

fn b_fetch(first: u32, column: u32, k: u32, to: u32, index: u32) -> vec4<f32> {
    let term = k + index / QUADS;
    let inner = column + 4u * (index % QUADS);
    return b_quad(first + term * B_STRIDE + inner, max(N, inner) - inner, term < to);
}

fn a_place(index: u32) -> u32 {
    return (index / QUADS_K) * PITCH + index % QUADS_K;
}

fn b_place(index: u32) -> u32 {
    return index;
}

fn column_of(own_n: u32, j: u32) -> u32 {
    return 4u * own_n + j;
}

fn multiply(q: u32, own_m: u32, own_n: u32) {
    let at_b = 4u * q * QUADS + own_n;
    let b0 = b_tile[at_b];
    let b1 = b_tile[at_b + QUADS];
    let b2 = b_tile[at_b + 2u * QUADS];
    let b3 = b_tile[at_b + 3u * QUADS];
    let at_a = 4u * own_m * PITCH + q;
    let a0 = a_tile[at_a];
    let a1 = a_tile[at_a + PITCH];
    let a2 = a_tile[at_a + 2u * PITCH];
    let a3 = a_tile[at_a + 3u * PITCH];
    c0 += a0.x * b0 + a0.y * b1 + a0.z * b2 + a0.w * b3;
    c1 += a1.x * b0 + a1.y * b1 + a1.z * b2 + a1.w * b3;
    c2 += a2.x * b0 + a2.y * b1 + a2.z * b2 + a2.w * b3;
    c3 += a3.x * b0 + a3.y * b1 + a3.z * b2 + a3.w * b3;
}
