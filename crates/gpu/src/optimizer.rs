//! AdamW with global-norm clipping over the packed parameters, in two dispatches.

use crate::kernel::{Access, Dispatch, Header, Recorder, Region, WORKGROUP, fold};
use crate::ops::text;
use palimpsest_plan::Op;

/// Partial sums of the gradient's norm: as many as one workgroup can join.
const PARTIALS: usize = WORKGROUP as usize;

/// Records the update; the result of a step is the loss of the plan's cross-entropy and the norm of the whole gradient.
pub(crate) fn update(r: &mut impl Recorder) {
    let quads = r.plan().parameter_len() / 4;
    let losses = r.plan().forward.iter().find_map(|op| if let Op::CrossEntropy(op) = op { Some(op.loss) } else { None });
    let Some(loss) = losses else { return };
    let optimizer = r.plan().optimizer;
    let groups = quads.div_ceil(WORKGROUP as usize);
    let partials = groups.min(PARTIALS);
    let partial = Region::Scratch(r.scratch("gradient norm", partials));
    let header = || Header::new().size("WORKGROUP", WORKGROUP).size("LANES", WORKGROUP as usize).size("ROWS", 1);
    r.dispatch(Dispatch {
        label: "adamw.norm",
        source: header()
            .size("QUADS", quads)
            .size("PARTIALS", partials)
            .source(&[text::ROWS, include_str!("../../../shaders/kernels/gradient_norm.wgsl")]),
        bindings: vec![(Region::Gradients, Access::Read), (partial, Access::ReadWrite)],
        groups: [partials as u32, 1, 1],
    });
    r.dispatch(Dispatch {
        label: "adamw.update",
        source: header()
            .size("QUADS", quads)
            .size("PARTIALS", partials)
            .float("CLIP", optimizer.clip)
            .float("BETA1", optimizer.beta1)
            .float("BETA2", optimizer.beta2)
            .float("EPSILON", optimizer.epsilon)
            .source(&[text::INDEX, text::ROWS, include_str!("../../../shaders/kernels/adamw.wgsl")]),
        bindings: vec![
            (Region::Step, Access::Read),
            (partial, Access::Read),
            (Region::Rates, Access::Read),
            (Region::Gradients, Access::Read),
            (Region::Parameters, Access::ReadWrite),
            (Region::Moments, Access::ReadWrite),
            (Region::Tensor(loss), Access::Read),
            (Region::Results, Access::ReadWrite),
        ],
        groups: fold(groups, r.limits()),
    });
}
