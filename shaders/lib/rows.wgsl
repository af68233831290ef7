// Rows of LANES invocations each, ROWS of them in a workgroup (both powers of two). Sums are fixed trees.
// Barriers inside: call from uniform control flow only.

var<workgroup> row_shared: array<f32, WORKGROUP>;
// The invocation's index in its workgroup; main sets it first.
var<private> invocation: u32;

// Sum over a row's lanes, to all of them.
fn row_sum(x: f32, lane: u32) -> f32 {
    row_shared[invocation] = x;
    workgroupBarrier();
    for (var s = LANES / 2u; s > 0u; s = s / 2u) {
        if (lane < s) {
            row_shared[invocation] += row_shared[invocation + s];
        }
        workgroupBarrier();
    }
    let sum = row_shared[invocation - lane];
    workgroupBarrier();
    return sum;
}

// Sum over the workgroup's rows, lane by lane.
fn sum_of_rows(x: f32, lane: u32) -> f32 {
    row_shared[invocation] = x;
    workgroupBarrier();
    for (var s = ROWS / 2u; s > 0u; s = s / 2u) {
        if (invocation < s * LANES) {
            row_shared[invocation] += row_shared[invocation + s * LANES];
        }
        workgroupBarrier();
    }
    let sum = row_shared[lane];
    workgroupBarrier();
    return sum;
}
