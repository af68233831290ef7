//! Main memory for a plan: how much it takes, and getting it or saying that there is not enough.

use crate::scan::checkpoint_len;
use palimpsest_plan::{BackendError, Op, Plan, Role, Tensor};

/// Most bytes of a plan where that is known beforehand: WebAssembly addresses 4 GiB, half of it for one plan, as a browser may
/// refuse the rest and what has been freed lies in pieces.
const MOST: Option<u64> = if cfg!(target_arch = "wasm32") { Some(2 << 30) } else { None };

/// The memory of one plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Bytes of all its buffers.
    needed: u64,
}

impl Memory {
    /// The memory that a plan needs in numbers of type `F`.
    ///
    /// # Errors
    /// [`BackendError::Memory`] when it is more than can be had here.
    pub(crate) fn of<F>(plan: &Plan) -> Result<Memory, BackendError> {
        Memory::within::<F>(plan, MOST)
    }

    fn within<F>(plan: &Plan, most: Option<u64>) -> Result<Memory, BackendError> {
        let needed = bytes::<F>(plan);
        match most {
            Some(limit) if needed > limit => Err(BackendError::Memory { needed, limit: most }),
            _ => Ok(Memory { needed }),
        }
    }

    /// `len` times `value`.
    ///
    /// # Errors
    /// [`BackendError::Memory`] when the system gives no more.
    pub(crate) fn filled<T: Clone>(self, len: usize, value: T) -> Result<Vec<T>, BackendError> {
        let mut numbers = Vec::new();
        numbers.try_reserve_exact(len).map_err(|_| BackendError::Memory { needed: self.needed, limit: None })?;
        numbers.resize(len, value);
        Ok(numbers)
    }
}

/// Bytes of every tensor, of gradients and checkpoints where the plan trains, and of both moments of every parameter.
pub fn bytes<F>(plan: &Plan) -> u64 {
    let trains = !plan.backward.is_empty();
    let of = |tensor: &Tensor| match tensor.role {
        Role::Batch | Role::Answer => size_of::<u32>() as u64,
        Role::Parameter(_) if trains => 4 * size_of::<F>() as u64,
        Role::Parameter(_) => 3 * size_of::<F>() as u64,
        Role::Constant(_) | Role::Activation => size_of::<F>() as u64,
    };
    let tensors: u64 = plan.tensors.iter().map(|tensor| of(tensor) * tensor.len() as u64).sum();
    let gradients: u64 = plan.gradient_lens().iter().map(|&len| len as u64).sum();
    let checkpoint = |op: &Op| if let Op::Scan(op) = op { checkpoint_len(op) as u64 } else { 0 };
    let checkpoints: u64 = if trains { plan.forward.iter().map(checkpoint).sum() } else { 0 };
    tensors + (gradients + checkpoints) * size_of::<F>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use palimpsest_plan::{Init, PlanBuilder};

    /// 10 learned numbers and 6 activations, forward only.
    fn plan() -> Plan {
        let mut builder = PlanBuilder::new();
        builder.parameter("weight", &[2, 5], Init::Constant(0.0));
        builder.activation("x", &[6]);
        builder.tensor("tokens", &[3], Role::Batch);
        builder.finish_forward().unwrap()
    }

    #[test]
    fn all_buffers_count() {
        assert_eq!(bytes::<f32>(&plan()), 4 * (3 * 10 + 6 + 3));
        assert_eq!(bytes::<f64>(&plan()), 8 * (3 * 10 + 6) + 4 * 3);
    }

    #[test]
    fn too_much_is_refused_in_one_line() {
        assert!(Memory::within::<f32>(&plan(), Some(156)).is_ok());
        let error = Memory::within::<f32>(&plan(), Some(155)).unwrap_err();
        assert_eq!(error.to_string(), "the model needs 156 bytes of memory, where 155 are the most: lower batch, length or width");
        let error = Memory { needed: 7 }.filled(usize::MAX / 8, 0.0f32).unwrap_err();
        assert_eq!(error.to_string(), "the model needs 7 bytes of memory, more than there is: lower batch, length or width");
    }
}
