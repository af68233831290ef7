//! Recording a plan: which dispatches its passes need, and how large every buffer is. Pure data, checked before anything is allocated.

use crate::kernel::{Dispatch, Limits, Output, Recorder, Region, STEP_WORDS, ScratchId};
use crate::sums::Sums;
use crate::unroll::unroll_all;
use crate::{ops, optimizer};
use palimpsest_plan::{BackendError, PARAMETER_ALIGN, Plan, Role, TensorId};
use std::collections::HashMap;

/// Results that may wait to be read; a ring on the GPU.
pub(crate) const RESULT_SLOTS: usize = 4096;
/// Bytes of a result: loss and gradient norm.
pub(crate) const RESULT_BYTES: u64 = 8;
/// Alignment of a binding's first byte that every adapter accepts.
pub(crate) const BINDING_ALIGN: u64 = 256;
/// Words of [`Region::Arguments`].
pub(crate) const ARGUMENT_WORDS: usize = 4;

/// Bytes of a buffer of so many 4-byte numbers, rounded up to whole `vec4`s; never zero.
pub(crate) fn bytes(len: usize) -> u64 {
    (len.max(1) as u64 * 4).next_multiple_of(16)
}

/// Where the tensors of a step's data lie in its slot of the upload buffer: the batch, then [`Region::Step`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot {
    /// First byte of each batch tensor.
    pub(crate) batch: Vec<(TensorId, u64)>,
    /// First byte of the step's numbers.
    pub(crate) step: u64,
    /// Bytes of a slot.
    pub(crate) bytes: u64,
}

impl Slot {
    fn new(plan: &Plan) -> Slot {
        let mut slot = Slot::default();
        for (index, tensor) in plan.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::Batch) {
            slot.batch.push((TensorId(index), slot.step));
            slot.step += bytes(tensor.len()).next_multiple_of(BINDING_ALIGN);
        }
        slot.bytes = slot.step + bytes(STEP_WORDS).next_multiple_of(BINDING_ALIGN);
        slot
    }
}

/// A buffer that only kernels see.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    pub(crate) label: String,
    pub(crate) floats: usize,
}

/// A plan and the dispatches of its passes.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) plan: Plan,
    pub(crate) slot: Slot,
    pub(crate) scratch: Vec<Scratch>,
    pub(crate) forward: Vec<Dispatch>,
    pub(crate) backward: Vec<Dispatch>,
    pub(crate) update: Vec<Dispatch>,
    pub(crate) sums: Sums,
    /// Runs that share the dispatches.
    pub(crate) runs: usize,
    /// How many of [`Recording::scratch`] each run has for itself; what is recorded later serves one run at a time.
    pub(crate) stacked_scratch: usize,
    limits: Limits,
    recorded: Vec<Dispatch>,
    shared: HashMap<&'static str, ScratchId>,
    saved: HashMap<(TensorId, &'static str), ScratchId>,
}

impl Recording {
    /// Records forward, backward and update of a plan, for so many runs at once.
    ///
    /// # Errors
    /// [`BackendError::Limit`] for the first buffer, binding or dispatch beyond the limits; [`BackendError::Kernel`] for a kernel that
    /// several runs cannot share.
    pub(crate) fn new(plan: Plan, runs: usize, limits: Limits) -> Result<Recording, BackendError> {
        let mut recording = Recording {
            slot: Slot::new(&plan),
            limits,
            scratch: Vec::new(),
            forward: Vec::new(),
            backward: Vec::new(),
            update: Vec::new(),
            sums: Sums::new(&plan),
            runs: runs.max(1),
            stacked_scratch: usize::MAX,
            recorded: Vec::new(),
            shared: HashMap::new(),
            saved: HashMap::new(),
            plan,
        };
        let operations = recording.plan.forward.clone();
        let gradients = recording.plan.backward.clone();
        operations.iter().for_each(|op| ops::forward(op, &mut recording));
        recording.forward = std::mem::take(&mut recording.recorded);
        gradients.iter().for_each(|gradient| ops::backward(&operations[gradient.op], &gradient.adds, &mut recording));
        recording.flush_sums();
        recording.backward = std::mem::take(&mut recording.recorded);
        if recording.trains() {
            optimizer::update(&mut recording);
            recording.update = std::mem::take(&mut recording.recorded);
        }
        recording.stacked_scratch = recording.scratch.len();
        if recording.runs > 1 {
            recording.stack()?;
        }
        recording.check()?;
        Ok(recording)
    }

    /// Whether there is a backward pass and something to learn.
    pub(crate) fn trains(&self) -> bool {
        !self.plan.backward.is_empty() && self.plan.parameter_len() > 0
    }

    /// Records something more, for later: new dispatches, with their new scratch buffers at the end of [`Recording::scratch`].
    pub(crate) fn extend(&mut self, record: impl FnOnce(&mut Recording)) -> Result<Vec<Dispatch>, BackendError> {
        record(self);
        let recorded = std::mem::take(&mut self.recorded);
        self.check()?;
        recorded.iter().try_for_each(|dispatch| self.check_dispatch(dispatch))?;
        Ok(recorded)
    }

    fn check(&self) -> Result<(), BackendError> {
        for tensor in &self.plan.tensors {
            self.check_bytes(&tensor.name, bytes(tensor.len()))?;
        }
        for (index, &len) in self.plan.gradient_lens().iter().enumerate() {
            self.check_bytes(&format!("gradient {index}"), bytes(len))?;
        }
        self.check_bytes("parameters", bytes(self.plan.parameter_len()))?;
        if self.trains() {
            self.check_bytes("moments", 2 * bytes(self.plan.parameter_len()))?;
        }
        self.check_bytes("partial sums", bytes(self.sums.floats()))?;
        self.check_bytes("one step's batch", self.slot.bytes)?;
        let (stacked, later) = self.scratch.split_at(self.stacked_scratch.min(self.scratch.len()));
        stacked.iter().try_for_each(|scratch| self.check_bytes(&scratch.label, bytes(scratch.floats)))?;
        later.iter().try_for_each(|scratch| self.check_total(format!("buffer '{}' (bytes)", scratch.label), bytes(scratch.floats)))?;
        self.forward.iter().chain(&self.backward).chain(&self.update).try_for_each(|dispatch| self.check_dispatch(dispatch))
    }

    fn check_bytes(&self, name: &str, of_a_run: u64) -> Result<(), BackendError> {
        let runs = if self.runs == 1 { String::new() } else { format!(" of {} runs", self.runs) };
        self.check_total(format!("buffer '{name}'{runs} (bytes)"), self.room(of_a_run))
    }

    fn check_total(&self, what: String, needed: u64) -> Result<(), BackendError> {
        let limit = self.limits.binding_bytes.min(self.limits.buffer_bytes);
        if needed <= limit { Ok(()) } else { Err(BackendError::Limit { what, needed, limit }) }
    }

    fn check_dispatch(&self, dispatch: &Dispatch) -> Result<(), BackendError> {
        let over = |what: &str, needed: u32, limit: u32| {
            let what = format!("kernel {} ({what})", dispatch.label);
            if needed <= limit { Ok(()) } else { Err(BackendError::Limit { what, needed: needed.into(), limit: limit.into() }) }
        };
        over("storage buffers", dispatch.bindings.len() as u32, self.limits.storage_buffers)?;
        dispatch.groups.iter().try_for_each(|&groups| over("workgroups in one dimension", groups, self.limits.groups))
    }

    /// Records the sums that wait.
    fn flush_sums(&mut self) {
        let launch = self.sums.flush(&self.limits);
        self.recorded.extend(launch);
    }

    fn add_scratch(&mut self, label: String, floats: usize) -> ScratchId {
        self.scratch.push(Scratch { label, floats });
        ScratchId(self.scratch.len() - 1)
    }

    /// Whether there is a gradient to bind.
    pub(crate) fn has_gradient(&self, tensor: TensorId) -> bool {
        self.plan.gradient(tensor).is_some() || self.plan.parameter_offset(tensor).is_some()
    }
}

impl Recorder for Recording {
    fn scratch(&mut self, label: &'static str, floats: usize) -> ScratchId {
        if let Some(&id) = self.shared.get(label) {
            self.scratch[id.0].floats = self.scratch[id.0].floats.max(floats);
            return id;
        }
        let id = self.add_scratch(label.to_owned(), floats);
        self.shared.insert(label, id);
        id
    }

    fn saved(&mut self, tensor: TensorId, label: &'static str, floats: usize) -> ScratchId {
        if let Some(&id) = self.saved.get(&(tensor, label)) {
            return id;
        }
        let id = self.add_scratch(format!("{}.{label}", self.plan.tensor(tensor).name), floats);
        self.saved.insert((tensor, label), id);
        id
    }

    fn partial(&mut self, floats: usize) -> Region {
        if self.sums.is_full(floats) {
            self.flush_sums();
        }
        match self.sums.place(floats) {
            Some(first) => Region::Partial { first, floats },
            None => Region::Scratch(self.scratch("partial sums", floats)),
        }
    }

    fn sum_later(&mut self, partial: Region, rows: usize, stride: usize, outputs: &[Output]) -> bool {
        self.sums.later(&self.plan, partial, rows, stride, outputs)
    }

    fn dispatch(&mut self, mut dispatch: Dispatch) {
        if !self.limits.software {
            dispatch.source = unroll_all(&dispatch.source);
        }
        debug_assert!(dispatch.bindings.iter().all(|(region, _)| match region {
            Region::Gradient(tensor) => self.has_gradient(*tensor),
            Region::Scratch(id) => id.0 < self.scratch.len(),
            Region::Partial { first, floats } => first + floats <= self.sums.floats(),
            _ => true,
        }));
        self.recorded.push(dispatch);
    }

    fn runs(&self) -> usize {
        self.runs
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// `[learning rate scale, weight decay]` of every [`PARAMETER_ALIGN`] parameters, packed.
pub(crate) fn rates(plan: &Plan) -> Vec<f32> {
    let mut rates = vec![0.0; 2 * (plan.parameter_len() / PARAMETER_ALIGN)];
    for (id, tensor, learn) in plan.parameters() {
        let Some(offset) = plan.parameter_offset(id) else { continue };
        let first = offset / PARAMETER_ALIGN;
        let decay = if learn.weight_decay { plan.optimizer.weight_decay } else { 0.0 };
        for block in first..first + tensor.len().div_ceil(PARAMETER_ALIGN) {
            rates[2 * block..2 * block + 2].copy_from_slice(&[learn.rate, decay]);
        }
    }
    rates
}
