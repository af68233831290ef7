//! Recording a plan and deriving its backward list.

use crate::{AdamW, GradientId, Init, Learn, Op, Operand, PARAMETER_ALIGN, Role, Tensor, TensorId, View};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::collections::HashSet;

/// Why a recorded list of operations is not a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A view that reaches past its tensor.
    #[error("operation {op} ({name}) reads columns {from}..{to} of '{tensor}', whose rows have {stride}")]
    Columns {
        /// Index of the operation.
        op: usize,
        /// Its name.
        name: &'static str,
        /// The tensor's name.
        tensor: String,
        /// First column.
        from: usize,
        /// End column.
        to: usize,
        /// Columns there are.
        stride: usize,
    },
    /// Two operations use overlapping but different columns, so set and add cannot be told apart.
    #[error("operation {op} ({name}) overlaps other columns of '{tensor}'")]
    Overlap {
        /// Index of the operation.
        op: usize,
        /// Its name.
        name: &'static str,
        /// The tensor's name.
        tensor: String,
    },
    /// A residual that is used again after the operation that adds it.
    #[error("operation {op} ({name}) uses '{tensor}' after it was added as a residual")]
    Residual {
        /// Index of the operation.
        op: usize,
        /// Its name.
        name: &'static str,
        /// The tensor's name.
        tensor: String,
    },
}

/// One operation of the backward list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackwardOp {
    /// Index into [`Plan::forward`].
    pub op: usize,
    /// For each of [`Op::operands`]: whether its gradient is added to (true) or set (false).
    pub adds: Vec<bool>,
}

/// Tensors, forward operations, backward operations, and where parameters and gradients lie.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All tensors; a [`TensorId`] is an index.
    pub tensors: Vec<Tensor>,
    /// Forward operations, in order.
    pub forward: Vec<Op>,
    /// Backward operations, in order; empty when the plan only runs forward.
    pub backward: Vec<BackwardOp>,
    /// How parameters are updated.
    pub optimizer: AdamW,
    gradients: Vec<Option<GradientId>>,
    gradient_lens: Vec<usize>,
    parameter_offsets: Vec<Option<usize>>,
    parameter_len: usize,
}

impl Plan {
    /// The tensor of an id.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// The gradient buffer of an activation or parameter, or `None` when none flows to it.
    pub fn gradient(&self, id: TensorId) -> Option<GradientId> {
        self.gradients[id.0]
    }

    /// Element counts of all gradient buffers that are not parameters'; indexed by [`GradientId`].
    pub fn gradient_lens(&self) -> &[usize] {
        &self.gradient_lens
    }

    /// First float of a parameter in the packed buffer; its gradient has the same offset in the packed gradient buffer.
    pub fn parameter_offset(&self, id: TensorId) -> Option<usize> {
        self.parameter_offsets[id.0]
    }

    /// Floats in the packed parameter buffer, padding included (padding stays zero).
    pub fn parameter_len(&self) -> usize {
        self.parameter_len
    }

    /// Parameters in packed order, with how each learns.
    pub fn parameters(&self) -> impl Iterator<Item = (TensorId, &Tensor, &Learn)> {
        self.tensors.iter().enumerate().filter_map(|(index, tensor)| match &tensor.role {
            Role::Parameter(learn) => Some((TensorId(index), tensor, learn)),
            _ => None,
        })
    }

    /// Number of learned numbers, without padding.
    pub fn parameter_count(&self) -> usize {
        self.parameters().map(|(_, tensor, _)| tensor.len()).sum()
    }

    /// First values of all parameters, packed. Each tensor has its own stream, so that two models share what they have in common by name.
    pub fn initial_parameters(&self, seed: u64) -> Vec<f32> {
        let mut packed = vec![0.0; self.parameter_len];
        for (id, tensor, learn) in self.parameters() {
            let Some(offset) = self.parameter_offset(id) else { continue };
            packed[offset..offset + tensor.len()].copy_from_slice(&learn.init.draw(tensor.len(), &mut stream(seed, &tensor.name)));
        }
        packed
    }

    /// Values of every constant tensor.
    pub fn constants(&self, seed: u64) -> Vec<(TensorId, Vec<f32>)> {
        let constant = |(index, tensor): (usize, &Tensor)| match tensor.role {
            Role::Constant(init) => Some((TensorId(index), init.draw(tensor.len(), &mut stream(seed, &tensor.name)))),
            _ => None,
        };
        self.tensors.iter().enumerate().filter_map(constant).collect()
    }
}

/// A generator for one tensor of one seed (FNV-1a of the name picks the PCG stream).
fn stream(seed: u64, name: &str) -> Pcg64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut bytes = [0u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&hash.to_le_bytes());
    bytes[16..24].copy_from_slice(&hash.rotate_left(32).to_le_bytes());
    Pcg64::from_seed(bytes)
}

/// Collects tensors and operations.
#[derive(Clone, Debug, Default)]
pub struct PlanBuilder {
    tensors: Vec<Tensor>,
    forward: Vec<Op>,
}

impl PlanBuilder {
    /// An empty plan.
    pub fn new() -> PlanBuilder {
        PlanBuilder::default()
    }

    /// Adds a tensor.
    pub fn tensor(&mut self, name: impl Into<String>, shape: &[usize], role: Role) -> TensorId {
        self.tensors.push(Tensor { name: name.into(), shape: shape.to_vec(), role });
        TensorId(self.tensors.len() - 1)
    }

    /// Adds an activation.
    pub fn activation(&mut self, name: impl Into<String>, shape: &[usize]) -> TensorId {
        self.tensor(name, shape, Role::Activation)
    }

    /// Adds a parameter that learns at the run's own rate, with weight decay.
    pub fn parameter(&mut self, name: impl Into<String>, shape: &[usize], init: Init) -> TensorId {
        self.tensor(name, shape, Role::Parameter(Learn { init, rate: 1.0, weight_decay: true }))
    }

    /// Adds a parameter that learns as told.
    pub fn learned(&mut self, name: impl Into<String>, shape: &[usize], learn: Learn) -> TensorId {
        self.tensor(name, shape, Role::Parameter(learn))
    }

    /// The whole of a matrix as a view; its row length is the last size.
    pub fn whole(&self, tensor: TensorId) -> View {
        let width = self.tensors[tensor.0].shape.last().copied().unwrap_or(1);
        View { tensor, offset: 0, width, stride: width }
    }

    /// Some columns of a matrix.
    pub fn columns(&self, tensor: TensorId, offset: usize, width: usize) -> View {
        View { offset, width, ..self.whole(tensor) }
    }

    /// Appends an operation.
    pub fn push(&mut self, op: Op) {
        self.forward.push(op);
    }

    /// A plan that only runs forward.
    pub fn finish_forward(self) -> Result<Plan, PlanError> {
        self.finish_with(AdamW::default(), false)
    }

    /// A plan that trains. Gradients start at the operations with no consumer: cross-entropy, or (in tests) outputs whose gradient is given.
    pub fn finish(self, optimizer: AdamW) -> Result<Plan, PlanError> {
        self.finish_with(optimizer, true)
    }

    fn finish_with(self, optimizer: AdamW, trains: bool) -> Result<Plan, PlanError> {
        self.check()?;
        let mut parameter_offsets = vec![None; self.tensors.len()];
        let mut parameter_len = 0usize;
        for (index, tensor) in self.tensors.iter().enumerate() {
            if matches!(tensor.role, Role::Parameter(_)) {
                parameter_offsets[index] = Some(parameter_len);
                parameter_len += tensor.len().next_multiple_of(PARAMETER_ALIGN);
            }
        }
        let mut plan = Plan {
            gradients: vec![None; self.tensors.len()],
            gradient_lens: Vec::new(),
            tensors: self.tensors,
            forward: self.forward,
            backward: Vec::new(),
            optimizer,
            parameter_offsets,
            parameter_len,
        };
        if trains {
            plan.share_gradients();
            plan.derive_backward();
        }
        Ok(plan)
    }

    fn check(&self) -> Result<(), PlanError> {
        let mut columns: Vec<View> = Vec::new();
        let mut closed: HashSet<TensorId> = HashSet::new();
        for (index, op) in self.forward.iter().enumerate() {
            for operand in op.operands() {
                let named = |id: TensorId| self.tensors[id.0].name.clone();
                if closed.contains(&operand.tensor()) {
                    return Err(PlanError::Residual { op: index, name: op.name(), tensor: named(operand.tensor()) });
                }
                let Operand::Columns(view) = operand else { continue };
                let row = self.tensors[view.tensor.0].shape.last().copied().unwrap_or(1);
                let to = view.offset + view.width;
                if to > view.stride || view.stride != row {
                    let (from, stride) = (view.offset, row);
                    return Err(PlanError::Columns { op: index, name: op.name(), tensor: named(view.tensor), from, to, stride });
                }
                let overlaps = |other: &View| {
                    other.tensor == view.tensor && *other != view && other.offset < to && view.offset < other.offset + other.width
                };
                if columns.iter().any(overlaps) {
                    return Err(PlanError::Overlap { op: index, name: op.name(), tensor: named(view.tensor) });
                }
                columns.push(view);
            }
            if let Op::Linear(linear) = op {
                closed.extend(linear.residual);
            }
        }
        Ok(())
    }
}

impl Plan {
    /// Gives every activation a gradient buffer; a residual shares the one of the sum it is part of.
    fn share_gradients(&mut self) {
        for op in self.forward.iter().rev() {
            for output in op.outputs() {
                let tensor = &self.tensors[output.0];
                if tensor.role == Role::Activation && self.gradients[output.0].is_none() {
                    self.gradients[output.0] = Some(GradientId(self.gradient_lens.len()));
                    self.gradient_lens.push(tensor.len());
                }
            }
            if let Op::Linear(linear) = op
                && let Some(residual) = linear.residual
            {
                self.gradients[residual.0] = self.gradients[linear.y.0];
            }
        }
        // Activations that no operation writes are inputs given from outside (tests of single operations).
        for (index, tensor) in self.tensors.iter().enumerate() {
            if tensor.role == Role::Activation && self.gradients[index].is_none() {
                self.gradients[index] = Some(GradientId(self.gradient_lens.len()));
                self.gradient_lens.push(tensor.len());
            }
        }
    }

    fn derive_backward(&mut self) {
        // What has been set so far: parameters by tensor, activations by gradient buffer and first column.
        let mut parameters: HashSet<TensorId> = HashSet::new();
        let mut activations: HashSet<(GradientId, usize)> = HashSet::new();
        for (index, op) in self.forward.iter().enumerate().rev() {
            if let Op::Linear(linear) = op
                && let Some(gradient) = linear.residual.and_then(|residual| self.gradient(residual))
            {
                activations.insert((gradient, 0));
            }
            let adds = op.operands().into_iter().map(|operand| match (operand, self.gradient(operand.tensor())) {
                (Operand::Whole(_), Some(gradient)) => !activations.insert((gradient, 0)),
                (Operand::Columns(view), Some(gradient)) => !activations.insert((gradient, view.offset)),
                (operand, None) => !parameters.insert(operand.tensor()),
            });
            let adds = adds.collect();
            self.backward.push(BackwardOp { op: index, adds });
        }
    }
}
