// Tiles of TILE queries by TILE keys of one sequence and head; invocation (own, other) owns one score.

// First float of a token's packed row [query, key, value].
fn token_row(sequence: u32, t: u32) -> u32 {
    return (((sequence / HEADS) * TIME + t) * HEADS + sequence % HEADS) * STRIDE;
}

// Index of a (token, head) row.
fn row_index(sequence: u32, t: u32) -> u32 {
    return ((sequence / HEADS) * TIME + t) * HEADS + sequence % HEADS;
}
