// C[m, n] = sum_k A[m, k] B[k, n], for each diagonal block and each split of k.
// 64 x 64 tiles of C, 4 x 4 in the registers of each invocation; the next slice of k is fetched while one is multiplied.
// Matrices are fetched in quads along the dimension in which their numbers are neighbours; which one that is, how the tiles lie
// and how they are multiplied is the other file's part: linear_forward, linear_input, linear_weight.

@group(0) @binding(2) var<storage, read_write> c: array<f32>;

const TILE: u32 = 64u;
const QUADS: u32 = 16u;
const DEPTH: u32 = 16u;
const QUADS_K: u32 = 4u;
// One more than QUADS_K: rows of a tile along k then meet different banks.
const PITCH: u32 = 5u;

var<workgroup> a_tile: array<vec4<f32>, 320>;
var<workgroup> b_tile: array<vec4<f32>, 320>;
// Rows of the invocation's own 4 x 4.
var<private> c0: vec4<f32>;
var<private> c1: vec4<f32>;
var<private> c2: vec4<f32>;
var<private> c3: vec4<f32>;

fn store_row(values: vec4<f32>, own_row: u32, column: u32, own_n: u32, block: u32, first: u32) {
    if (own_row >= M) {
        return;
    }
    for (var j = 0u; j < 4u; j++) { // unroll
        let own_column = column + column_of(own_n, j);
        if (own_column < N) {
            let at = first + own_row * C_ROW + own_column;
            let value = finish(values[j], at, block * N + own_column);
            c[at] = select(value, value + c[at], ADD);
        }
    }
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
    // Folding may add groups past the last split; they sum nothing and write nothing.
    let split = flat / (TILES_N * TILES_M * BLOCKS);
    let start = min(split * SPLIT, K);
    let to = min(start + SPLIT, K);
    let row = tile_m * TILE;
    let column = tile_n * TILE;
    let first_a = A_FIRST + block * A_BLOCK;
    let first_b = B_FIRST + block * B_BLOCK;
    let own_m = index / QUADS;
    let own_n = index % QUADS;

    var row_sums = vec4<f32>();
    var a_next = a_fetch(first_a, row, start, to, index);
    var b_next = b_fetch(first_b, column, start, to, index);
    for (var step = 0u; step < SPLIT; step += DEPTH) {
        a_tile[a_place(index)] = a_next;
        b_tile[b_place(index)] = b_next;
        workgroupBarrier();
        let next = start + step + DEPTH;
        a_next = a_fetch(first_a, row, next, to, index);
        b_next = b_fetch(first_b, column, next, to, index);
        for (var q = 0u; q < 4u; q++) { // unroll
            multiply(q, own_m, own_n);
        }
        // Only asked for where A lies across k.
        if (ROW_SUMS && tile_n == 0u && index < QUADS) {
            for (var d = 0u; d < 16u; d++) { // unroll
                row_sums += a_tile[d * QUADS + index];
            }
        }
        workgroupBarrier();
    }
    if (split * SPLIT >= K) {
        return;
    }

    let first = C_FIRST + block * C_BLOCK + split * C_SPLIT;
    let own_row = row + 4u * own_m;
    store_row(c0, own_row, column, own_n, block, first);
    store_row(c1, own_row + 1u, column, own_n, block, first);
    store_row(c2, own_row + 2u, column, own_n, block, first);
    store_row(c3, own_row + 3u, column, own_n, block, first);
    if (ROW_SUMS && tile_n == 0u && index < QUADS) {
        for (var i = 0u; i < 4u; i++) {
            let sum_row = row + 4u * index + i;
            if (sum_row < M) {
                c[ROW_SUMS_FIRST + split * C_SPLIT + block * M + sum_row] = row_sums[i];
            }
        }
    }
}
