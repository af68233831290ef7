//! Which backend computes, and opening it once for a command.

use clap::ValueEnum;
use palimpsest_cpu::CpuSession;
use palimpsest_golden::{Golden, Report, Tolerance, Verification};
use palimpsest_plan::{Adapter, AdapterKind, BackendError, PlanError, ScanForm, Session};
use pollster::block_on;

/// Which backend computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// Plain slices, one thread
    Cpu,
}

impl Backend {
    /// As plans name it.
    pub(crate) fn kind(self) -> AdapterKind {
        match self {
            Backend::Cpu => AdapterKind::Cpu,
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
}

impl Opened {
    /// Opens the backend's device.
    pub(crate) fn open(backend: Backend) -> Result<Opened, BackendError> {
        match backend {
            Backend::Cpu => Ok(Opened::Cpu),
        }
    }

    /// Runs a golden file in a session of its own, and names what computed.
    pub(crate) fn verify(&self, golden: &Golden, form: ScanForm, tolerance: Tolerance) -> Result<(Report, Adapter), RunError> {
        let verification = Verification::new(golden, form)?;
        let plan = verification.plan().clone();
        match self {
            Opened::Cpu => finish(&verification, &mut CpuSession::<f32>::new(plan)?, tolerance),
        }
    }
}

fn finish(verification: &Verification, session: &mut impl Session, tolerance: Tolerance) -> Result<(Report, Adapter), RunError> {
    let report = block_on(verification.check(session, tolerance))?;
    Ok((report, session.adapter().clone()))
}
