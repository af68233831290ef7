//! How several runs share a recording: one dispatch serves all, each on its own copy of what differs between runs.

use crate::kernel::{Access, Dispatch, Region};
use crate::record::{BINDING_ALIGN, RESULT_BYTES, RESULT_SLOTS, Recording, bytes};
use crate::run_axis::with_run_axis;
use palimpsest_plan::{BackendError, Role, TensorId};

impl Recording {
    /// Lets every dispatch serve all runs.
    ///
    /// # Errors
    /// [`BackendError::Kernel`] for a kernel that several runs cannot share.
    pub(crate) fn stack(&mut self) -> Result<(), BackendError> {
        let stacked = |pass: &[Dispatch]| pass.iter().map(|dispatch| self.stacked(dispatch)).collect::<Result<Vec<_>, _>>();
        (self.forward, self.backward, self.update) = (stacked(&self.forward)?, stacked(&self.backward)?, stacked(&self.update)?);
        Ok(())
    }

    fn stacked(&self, dispatch: &Dispatch) -> Result<Dispatch, BackendError> {
        let refuse =
            |why: String| BackendError::Kernel { kernel: dispatch.label.to_owned(), message: format!("runs cannot share it: {why}") };
        for (index, &(region, access)) in dispatch.bindings.iter().enumerate() {
            let writes = |other: Access| access == Access::ReadWrite || other == Access::ReadWrite;
            let packed = self.packed(region);
            let same = |&&(other, access): &&(Region, Access)| packed.is_some() && self.packed(other) == packed && writes(access);
            if let Some((other, _)) = dispatch.bindings[..index].iter().find(same) {
                return Err(refuse(format!("it writes to {other:?} or {region:?}, which overlap over several runs")));
            }
        }
        let strides: Vec<u64> = dispatch.bindings.iter().map(|&(region, _)| self.stride(region)).collect();
        let source = with_run_axis(&dispatch.source, &strides).map_err(refuse)?;
        match dispatch.groups {
            [x, y, 1] => Ok(Dispatch { source, groups: [x, y, self.runs as u32], bindings: dispatch.bindings.clone(), ..*dispatch }),
            groups => Err(refuse(format!("its workgroups are {groups:?}, and the third dimension is the runs'"))),
        }
    }

    /// The buffer that a region is a slice of. One run's slices lie apart; over several runs each spans its neighbours.
    fn packed(&self, region: Region) -> Option<Region> {
        match region {
            Region::Partial { .. } | Region::Partials => Some(Region::Partials),
            Region::Gradient(id) if self.plan.parameter_offset(id).is_some() => Some(Region::Gradients),
            Region::Tensor(id) if self.plan.parameter_offset(id).is_some() => Some(Region::Parameters),
            Region::Gradients | Region::Parameters => Some(region),
            _ => None,
        }
    }

    /// Bytes from one run's numbers to the next run's; 0 where all runs share them.
    pub(crate) fn stride(&self, region: Region) -> u64 {
        let tensor = |id: TensorId| self.plan.tensor(id);
        match region {
            Region::Step => self.slot.bytes,
            Region::Tensor(id) if tensor(id).role == Role::Batch => self.slot.bytes,
            Region::Tensor(id) | Region::Gradient(id) if self.plan.parameter_offset(id).is_some() => self.stride(Region::Parameters),
            Region::Tensor(id) => self.apart(bytes(tensor(id).len())),
            Region::Gradient(id) => self.plan.gradient(id).map_or(0, |gradient| self.apart(bytes(self.plan.gradient_lens()[gradient.0]))),
            Region::Scratch(id) if id.0 >= self.stacked_scratch => 0,
            Region::Scratch(id) => self.apart(bytes(self.scratch[id.0].floats)),
            Region::Partial { .. } | Region::Partials => self.apart(bytes(self.sums.floats())),
            Region::Parameters | Region::Gradients => self.apart(bytes(self.plan.parameter_len())),
            Region::Moments => self.apart(2 * bytes(self.plan.parameter_len())),
            Region::Results => RESULT_BYTES * RESULT_SLOTS as u64,
            Region::Rates | Region::Segments(_) | Region::Arguments => 0,
        }
    }

    /// Bytes that each run takes of a buffer: with several, a run's numbers start where a binding may start.
    fn apart(&self, bytes: u64) -> u64 {
        if self.runs == 1 { bytes } else { bytes.next_multiple_of(BINDING_ALIGN) }
    }

    /// Bytes of a buffer that holds `bytes` for each run.
    pub(crate) fn room(&self, bytes: u64) -> u64 {
        self.apart(bytes).saturating_mul(self.runs as u64)
    }
}
