// Packed steps as vec4s: row (b, t, h) of `steps` has STRIDE4 of them, and every `*_slot()` counts them too.
// The header declares the sizes, the slots and `steps`.

fn row_start(bh: u32, t: u32) -> u32 {
    return (((bh / H) * T + t) * H + bh % H) * STRIDE4;
}

// exp(g) of a step's key channels 4 k4 .. 4 k4 + 3; 1 for a step without decay.
fn decay_at(row: u32, s: u32, k4: u32) -> vec4<f32> {
    let kind = decay_kind(s);
    if (kind == DECAY_KEY) {
        return exp(steps[row + decay_slot(s) + k4]);
    }
    if (kind == DECAY_SCALAR) {
        return vec4<f32>(exp(steps[row + decay_slot(s)].x));
    }
    return vec4<f32>(1.0);
}

fn key_at(row: u32, s: u32, k4: u32) -> vec4<f32> {
    return steps[row + key_slot(s) + k4];
}

fn erase_at(row: u32, s: u32, k4: u32) -> vec4<f32> {
    if (has_erase(s)) {
        return steps[row + erase_slot(s) + k4];
    }
    return vec4<f32>();
}

fn write_at(row: u32, s: u32, v4: u32) -> vec4<f32> {
    if (has_write(s)) {
        return steps[row + write_slot(s) + v4];
    }
    return vec4<f32>();
}
