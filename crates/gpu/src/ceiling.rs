//! What the adapter can do at most: two kernels that do nothing but copy, or nothing but multiply and add.

use crate::device::Device;
use crate::kernel::{Access, Dispatch, Header, Limits, Recorder, Region, WORKGROUP, fold};
use crate::launch::Launch;
use crate::ops::text;
use crate::session::GpuSession;
use palimpsest_plan::{BackendError, PlanBuilder, PlanError};

const COPY: &str = include_str!("../../../shaders/kernels/copy_rate.wgsl");
const FMA: &str = include_str!("../../../shaders/kernels/fma_rate.wgsl");

/// Bytes of each of the two buffers of a copy: more than the caches of a large GPU (50 MB) hold.
const COPY_BYTES: usize = 256 << 20;
/// The same on a processor that plays a GPU.
const COPY_BYTES_SOFTWARE: usize = 32 << 20;
/// vec4s that an invocation copies.
const EACH: usize = 4;
/// Invocations of the other kernel: several times what the largest GPU runs at once.
const INVOCATIONS: usize = 1 << 20;
/// The same on a processor that plays a GPU.
const INVOCATIONS_SOFTWARE: usize = 1 << 13;
/// Independent vec4s of an invocation; turns of its loop; products and sums of each vec4 in a turn.
const CHAINS: usize = 8;
const TURNS: usize = 32;
const REPEATS: usize = 8;

/// Why a ceiling could not be measured.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CeilingError {
    /// Its buffers could not be named.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The adapter could not run it.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// A kernel whose speed is a limit for all others.
#[derive(Debug)]
pub struct Ceiling {
    session: GpuSession,
    launches: Vec<Launch>,
    /// What one run does: bytes read and written, or floating-point operations.
    pub amount: f64,
}

impl Ceiling {
    /// Copies a buffer to another.
    ///
    /// # Errors
    /// When the adapter cannot run it.
    pub async fn copy(device: &Device) -> Result<Ceiling, CeilingError> {
        let limits = &device.limits;
        let wanted = if limits.software { COPY_BYTES_SOFTWARE } else { COPY_BYTES };
        let bytes = wanted.min(limits.binding_bytes.min(limits.buffer_bytes) as usize) / 16 * 16;
        let count = bytes / 16;
        let header = Header::new().size("COUNT", count).size("EACH", EACH);
        let groups = count.div_ceil(EACH * WORKGROUP as usize);
        Ceiling::new(device, "copy.rate", header, COPY, [bytes / 4; 2], groups, 2.0 * bytes as f64).await
    }

    /// Multiplies and adds in registers.
    ///
    /// # Errors
    /// When the adapter cannot run it.
    pub async fn fma(device: &Device) -> Result<Ceiling, CeilingError> {
        let invocations = if device.limits.software { INVOCATIONS_SOFTWARE } else { INVOCATIONS };
        let header = Header::new().size("CHAINS", CHAINS).size("TURNS", TURNS).size("REPEATS", REPEATS);
        let groups = invocations / WORKGROUP as usize;
        // a product and a sum of four numbers each
        let amount = (invocations * CHAINS * TURNS * REPEATS * 4 * 2) as f64;
        Ceiling::new(device, "fma.rate", header, FMA, [8, 4 * invocations], groups, amount).await
    }

    async fn new(
        device: &Device,
        label: &'static str,
        header: Header,
        kernel: &str,
        floats: [usize; 2],
        groups: usize,
        amount: f64,
    ) -> Result<Ceiling, CeilingError> {
        let mut builder = PlanBuilder::new();
        let [input, output] = [("read", floats[0]), ("written", floats[1])].map(|(name, len)| builder.activation(name, &[len]));
        let mut session = GpuSession::new(device, builder.finish_forward()?).await?;
        let dispatch = |limits: &Limits| Dispatch {
            label,
            source: header.size("WORKGROUP", WORKGROUP).source(&[text::INDEX, kernel]),
            bindings: vec![(Region::Tensor(input), Access::Read), (Region::Tensor(output), Access::ReadWrite)],
            groups: fold(groups, limits),
        };
        let dispatches = session.recording.extend(|recording| {
            let dispatch = dispatch(recording.limits());
            recording.dispatch(dispatch);
        })?;
        let launches = session.prepare(0, &dispatches).await?;
        Ok(Ceiling { session, launches, amount })
    }

    /// Runs it so many times in a row and waits; seconds of GPU time of all of it, `None` when the adapter has no timestamps.
    ///
    /// # Errors
    /// [`BackendError::DeviceLost`], or what else the adapter says.
    pub async fn time(&mut self, repeats: u32) -> Result<Option<f64>, BackendError> {
        self.session.time_launches(&self.launches, repeats).await
    }
}
