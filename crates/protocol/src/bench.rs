//! Messages of the benchmark. Numbers are ready to show.

use serde::{Deserialize, Serialize};

/// What one pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// The forward operations of a plan that only answers.
    Forward,
    /// Forward and backward operations.
    ForwardBackward,
    /// A whole training step: forward, backward, update.
    Step,
}

/// What was timed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BenchCase {
    /// Rule slug.
    pub rule: String,
    /// `recurrent` or `chunked`.
    pub form: String,
    /// Tokens per chunk as the backend takes them; a GPU takes fewer of a short chunk where its workgroup memory is small. None when recurrent.
    pub chunk: Option<u32>,
    /// Forward, or with the gradient.
    pub pass: Pass,
    /// B.
    pub batch: u32,
    /// T.
    pub time: u32,
    /// H.
    pub heads: u32,
    /// K.
    pub key: u32,
    /// V.
    pub value: u32,
}

/// Times of one pass, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Half of the samples took longer.
    pub median: f64,
    /// Fastest sample.
    pub min: f64,
    /// Slowest sample.
    pub max: f64,
}

/// What the device did at most, measured in the same run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Bytes per second of a copy, reads and writes counted.
    pub copy_bytes_per_second: f64,
    /// Products and sums of floats per second, in registers.
    pub fma_flops_per_second: f64,
    /// Whether GPU timestamps told the time; else the wall clock did.
    pub timestamps: bool,
}

/// One row of the benchmark.
///
/// Bytes are those that must move once: each operation reads its operands and writes its results (and gradients likewise).
/// Floating-point operations are those that the equations need once; what a form computes again is not counted, so that forms
/// can be compared by their shares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    /// What was timed.
    pub case: BenchCase,
    /// GPU time of a pass between timestamps; absent where the device has none.
    pub gpu: Option<Timing>,
    /// Time of a pass on the wall clock, waiting included.
    pub wall: Timing,
    /// Samples.
    pub samples: u32,
    /// Passes of one sample.
    pub repeats: u32,
    /// Kernel launches of a pass; 0 on the CPU.
    pub dispatches: u32,
    /// Floats of memory per sequence.
    pub state: u64,
    /// Bytes of a pass.
    pub bytes: u64,
    /// Floating-point operations of a pass.
    pub flops: u64,
    /// Of the GPU's median, else of the wall clock's; B x T tokens.
    pub nanoseconds_per_token: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Floating-point operations per second.
    pub flops_per_second: f64,
    /// Share of [`Rates::copy_bytes_per_second`]. Above 1 when caches hold what is counted as moved.
    pub copy_share: f64,
    /// Share of [`Rates::fma_flops_per_second`].
    pub fma_share: f64,
}

impl BenchRow {
    /// The GPU's time, else the wall clock's.
    pub fn best(&self) -> Timing {
        self.gpu.unwrap_or(self.wall)
    }

    /// Share of the ceiling: of whichever of the two rates is the nearer limit.
    pub fn ceiling_share(&self) -> f64 {
        self.copy_share.max(self.fma_share)
    }
}
