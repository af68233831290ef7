// C[m, n] = sum_k A[m, k] B[k, n], for each diagonal block and each split of k, over strided matrices.
// 64 x 64 tiles of C, 4 x 4 in the registers of each invocation; the next slice of k is fetched while one is multiplied.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

const TILE: u32 = 64u;
const QUADS: u32 = 16u;
const DEPTH: u32 = 16u;
// Rows of the tiles are padded by one vec4, so that a column's stores meet different banks.
const PITCH: u32 = 17u;

var<workgroup> a_tile: array<vec4<f32>, 272>; // [DEPTH, PITCH]
var<workgroup> b_tile: array<vec4<f32>, 272>; // [DEPTH, PITCH]

fn at_a(row: u32, k: u32, to: u32, first: u32) -> f32 {
    if (row < M && k < to) {
        return a[first + row * A_ROW + k * A_COLUMN];
    }
    return 0.0;
}

fn at_b(k: u32, column: u32, to: u32, first: u32) -> f32 {
    if (column < N && k < to) {
        return b[first + k * B_ROW + column * B_COLUMN];
    }
    return 0.0;
}

fn quad_a(row: u32, k: u32, to: u32, first: u32) -> vec4<f32> {
    return vec4<f32>(at_a(row, k, to, first), at_a(row + 1u, k, to, first), at_a(row + 2u, k, to, first), at_a(row + 3u, k, to, first));
}

fn quad_b(k: u32, column: u32, to: u32, first: u32) -> vec4<f32> {
    return vec4<f32>(
        at_b(k, column, to, first), at_b(k, column + 1u, to, first), at_b(k, column + 2u, to, first), at_b(k, column + 3u, to, first));
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let flat = flat_group(group, groups);
    let tile_n = flat % TILES_N;
    let tile_m = (flat / TILES_N) % TILES_M;
    let block = (flat / (TILES_N * TILES_M)) % BLOCKS;
    // Folding may add groups past the last split; they compute it again from no k and write nothing.
    let split = flat / (TILES_N * TILES_M * BLOCKS);
    let start = min(split * SPLIT, K);
    let to = min(start + SPLIT, K);
    let row = tile_m * TILE;
    let column = tile_n * TILE;
    let first_a = A_FIRST + block * A_BLOCK;
    let first_b = B_FIRST + block * B_BLOCK;

    // Neighbouring invocations fetch neighbouring numbers, whichever way a matrix lies.
    let a_depth = select(index / QUADS, index % DEPTH, A_COLUMN == 1u);
    let a_quad = select(index % QUADS, index / DEPTH, A_COLUMN == 1u);
    let b_depth = select(index % DEPTH, index / QUADS, B_COLUMN == 1u);
    let b_quad = select(index / DEPTH, index % QUADS, B_COLUMN == 1u);
    let own_m = index / QUADS;
    let own_n = index % QUADS;

    var c0 = vec4<f32>();
    var c1 = vec4<f32>();
    var c2 = vec4<f32>();
    var c3 = vec4<f32>();
    var row_sums = vec4<f32>();
    var a_next = quad_a(row + 4u * a_quad, start + a_depth, to, first_a);
    var b_next = quad_b(start + b_depth, column + 4u * b_quad, to, first_b);
    for (var step = 0u; step < SPLIT; step += DEPTH) {
        a_tile[a_depth * PITCH + a_quad] = a_next;
        b_tile[b_depth * PITCH + b_quad] = b_next;
        workgroupBarrier();
        let next = start + step + DEPTH;
        a_next = quad_a(row + 4u * a_quad, next + a_depth, to, first_a);
        b_next = quad_b(next + b_depth, column + 4u * b_quad, to, first_b);
        for (var d = 0u; d < DEPTH; d++) {
            let left = a_tile[d * PITCH + own_m];
            let right = b_tile[d * PITCH + own_n];
            c0 += left.x * right;
            c1 += left.y * right;
            c2 += left.z * right;
            c3 += left.w * right;
        }
        if (ROW_SUMS && tile_n == 0u && index < QUADS) {
            for (var d = 0u; d < DEPTH; d++) {
                row_sums += a_tile[d * PITCH + index];
            }
        }
        workgroupBarrier();
    }
    if (split * SPLIT >= K) {
        return;
    }

    let first_c = C_FIRST + block * C_BLOCK + split * C_SPLIT;
    let own = array<vec4<f32>, 4>(c0, c1, c2, c3);
    for (var i = 0u; i < 4u; i++) {
        let own_row = row + 4u * own_m + i;
        if (own_row < M) {
            for (var j = 0u; j < 4u; j++) {
                let own_column = column + 4u * own_n + j;
                if (own_column < N) {
                    let at = first_c + own_row * C_ROW + own_column;
                    let value = finish(own[i][j], at, block * N + own_column);
                    c[at] = select(value, value + c[at], ADD);
                }
            }
        }
    }
    if (ROW_SUMS && tile_n == 0u && index < QUADS) {
        for (var i = 0u; i < 4u; i++) {
            let own_row = row + 4u * index + i;
            if (own_row < M) {
                c[ROW_SUMS_FIRST + split * C_SPLIT + block * M + own_row] = row_sums[i];
            }
        }
    }
}
