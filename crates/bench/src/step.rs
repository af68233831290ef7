//! One training step of a model.

use crate::count::{backward, forward, update};
use crate::sampling::{Effort, measure};
use crate::scan::{case, row};
use crate::{BenchError, KernelTime, by_kernel};
use palimpsest_plan::{Adapter, ScanShape, Session, StepInput};
use palimpsest_protocol::{BenchRow, Pass, Rates};
use palimpsest_spec::Settings;
use palimpsest_train::{AnySession, Engine, Trainer};

/// Most steps that are queued at once, as in training.
const BURST: u32 = 64;

/// A model whose training step is timed.
pub struct StepBench {
    trainer: Trainer<AnySession>,
    inputs: Vec<StepInput>,
}

impl StepBench {
    /// Builds the model of some settings, and the data of its first steps: making examples is not part of the time.
    ///
    /// # Errors
    /// When the model does not fit the device.
    pub async fn open(engine: &Engine, settings: &Settings) -> Result<StepBench, BenchError> {
        let trainer = Trainer::open(engine, settings).await?;
        let inputs = trainer.upcoming(BURST);
        Ok(StepBench { trainer, inputs })
    }

    /// What computes.
    pub fn adapter(&self) -> &Adapter {
        self.trainer.adapter()
    }

    /// Times steps queued in a row: upload, forward, backward, update; the results are waited for once.
    ///
    /// # Errors
    /// What the device says.
    pub async fn measure(&mut self, rates: Rates, effort: Effort) -> Result<BenchRow, BenchError> {
        let StepBench { trainer, inputs } = self;
        let times = measure(effort, BURST, async |repeats| steps(trainer.session_mut(), &inputs[..repeats as usize]).await).await?;
        let dispatches = if let AnySession::Gpu(session) = trainer.session_mut() { session.launches() as u32 } else { 0 };
        let model = trainer.model();
        let shape = &model.shape;
        let scan = ScanShape { batch: shape.batch, time: shape.time, heads: shape.heads, key: shape.key, value: shape.value };
        let count = forward(&model.plan) + backward(&model.plan) + update(&model.plan);
        Ok(row(case(&shape.rule, shape.form, Pass::Step, scan), times, dispatches, shape.state() as u64, count, rates))
    }

    /// GPU time of one step by kernel, the most costly first. Each launch is timed alone, so that the sum is more than a step takes.
    ///
    /// # Errors
    /// On the CPU, and on an adapter without timestamps.
    pub async fn kernels(&mut self) -> Result<Vec<KernelTime>, BenchError> {
        by_kernel(self.trainer.session_mut(), &self.inputs[0]).await
    }
}

async fn steps(session: &mut AnySession, inputs: &[StepInput]) -> Result<Option<f64>, BenchError> {
    let seconds = match session {
        AnySession::Gpu(session) => session.time_training(inputs).await?,
        AnySession::Cpu(session) => {
            session.train(inputs)?;
            None
        }
    };
    session.results().await?;
    Ok(seconds)
}
