// Per row: logsumexp of the logits, its distance to the target's logit, and the first largest logit.

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> targets: array<u32>;
@group(0) @binding(2) var<storage, read_write> answers: array<u32>;
@group(0) @binding(3) var<storage, read_write> log_sums: array<f32>;
@group(0) @binding(4) var<storage, read_write> losses: array<f32>;

var<workgroup> best: array<f32, WORKGROUP>;
var<workgroup> best_at: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    invocation = index;
    let lane = index % LANES;
    let row = flat_group(group, groups) * ROWS + index / LANES;
    let clamped = min(row, COUNT - 1u);
    let first = clamped * WIDTH;
    // A lane past the width repeats the last logit, which changes neither the largest nor the first of them.
    var at = min(lane, WIDTH - 1u);
    var largest = logits[first + at];
    for (var j = lane + LANES; j < WIDTH; j += LANES) {
        let logit = logits[first + j];
        if (logit > largest) {
            largest = logit;
            at = j;
        }
    }
    best[index] = largest;
    best_at[index] = at;
    workgroupBarrier();
    for (var s = LANES / 2u; s > 0u; s = s / 2u) {
        if (lane < s) {
            let other = index + s;
            if (best[other] > best[index] || (best[other] == best[index] && best_at[other] < best_at[index])) {
                best[index] = best[other];
                best_at[index] = best_at[other];
            }
        }
        workgroupBarrier();
    }
    let peak = best[index - lane];
    var sum = 0.0;
    for (var j = lane; j < WIDTH; j += LANES) {
        sum += exp(logits[first + j] - peak);
    }
    let log_sum = log(row_sum(sum, lane));
    if (row < COUNT && lane == 0u) {
        answers[row] = best_at[index];
        // Kept apart from the peak: their sum would round the small one away.
        log_sums[2u * row] = peak;
        log_sums[2u * row + 1u] = log_sum;
        losses[row] = log_sum + (peak - logits[first + targets[row]]);
    }
}
