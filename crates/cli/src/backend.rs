//! Which backend computes, and opening it once for a command.

use clap::ValueEnum;
use palimpsest_golden::{Golden, Report, Tolerance, Verification};
use palimpsest_gpu::{Device, Options};
use palimpsest_plan::{Adapter, BackendError, PlanError, ScanForm, Session};
use palimpsest_spec::Settings;
use palimpsest_train::{Engine, form_run};
use pollster::block_on;

/// Which backend computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// Plain slices, one thread
    Cpu,
    /// A GPU through Vulkan, or what stands in for one; PALIMPSEST_ADAPTER picks it by part of its name
    Gpu,
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

/// Opens the backend's device.
pub(crate) fn open(backend: Backend) -> Result<Engine, BackendError> {
    match backend {
        Backend::Cpu => Ok(Engine::Cpu),
        Backend::Gpu => block_on(Device::open(Options::from_env())).map(Engine::Gpu).map_err(|error| match error {
            BackendError::NoAdapter(why) => BackendError::NoAdapter(format!("{why} (--backend cpu needs none)")),
            error => error,
        }),
    }
}

/// Tokens in a chunk where none are asked for.
pub(crate) fn default_chunk() -> usize {
    Settings::default().chunk()
}

/// Help of `--chunk`.
pub(crate) fn chunk_help(how: &str) -> String {
    format!("Tokens in a chunk, with --form chunked{how} [default: {}]", default_chunk())
}

/// Says on standard error when a backend runs shorter chunks than those asked for.
pub(crate) fn tell_form(engine: &Engine, asked: ScanForm) {
    if let (ScanForm::Chunked(tokens), ScanForm::Chunked(longest)) = (asked, form_run(asked, engine.kind()))
        && longest < tokens
    {
        eprintln!("note: the CPU's longest chunk has {longest} tokens: it takes that instead of {tokens}");
    }
}

/// Runs a golden file in a session of its own, and names what computed.
pub(crate) fn verify(engine: &Engine, golden: &Golden, form: ScanForm, tolerance: Tolerance) -> Result<(Report, Adapter), RunError> {
    let verification = Verification::new(golden, form)?;
    let mut session = block_on(engine.session(verification.plan().clone()))?;
    let report = block_on(verification.check(&mut session, tolerance))?;
    Ok((report, session.adapter().clone()))
}
