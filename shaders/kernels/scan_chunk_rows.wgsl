// The edits of one chunk as rows: row i is step i % STEPS of the chunk's token i / STEPS. EDITS = CHUNK * STEPS.
// Rows past the sequence change nothing: no decay, zero key, erase, write and query.
//
// `factors`, per (batch, head, chunk), in vec4s; prefix = exp(g) of rows 0..=i multiplied, suffix = of rows i+1.. :
//   ERASED  [EDITS, K4]      a * prefix
//   KEYED   [EDITS, K4]      k * suffix
//   QUERIED [CHUNK, K4]      q * prefix of the token's last row
//   KEPT    [K4]             the whole chunk's decay
//   SOLVE   [EDITS, EDITS4]  (I + A)^-1
//   READ    [CHUNK, EDITS4]  P
//   SOLVED_ERASE [EDITS, K4] (I + A)^-1 (a * prefix)
//   SOLVED_WRITE [EDITS, V4] (I + A)^-1 U

const ERASED: u32 = 0u;
const KEYED: u32 = ERASED + EDITS * K4;
const QUERIED: u32 = KEYED + EDITS * K4;
const KEPT: u32 = QUERIED + CHUNK * K4;
const SOLVE: u32 = KEPT + K4;
const READ: u32 = SOLVE + EDITS * EDITS4;
const SOLVED_ERASE: u32 = READ + CHUNK * EDITS4;
const SOLVED_WRITE: u32 = SOLVED_ERASE + EDITS * K4;
const FACTORS4: u32 = SOLVED_WRITE + EDITS * V4;

// Whether row i of a chunk belongs to the sequence.
fn within(chunk: u32, i: u32) -> bool {
    return chunk * CHUNK + i / STEPS < T;
}

// First vec4 of `steps` for row i; of the last token for rows past the sequence.
fn chunk_row(bh: u32, chunk: u32, i: u32) -> u32 {
    return row_start(bh, min(chunk * CHUNK + i / STEPS, T - 1u));
}

// First vec4 of the [.., V4] reads of token t of a chunk.
fn read_start(bh: u32, chunk: u32, t: u32) -> u32 {
    return (((bh / H) * T + min(chunk * CHUNK + t, T - 1u)) * H + bh % H) * V4;
}

fn row_decay(bh: u32, chunk: u32, i: u32, k4: u32) -> vec4<f32> {
    if (DECAYS && within(chunk, i)) {
        return decay_at(chunk_row(bh, chunk, i), i % STEPS, k4);
    }
    return vec4<f32>(1.0);
}

fn row_key(bh: u32, chunk: u32, i: u32, k4: u32) -> vec4<f32> {
    if (within(chunk, i)) {
        return key_at(chunk_row(bh, chunk, i), i % STEPS, k4);
    }
    return vec4<f32>();
}

fn row_erase(bh: u32, chunk: u32, i: u32, k4: u32) -> vec4<f32> {
    if (within(chunk, i)) {
        return erase_at(chunk_row(bh, chunk, i), i % STEPS, k4);
    }
    return vec4<f32>();
}

fn row_write(bh: u32, chunk: u32, i: u32, v4: u32) -> vec4<f32> {
    if (within(chunk, i)) {
        return write_at(chunk_row(bh, chunk, i), i % STEPS, v4);
    }
    return vec4<f32>();
}

fn token_query(bh: u32, chunk: u32, t: u32, k4: u32) -> vec4<f32> {
    if (chunk * CHUNK + t < T) {
        return steps[row_start(bh, chunk * CHUNK + t) + k4];
    }
    return vec4<f32>();
}
