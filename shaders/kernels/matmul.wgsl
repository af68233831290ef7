// C[m, n] = sum_k A[m, k] B[k, n], for each diagonal block and each split of k, over strided matrices.
// 64 x 64 tiles of C, 4 x 4 in the registers of each invocation; the next slice of k is fetched while one is multiplied.
//
// Each matrix is fetched in quads along the dimension in which its numbers are neighbours: A_ALONG_K, B_ALONG_K say which.
// A quad along k stays one in workgroup memory, [64 rows, QUADS_K + 1]; a quad along m or n makes [DEPTH, QUADS]. Transposing
// four quads in registers costs nothing.

@group(0) @binding(2) var<storage, read_write> c: array<f32>;

const TILE: u32 = 64u;
const QUADS: u32 = 16u;
const DEPTH: u32 = 16u;
const QUADS_K: u32 = 4u;
// One more than QUADS_K: rows of a tile then meet different banks.
const PITCH: u32 = 5u;

var<workgroup> a_tile: array<vec4<f32>, 320>;
var<workgroup> b_tile: array<vec4<f32>, 320>;

// A quad of A for the slice at `k`: of row `outer` (along k) or of term `outer` (along m).
fn fetch_a(first: u32, row: u32, k: u32, to: u32, outer: u32, quad: u32) -> vec4<f32> {
    if (A_ALONG_K) {
        let m = row + outer;
        let inner = k + 4u * quad;
        return a_quad(first + m * A_STRIDE + inner, max(to, inner) - inner, m < M);
    }
    let term = k + outer;
    let inner = row + 4u * quad;
    return a_quad(first + term * A_STRIDE + inner, max(M, inner) - inner, term < to);
}

fn fetch_b(first: u32, column: u32, k: u32, to: u32, outer: u32, quad: u32) -> vec4<f32> {
    if (B_ALONG_K) {
        let n = column + outer;
        let inner = k + 4u * quad;
        return b_quad(first + n * B_STRIDE + inner, max(to, inner) - inner, n < N);
    }
    let term = k + outer;
    let inner = column + 4u * quad;
    return b_quad(first + term * B_STRIDE + inner, max(N, inner) - inner, term < to);
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

    let a_outer = index / select(QUADS, QUADS_K, A_ALONG_K);
    let a_inner = index % select(QUADS, QUADS_K, A_ALONG_K);
    let b_outer = index / select(QUADS, QUADS_K, B_ALONG_K);
    let b_inner = index % select(QUADS, QUADS_K, B_ALONG_K);
    let a_at = a_outer * select(QUADS, PITCH, A_ALONG_K) + a_inner;
    let b_at = b_outer * select(QUADS, PITCH, B_ALONG_K) + b_inner;
    let own_m = index / QUADS;
    let own_n = index % QUADS;

    var c0 = vec4<f32>();
    var c1 = vec4<f32>();
    var c2 = vec4<f32>();
    var c3 = vec4<f32>();
    var row_sums = vec4<f32>();
    var a_next = fetch_a(first_a, row, start, to, a_outer, a_inner);
    var b_next = fetch_b(first_b, column, start, to, b_outer, b_inner);
    for (var step = 0u; step < SPLIT; step += DEPTH) {
        a_tile[a_at] = a_next;
        b_tile[b_at] = b_next;
        workgroupBarrier();
        let next = start + step + DEPTH;
        a_next = fetch_a(first_a, row, next, to, a_outer, a_inner);
        b_next = fetch_b(first_b, column, next, to, b_outer, b_inner);
        for (var q = 0u; q < QUADS_K; q++) {
            // a: rows of four terms. b: terms of four columns.
            var a: mat4x4<f32>;
            var b: mat4x4<f32>;
            if (A_ALONG_K) {
                let at = 4u * own_m * PITCH + q;
                a = mat4x4<f32>(a_tile[at], a_tile[at + PITCH], a_tile[at + 2u * PITCH], a_tile[at + 3u * PITCH]);
            } else {
                let at = 4u * q * QUADS + own_m;
                a = transpose(mat4x4<f32>(a_tile[at], a_tile[at + QUADS], a_tile[at + 2u * QUADS], a_tile[at + 3u * QUADS]));
            }
            if (B_ALONG_K) {
                // Columns own_n, own_n + 16, ..: neighbours read neighbouring rows of the tile.
                let at = own_n * PITCH + q;
                let apart = QUADS * PITCH;
                b = transpose(mat4x4<f32>(b_tile[at], b_tile[at + apart], b_tile[at + 2u * apart], b_tile[at + 3u * apart]));
            } else {
                let at = 4u * q * QUADS + own_n;
                b = mat4x4<f32>(b_tile[at], b_tile[at + QUADS], b_tile[at + 2u * QUADS], b_tile[at + 3u * QUADS]);
            }
            c0 += a[0].x * b[0] + a[0].y * b[1] + a[0].z * b[2] + a[0].w * b[3];
            c1 += a[1].x * b[0] + a[1].y * b[1] + a[1].z * b[2] + a[1].w * b[3];
            c2 += a[2].x * b[0] + a[2].y * b[1] + a[2].z * b[2] + a[2].w * b[3];
            c3 += a[3].x * b[0] + a[3].y * b[1] + a[3].z * b[2] + a[3].w * b[3];
        }
        // Only asked for where A lies along m.
        if (ROW_SUMS && tile_n == 0u && index < QUADS) {
            for (var d = 0u; d < DEPTH; d++) {
                row_sums += a_tile[d * QUADS + index];
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
                let own_column = column + select(4u * own_n + j, own_n + QUADS * j, B_ALONG_K);
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
