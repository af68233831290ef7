//! Which backend computes, and opening it once for a command.

use clap::ValueEnum;
use palimpsest_cpu::CpuSession;
use palimpsest_golden::{Golden, Report, Tolerance, Verification};
use palimpsest_gpu::{Device, GpuSession, Options};
use palimpsest_plan::{Adapter, AdapterKind, BackendError, PlanError, ScanForm, Session};
use palimpsest_train::Engine;
use pollster::block_on;

/// Which backend computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// Plain slices, one thread
    Cpu,
    /// A GPU through Vulkan, or what stands in for one; PALIMPSEST_ADAPTER picks it by part of its name
    Gpu,
}

impl Backend {
    /// As plans name it.
    pub(crate) fn kind(self) -> AdapterKind {
        match self {
            Backend::Cpu => AdapterKind::Cpu,
            Backend::Gpu => AdapterKind::Gpu,
        }
    }
}

/// Why a file could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// The operations do not fit together.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The backend refused them.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// A backend that is ready to make sessions.
pub(crate) enum Opened {
    /// Needs nothing.
    Cpu,
    /// Shared by all sessions, with its compiled kernels.
    Gpu(Device),
}

impl Opened {
    /// Opens the backend's device.
    pub(crate) fn open(backend: Backend) -> Result<Opened, BackendError> {
        match backend {
            Backend::Cpu => Ok(Opened::Cpu),
            Backend::Gpu => Ok(Opened::Gpu(block_on(Device::open(Options::from_env()))?)),
        }
    }

    /// Where the trainer makes its sessions.
    pub(crate) fn engine(&self) -> Engine {
        match self {
            Opened::Cpu => Engine::Cpu,
            Opened::Gpu(device) => Engine::Gpu(device.clone()),
        }
    }

    /// Runs a golden file in a session of its own, and names what computed.
    pub(crate) fn verify(&self, golden: &Golden, form: ScanForm, tolerance: Tolerance) -> Result<(Report, Adapter), RunError> {
        let verification = Verification::new(golden, form)?;
        let plan = verification.plan().clone();
        match self {
            Opened::Cpu => finish(&verification, &mut CpuSession::<f32>::new(plan)?, tolerance),
            Opened::Gpu(device) => finish(&verification, &mut block_on(GpuSession::new(device, plan))?, tolerance),
        }
    }
}

fn finish(verification: &Verification, session: &mut impl Session, tolerance: Tolerance) -> Result<(Report, Adapter), RunError> {
    let report = block_on(verification.check(session, tolerance))?;
    Ok((report, session.adapter().clone()))
}
