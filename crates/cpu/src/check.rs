//! Whether a plan's tensors fit its operations, so that no slice is too short later.

use crate::buffers::MAX_OPERANDS;
use palimpsest_plan::{BackendError, Op, Operand, Plan, Role, ScanShape, TensorId, View};
use palimpsest_rules::Scope;
use std::collections::HashSet;

/// What the `u32` tensors of a plan may hold: each must be below its bound.
pub(crate) type Bounds = Vec<Option<u32>>;

struct Check<'a> {
    plan: &'a Plan,
    bounds: Bounds,
    index: usize,
    op: &'a Op,
}

/// Checks every operation and finds the bounds of token, row and target indices.
pub(crate) fn check(plan: &Plan) -> Result<Bounds, BackendError> {
    let mut bounds = vec![None; plan.tensors.len()];
    if let Some(tensor) = plan.tensors.iter().find(|tensor| tensor.is_empty()) {
        return Err(BackendError::Input(format!("tensor '{}' has no element: every size must be at least 1", tensor.name)));
    }
    for (index, op) in plan.forward.iter().enumerate() {
        let mut check = Check { plan, bounds, index, op };
        check.sizes()?;
        check.aliases()?;
        bounds = check.bounds;
    }
    for step in &plan.backward {
        let op = &plan.forward[step.op];
        if matches!(op, Op::Scan(_)) && step.adds.first() == Some(&true) {
            return Err(BackendError::Input(format!(
                "operation {} (scan) shares its steps with another operation; give each its own",
                step.op
            )));
        }
    }
    Ok(bounds)
}

impl Check<'_> {
    fn fail<T>(&self, what: &str) -> Result<T, BackendError> {
        Err(BackendError::Input(format!("operation {} ({}) {what}", self.index, self.op.name())))
    }

    /// The tensor must have this many elements, and be `u32` or not.
    fn len(&self, id: TensorId, len: usize, integers: bool) -> Result<(), BackendError> {
        let tensor = self.plan.tensor(id);
        if integers != matches!(tensor.role, Role::Batch | Role::Answer) {
            return self.fail(&format!("needs '{}' to hold {}", tensor.name, if integers { "u32" } else { "f32" }));
        }
        if tensor.len() != len {
            return self.fail(&format!("needs {len} elements in '{}', which has {}", tensor.name, tensor.len()));
        }
        Ok(())
    }

    fn floats(&self, id: TensorId, len: usize) -> Result<(), BackendError> {
        self.len(id, len, false)
    }

    /// A `u32` tensor whose elements index something of size `below`.
    fn indices(&mut self, id: TensorId, len: usize, below: usize) -> Result<(), BackendError> {
        self.len(id, len, true)?;
        let below = u32::try_from(below).unwrap_or(u32::MAX);
        let bound = self.bounds[id.0].get_or_insert(below);
        *bound = below.min(*bound);
        Ok(())
    }

    /// Row length: the last size.
    fn row(&self, id: TensorId) -> usize {
        self.plan.tensor(id).shape.last().copied().unwrap_or(1)
    }

    fn rows(&self, id: TensorId) -> usize {
        self.plan.tensor(id).len() / self.row(id)
    }

    /// A view of `width` columns; gives its number of rows.
    fn view(&self, view: View, width: usize) -> Result<usize, BackendError> {
        self.floats(view.tensor, self.rows(view.tensor) * view.stride)?;
        if view.width != width || view.offset + view.width > view.stride {
            let name = &self.plan.tensor(view.tensor).name;
            return self.fail(&format!("needs {width} columns of '{name}', its view has {} from {}", view.width, view.offset));
        }
        Ok(self.rows(view.tensor))
    }

    /// Packed rule inputs `[N, H, stride]` with room for the slots.
    fn packed(&self, y: TensorId, n: usize, heads: usize, slots: impl Iterator<Item = (usize, usize)>) -> Result<(), BackendError> {
        let stride = self.row(y);
        self.floats(y, n * heads * stride)?;
        match slots.into_iter().find(|(slot, width)| *width == 0 || slot + width > stride) {
            Some((slot, width)) => {
                self.fail(&format!("writes {width} columns at {slot} of '{}', whose rows have {stride}", self.plan.tensor(y).name))
            }
            None => Ok(()),
        }
    }

    fn divides(&self, what: &str, part: usize, whole: usize) -> Result<(), BackendError> {
        if part == 0 || !whole.is_multiple_of(part) { self.fail(&format!("needs {what} {part} to divide {whole}")) } else { Ok(()) }
    }

    fn scan_shape(&self, shape: ScanShape) -> Result<usize, BackendError> {
        let fits = |size: usize| (4..=128).contains(&size) && size.is_multiple_of(4);
        if !fits(shape.key) || !fits(shape.value) {
            return self.fail(&format!("needs K and V to be multiples of 4 from 4 to 128, not K {} and V {}", shape.key, shape.value));
        }
        Ok(shape.batch * shape.time * shape.heads)
    }

    fn sizes(&mut self) -> Result<(), BackendError> {
        match self.op {
            Op::Embed(op) => {
                let (n, d) = (self.plan.tensor(op.tokens).len(), self.row(op.table));
                self.floats(op.table, self.rows(op.table) * d)?;
                self.floats(op.y, n * d)?;
                self.indices(op.tokens, n, self.rows(op.table))
            }
            Op::RmsNorm(op) => {
                self.floats(op.weight, self.row(op.x))?;
                self.floats(op.x, self.plan.tensor(op.x).len())?;
                self.floats(op.y, self.plan.tensor(op.x).len())
            }
            Op::Linear(op) => {
                let (n, out) = (self.view(op.x, op.x.width)?, self.row(op.y));
                self.divides("its blocks", op.blocks, op.x.width)?;
                self.divides("its blocks", op.blocks, out)?;
                self.floats(op.weight, out * op.x.width / op.blocks)?;
                op.bias.map_or(Ok(()), |bias| self.floats(bias, out))?;
                op.residual.map_or(Ok(()), |residual| self.floats(residual, n * out))?;
                self.floats(op.y, n * out)
            }
            Op::ShortConv(op) => {
                let columns = op.heads * op.parts.iter().map(|part| part.width).sum::<usize>();
                let n = self.view(op.x, columns)?;
                self.divides("T", op.time, n)?;
                op.taps.map_or(Ok(()), |taps| self.floats(taps, columns * self.row(taps)))?;
                self.packed(op.y, n, op.heads, op.parts.iter().map(|part| (part.slot, part.width)))
            }
            Op::Gates(op) => {
                let columns = op.heads * op.parts.iter().map(|part| part.width).sum::<usize>();
                let n = self.view(op.x, columns)?;
                self.floats(op.bias, columns)?;
                self.packed(op.y, n, op.heads, op.parts.iter().map(|part| (part.slot, part.width)))
            }
            Op::Decay(op) => {
                let n = self.view(op.x, op.heads * op.width)?;
                self.floats(op.log_rate, op.heads)?;
                self.floats(op.bias, op.heads * op.width)?;
                self.packed(op.y, n, op.heads, [(op.slot, op.width)].into_iter())
            }
            Op::Unit(op) => {
                let n = self.view(op.x, op.heads * op.width)?;
                self.packed(op.y, n, op.heads, [(op.slot, op.width)].into_iter())
            }
            Op::RuleMap(op) => {
                let rows = self.scan_shape(op.shape)?;
                let (key, value) = (op.shape.key, op.shape.value);
                self.floats(op.inputs, rows * op.rule.input_layout(key, value).stride)?;
                self.floats(op.steps, rows * op.rule.step_layout(key, value).stride)?;
                let heads: Vec<_> = op.rule.inputs().iter().filter(|input| input.scope == Scope::Head).collect();
                if heads.len() != op.heads.len() || heads.len() >= MAX_OPERANDS {
                    let (needed, given) = (heads.len(), op.heads.len());
                    return self
                        .fail(&format!("needs {needed} tensors for the inputs per head (at most {}), not {given}", MAX_OPERANDS - 1));
                }
                heads.iter().zip(&op.heads).try_for_each(|(input, &id)| self.floats(id, op.shape.heads * input.kind.width(key, value)))
            }
            Op::Scan(op) => {
                let rows = self.scan_shape(op.shape)?;
                let states = op.shape.batch * op.shape.heads * op.shape.key * op.shape.value;
                self.floats(op.steps, rows * op.layout.stride)?;
                self.floats(op.o, rows * op.shape.value)?;
                [op.initial, op.last].into_iter().flatten().try_for_each(|id| self.floats(id, states))
            }
            Op::Attention(op) => {
                let rows = op.shape.batch * op.shape.time * op.shape.heads;
                self.floats(op.x, rows * (2 * op.shape.key + op.shape.value))?;
                self.floats(op.o, rows * op.shape.value)
            }
            Op::GatedNorm(op) => {
                let columns = op.heads * self.plan.tensor(op.weight).len();
                let len = self.plan.tensor(op.o).len();
                self.divides("heads times V", columns, len)?;
                if let Some(gate) = op.gate {
                    let n = self.view(gate, columns)?;
                    self.floats(op.o, n * columns)?;
                }
                self.floats(op.o, len)?;
                self.floats(op.y, len)
            }
            Op::SwiGlu(op) => {
                let (n, m) = (self.rows(op.y), self.row(op.y));
                self.floats(op.y, n * m)?;
                self.floats(op.x, n * 2 * m)
            }
            Op::Gather(op) => {
                let (count, d) = (self.plan.tensor(op.rows).len(), self.row(op.x));
                self.floats(op.x, self.rows(op.x) * d)?;
                self.floats(op.y, count * d)?;
                self.indices(op.rows, count, self.rows(op.x))
            }
            Op::CrossEntropy(op) => {
                let (count, vocab) = (self.rows(op.logits), self.row(op.logits));
                self.floats(op.logits, count * vocab)?;
                self.floats(op.loss, 1)?;
                self.len(op.answers, count, true)?;
                self.indices(op.targets, count, vocab)
            }
        }
    }

    /// An operation must not write what it reads: neither values nor gradients.
    fn aliases(&self) -> Result<(), BackendError> {
        let mut written: HashSet<TensorId> = HashSet::new();
        let mut gradients: HashSet<_> = HashSet::new();
        let outputs = self.op.outputs();
        gradients.extend(outputs.iter().filter_map(|&id| self.plan.gradient(id)));
        written.extend(outputs);
        for tensor in self.op.operands().into_iter().map(Operand::tensor) {
            let gradient = self.plan.gradient(tensor);
            if !written.insert(tensor) || gradient.is_some_and(|gradient| !gradients.insert(gradient)) {
                return self.fail(&format!("uses '{}' or its gradient in two places", self.plan.tensor(tensor).name));
            }
        }
        Ok(())
    }
}
