//! Every number of a plan, allocated once: tensors, their gradients, and the optimiser's moments.

use crate::Real;
use crate::memory::Memory;
use crate::rows::{Gradient, Rows};
use palimpsest_plan::{BackendError, Operand, Plan, Role, TensorId, View};

/// More than any operation has: a rule map's inputs and its head-scope inputs.
pub(crate) const MAX_OPERANDS: usize = 16;

/// Tensors by [`TensorId`]; a vector is taken out while an operation writes it, which allocates nothing.
pub(crate) struct Buffers<F> {
    /// Numbers of each tensor; empty for `u32` tensors.
    values: Vec<Vec<F>>,
    /// Numbers of each `u32` tensor; empty for the others.
    integers: Vec<Vec<u32>>,
    /// Gradient buffers: first the plan's own, then one for each parameter.
    gradients: Vec<Vec<F>>,
    /// Which gradient buffer a tensor has.
    slots: Vec<Option<usize>>,
    /// Row length of each tensor.
    widths: Vec<usize>,
}

/// Where an operand's gradient goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sink {
    pub(crate) slot: usize,
    offset: usize,
    width: usize,
    stride: usize,
    adds: bool,
}

impl Sink {
    /// The gradient as operations take it.
    pub(crate) fn open<'a, F>(&self, data: &'a mut [F]) -> Gradient<'a, F> {
        Gradient { data, offset: self.offset, width: self.width, stride: self.stride, adds: self.adds }
    }
}

impl<F: Real> Buffers<F> {
    /// All buffers of a plan, zero. Gradients exist only if the plan has a backward list.
    ///
    /// # Errors
    /// [`BackendError::Memory`] when they cannot be had.
    pub(crate) fn new(plan: &Plan, memory: Memory) -> Result<Self, BackendError> {
        let integer = |role: &Role| matches!(role, Role::Batch | Role::Answer);
        let of = |keep: bool, len: usize| if keep { len } else { 0 };
        let trains = !plan.backward.is_empty();
        let zeros = |len: usize| memory.filled(len, F::zero());
        let mut gradients = plan.gradient_lens().iter().map(|&len| zeros(len)).collect::<Result<Vec<Vec<F>>, _>>()?;
        let mut slots = Vec::with_capacity(plan.tensors.len());
        for (index, tensor) in plan.tensors.iter().enumerate() {
            let slot = match &tensor.role {
                Role::Parameter(_) if trains => {
                    gradients.push(zeros(tensor.len())?);
                    Some(gradients.len() - 1)
                }
                _ => plan.gradient(TensorId(index)).map(|gradient| gradient.0),
            };
            slots.push(slot);
        }
        let values = plan.tensors.iter().map(|tensor| zeros(of(!integer(&tensor.role), tensor.len())));
        let integers = plan.tensors.iter().map(|tensor| memory.filled(of(integer(&tensor.role), tensor.len()), 0));
        Ok(Buffers {
            values: values.collect::<Result<_, _>>()?,
            integers: integers.collect::<Result<_, _>>()?,
            gradients,
            slots,
            widths: plan.tensors.iter().map(|tensor| tensor.shape.last().copied().unwrap_or(1)).collect(),
        })
    }

    pub(crate) fn value(&self, id: TensorId) -> &[F] {
        &self.values[id.0]
    }

    pub(crate) fn value_mut(&mut self, id: TensorId) -> &mut [F] {
        &mut self.values[id.0]
    }

    /// Row length: the tensor's last size.
    pub(crate) fn width(&self, id: TensorId) -> usize {
        self.widths[id.0]
    }

    pub(crate) fn rows(&self, view: View) -> Rows<'_, F> {
        Rows { data: &self.values[view.tensor.0], offset: view.offset, width: view.width, stride: view.stride }
    }

    pub(crate) fn integers(&self, id: TensorId) -> &[u32] {
        &self.integers[id.0]
    }

    pub(crate) fn integers_mut(&mut self, id: TensorId) -> &mut [u32] {
        &mut self.integers[id.0]
    }

    /// The gradient of a tensor; empty when it has none.
    pub(crate) fn gradient(&self, id: TensorId) -> &[F] {
        self.slots[id.0].map_or(&[], |slot| &self.gradients[slot])
    }

    pub(crate) fn gradient_mut(&mut self, id: TensorId) -> &mut [F] {
        self.slots[id.0].map_or(&mut [], |slot| &mut self.gradients[slot])
    }

    /// A parameter's numbers to update, and its gradient.
    pub(crate) fn parameter(&mut self, id: TensorId) -> (&mut [F], &[F]) {
        let gradient = self.slots[id.0].map_or(&[][..], |slot| &self.gradients[slot]);
        (&mut self.values[id.0], gradient)
    }

    /// Where the gradient of an operand goes, or `None` when it has none.
    pub(crate) fn sink(&self, operand: Operand, adds: bool) -> Option<Sink> {
        let id = operand.tensor();
        let slot = self.slots[id.0]?;
        let width = self.widths[id.0];
        Some(match operand {
            Operand::Whole(_) => Sink { slot, offset: 0, width, stride: width, adds },
            Operand::Columns(view) => Sink { slot, offset: view.offset, width: view.width, stride: view.stride, adds },
        })
    }

    /// Takes a tensor's numbers out for writing; [`Buffers::restore`] puts them back.
    pub(crate) fn take(&mut self, id: TensorId) -> Vec<F> {
        std::mem::take(&mut self.values[id.0])
    }

    pub(crate) fn restore(&mut self, id: TensorId, values: Vec<F>) {
        self.values[id.0] = values;
    }

    /// Takes a `u32` tensor out for writing.
    pub(crate) fn take_integers(&mut self, id: TensorId) -> Vec<u32> {
        std::mem::take(&mut self.integers[id.0])
    }

    pub(crate) fn restore_integers(&mut self, id: TensorId, values: Vec<u32>) {
        self.integers[id.0] = values;
    }

    /// Takes the gradients of an operation's operands out for writing; [`Buffers::restore_gradients`] puts them back.
    pub(crate) fn take_gradients(&mut self, sinks: &[Option<Sink>]) -> [Vec<F>; MAX_OPERANDS] {
        let mut taken: [Vec<F>; MAX_OPERANDS] = std::array::from_fn(|_| Vec::new());
        for (taken, sink) in taken.iter_mut().zip(sinks) {
            if let Some(sink) = sink {
                *taken = std::mem::take(&mut self.gradients[sink.slot]);
            }
        }
        taken
    }

    pub(crate) fn restore_gradients(&mut self, sinks: &[Option<Sink>], taken: [Vec<F>; MAX_OPERANDS]) {
        for (taken, sink) in taken.into_iter().zip(sinks) {
            if let Some(sink) = sink {
                self.gradients[sink.slot] = taken;
            }
        }
    }
}
