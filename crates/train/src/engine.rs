//! Either backend behind one type, so that a program can choose at run time.

use crate::AnyStack;
use palimpsest_cpu::CpuSession;
use palimpsest_gpu::{Device, GpuSession, GpuStack};
use palimpsest_plan::{Adapter, AdapterKind, BackendError, InTurn, Plan, Session, StepInput, StepResult, TensorId, Trace, TraceWindow};
use std::ops::Range;

/// Where sessions are made.
#[derive(Clone)]
pub enum Engine {
    /// An opened GPU.
    Gpu(Device),
    /// Plain slices on this thread.
    Cpu,
}

impl Engine {
    /// Which backend it is.
    pub fn kind(&self) -> AdapterKind {
        match self {
            Engine::Gpu(_) => AdapterKind::Gpu,
            Engine::Cpu => AdapterKind::Cpu,
        }
    }

    /// What computes.
    pub fn adapter(&self) -> Adapter {
        match self {
            Engine::Gpu(device) => device.adapter().clone(),
            Engine::Cpu => palimpsest_cpu::adapter(),
        }
    }

    /// Builds a plan's buffers and kernels.
    pub async fn session(&self, plan: Plan) -> Result<AnySession, BackendError> {
        Ok(match self {
            Engine::Gpu(device) => AnySession::Gpu(Box::new(GpuSession::new(device, plan).await?)),
            Engine::Cpu => AnySession::Cpu(Box::new(CpuSession::new(plan)?)),
        })
    }

    /// Builds a plan's buffers and kernels for so many runs at once, at least 1.
    pub async fn stack(&self, plan: Plan, runs: usize) -> Result<AnyStack, BackendError> {
        Ok(match self {
            Engine::Gpu(device) => AnyStack::Gpu(Box::new(GpuStack::new(device, plan, runs).await?)),
            Engine::Cpu => {
                let sessions = (0..runs).map(|_| CpuSession::new(plan.clone())).collect::<Result<Vec<_>, _>>()?;
                AnyStack::Cpu(Box::new(InTurn::new(sessions)?))
            }
        })
    }
}

/// A session on either backend.
pub enum AnySession {
    /// On wgpu.
    Gpu(Box<GpuSession>),
    /// On slices.
    Cpu(Box<CpuSession>),
}

macro_rules! either {
    ($self:ident, $session:ident => $body:expr) => {
        match $self {
            AnySession::Gpu($session) => $body,
            AnySession::Cpu($session) => $body,
        }
    };
}

impl Session for AnySession {
    fn adapter(&self) -> &Adapter {
        either!(self, session => session.adapter())
    }

    fn set_parameters(&mut self, packed: &[f32]) -> Result<(), BackendError> {
        either!(self, session => session.set_parameters(packed))
    }

    fn write(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        either!(self, session => session.write(tensor, values))
    }

    fn write_gradient(&mut self, tensor: TensorId, values: &[f32]) -> Result<(), BackendError> {
        either!(self, session => session.write_gradient(tensor, values))
    }

    async fn parameters(&mut self) -> Result<Vec<f32>, BackendError> {
        either!(self, session => session.parameters().await)
    }

    fn train(&mut self, steps: &[StepInput]) -> Result<(), BackendError> {
        either!(self, session => session.train(steps))
    }

    async fn results(&mut self) -> Result<Vec<StepResult>, BackendError> {
        either!(self, session => session.results().await)
    }

    fn forward(&mut self, batch: &[(TensorId, Vec<u32>)]) -> Result<(), BackendError> {
        either!(self, session => session.forward(batch))
    }

    fn backward(&mut self) -> Result<(), BackendError> {
        either!(self, session => session.backward())
    }

    async fn read_gradient(&mut self, tensor: TensorId) -> Result<Vec<f32>, BackendError> {
        either!(self, session => session.read_gradient(tensor).await)
    }

    async fn read(&mut self, tensor: TensorId) -> Result<Vec<f32>, BackendError> {
        either!(self, session => session.read(tensor).await)
    }

    async fn read_range(&mut self, tensor: TensorId, range: Range<usize>) -> Result<Vec<f32>, BackendError> {
        either!(self, session => session.read_range(tensor, range).await)
    }

    async fn read_answers(&mut self, tensor: TensorId) -> Result<Vec<u32>, BackendError> {
        either!(self, session => session.read_answers(tensor).await)
    }

    async fn trace(&mut self, window: TraceWindow) -> Result<Trace, BackendError> {
        either!(self, session => session.trace(window).await)
    }
}
