//! A training step as a recorded list of operations over named tensors.
//!
//! A [`Plan`] is data. It names every tensor, lists the forward operations in order, and derives the backward list:
//! which operations run, and for each operand whether its gradient is set or added to. Backends turn a plan into
//! buffers and kernels once; a step then only uploads a batch and replays it.
//!
//! Rows are tokens: `N = B * T`, row `b * T + t`. All tensors are dense and row-major; a [`View`] names some columns of one.

mod backend;
mod init;
mod op;
mod optimizer;
mod plan;
mod stacked;
mod tensor;
mod trace;

pub use backend::{Adapter, AdapterKind, BackendError, Session, StepInput, StepResult};
pub use init::Init;
pub use op::{
    Attention, ConvPart, CrossEntropy, Decay, DecayForm, Embed, GatePart, GatedNorm, Gates, Gather, Linear, Op, Operand, RmsNorm, RuleMap,
    Scan, ScanForm, ScanShape, ShortConv, SwiGlu, Unit,
};
pub use op::{NORM_EPSILON, SAFE_FLOOR, UNIT_EPSILON};
pub use optimizer::AdamW;
pub use plan::{BackwardOp, Plan, PlanBuilder, PlanError};
pub use stacked::{BatchInput, InTurn, Stacked, check_batches, check_run, check_steps};
pub use tensor::{GradientId, Learn, PARAMETER_ALIGN, Role, Tensor, TensorId, View};
pub use trace::{Moment, Trace, TraceWindow};
