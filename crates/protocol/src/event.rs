//! What the worker reports.

use crate::{Adapter, BenchCase, BenchRow, CheckRow, Rates, RunId, Trace};
use palimpsest_tasks::Role;
use serde::{Deserialize, Serialize};

/// Why the CPU computes although a GPU was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fallback {
    /// The link or the settings say so.
    Asked,
    /// The browser has no WebGPU in workers.
    NoWebGpu,
    /// WebGPU is there but gave no adapter or device; the reason in its words.
    NoAdapter(String),
    /// The device was lost while working; the reason in its words.
    DeviceLost(String),
    /// The model does not fit this adapter's limits or memory; what and how much.
    Limit(String),
}

/// Where the current run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Built, at step 0.
    Ready,
    /// Training.
    Training,
    /// Paused between steps.
    Paused,
    /// All steps done.
    Done,
    /// Stopped for good.
    Failed(Failure),
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The step at which it happened, from 1; 0 before training.
    pub step: u32,
    /// One plain sentence.
    pub message: String,
}

/// What is known of a run once it is built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Learned numbers.
    pub parameters: u64,
    /// Floats of memory per sequence: layers x heads x K x V.
    pub state: u64,
    /// Steps of the whole run.
    pub steps: u32,
    /// Tokens per training step, B x T.
    pub tokens_per_step: u32,
    /// Which layers hold a matrix state (full-attention layers do not).
    pub scan_layers: Vec<u32>,
    /// Heads per layer.
    pub heads: u32,
    /// What computes this run.
    pub adapter: Adapter,
}

/// Training since the last report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Steps done.
    pub step: u32,
    /// (step, mean loss in nats) of the steps since the last report.
    pub losses: Vec<(u32, f32)>,
    /// Over the last seconds.
    pub steps_per_second: f64,
    /// Over the last seconds.
    pub tokens_per_second: f64,
    /// Seconds of training so far, pauses excluded.
    pub seconds: f64,
    /// Seconds left at this rate.
    pub seconds_left: f64,
}

/// Held-out accuracy. The same examples for every rule and seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// After this step.
    pub step: u32,
    /// Seconds of training so far.
    pub seconds: f64,
    /// Mean over sequences of the share of right answers, 0 to 1.
    pub accuracy: f64,
    /// Sequences.
    pub examples: u32,
    /// Labelled positions.
    pub labels: u32,
    /// Sequences with every answer right.
    pub exact: u32,
    /// 95 % Wilson interval of `accuracy` at n = sequences (answers within one sequence share a memory).
    pub interval: (f64, f64),
    /// Mean loss over the held-out labels, nats.
    pub loss: f32,
    /// First evaluated step with accuracy of 99 % or more, with its seconds.
    pub reached_99: Option<(u32, f64)>,
}

/// One labelled position of a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleLabel {
    /// Token index in the sequence.
    pub position: u32,
    /// The right answer.
    pub target: u32,
    /// What the model answers.
    pub answer: u32,
    /// Tokens since the answer was last written.
    pub lag: u32,
}

/// A sample sequence and what the model makes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// After this step.
    pub step: u32,
    /// Index in the held-out stream.
    pub index: u64,
    /// Token ids.
    pub tokens: Vec<u32>,
    /// Each token as text, as `k3`.
    pub texts: Vec<String>,
    /// Each token's role.
    pub roles: Vec<Role>,
    /// Labelled positions; texts of target and answer in `names`.
    pub labels: Vec<SampleLabel>,
    /// (target text, answer text) of each label.
    pub names: Vec<(String, String)>,
}

/// Whether a strip has one number per token or one per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StripShape {
    /// `[T]`.
    Scalar,
    /// `[T, width]`.
    Channels(u32),
}

/// One quantity along the tokens of the sample, for the shown layer and head: a gate, the decay, the read similarity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strip {
    /// Name with its symbol, as `erase gate b`.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// Scalar or channels.
    pub shape: StripShape,
    /// The numbers, token-major.
    pub values: Vec<f32>,
}

/// A report from the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The worker runs and has chosen a device. Sent once at start, and again if the device is lost.
    Device {
        /// What computes from now on.
        adapter: Adapter,
        /// Why it is the CPU, if it is.
        fallback: Option<Fallback>,
    },
    /// A run was built.
    Opened {
        /// Which.
        run: RunId,
        /// Sizes.
        facts: RunFacts,
    },
    /// The current run changed phase.
    Phase {
        /// Which run.
        run: RunId,
        /// Where it stands.
        phase: Phase,
        /// Steps done.
        step: u32,
    },
    /// Losses and speed.
    Progress {
        /// Which run.
        run: RunId,
        /// Numbers.
        progress: Progress,
    },
    /// Held-out accuracy.
    Evaluated {
        /// Which run.
        run: RunId,
        /// Numbers.
        evaluation: Evaluation,
    },
    /// The sample with the model's answers.
    Sampled {
        /// Which run.
        run: RunId,
        /// The sample.
        sample: Sample,
    },
    /// The memory over the sample.
    Traced {
        /// Which run.
        run: RunId,
        /// After this step.
        step: u32,
        /// Layer, from 0.
        layer: u32,
        /// Head, from 0.
        head: u32,
        /// States and reads.
        trace: Trace,
        /// Gates and decay on the same tokens.
        strips: Vec<Strip>,
    },
    /// One row of the self-check.
    Checked(CheckRow),
    /// The self-check ended: passed, failed.
    CheckDone {
        /// Rows within tolerance.
        passed: u32,
        /// Rows outside.
        failed: u32,
        /// Why the rest could not be checked.
        cut: Option<String>,
    },
    /// The benchmark begins: what it measures on, and what that can do at most.
    BenchBegun {
        /// What computes.
        adapter: Adapter,
        /// Measured a moment ago.
        rates: Rates,
        /// Revision of this build; empty when it was not built from a repository.
        revision: String,
        /// Rows to come.
        rows: u32,
    },
    /// One row of the benchmark.
    Benched(BenchRow),
    /// A case that could not be measured here, and why.
    BenchSkipped {
        /// Which.
        case: BenchCase,
        /// One sentence.
        reason: String,
    },
    /// The benchmark ended; why the rest was not measured, if it was not.
    BenchDone {
        /// One sentence.
        cut: Option<String>,
    },
    /// A command that could not be carried out, in one sentence. Training is not affected.
    Refused(String),
}
