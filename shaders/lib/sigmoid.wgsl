// Logistic functions without overflow: exponents are <= 0.

fn sigmoid(x: f32) -> f32 {
    let e = exp(-abs(x));
    return select(e, 1.0, x >= 0.0) / (1.0 + e);
}

fn silu(x: f32) -> f32 {
    return x * sigmoid(x);
}

fn silu_slope(x: f32) -> f32 {
    let s = sigmoid(x);
    return s * (1.0 + x * (1.0 - s));
}

// log(1 + e) for 0 <= e <= 1: 2 atanh(z), z = e / (2 + e) <= 1/3. WGSL has no log1p, and log(1 + e) loses small e.
fn log_one_plus(e: f32) -> f32 {
    let z = e / (2.0 + e);
    let s = z * z;
    return 2.0 * z * (1.0 + s * (1.0 / 3.0 + s * (1.0 / 5.0 + s * (1.0 / 7.0 + s * (1.0 / 9.0 + s * (1.0 / 11.0 + s / 13.0))))));
}

fn softplus(x: f32) -> f32 {
    return max(x, 0.0) + log_one_plus(exp(-abs(x)));
}

// 1 - exp(-s) for s >= 0, exact for small s too.
fn one_minus_exp(s: f32) -> f32 {
    let series = s * (1.0 - s / 2.0 * (1.0 - s / 3.0 * (1.0 - s / 4.0 * (1.0 - s / 5.0 * (1.0 - s / 6.0)))));
    return select(1.0 - exp(-s), series, s < 0.25);
}
