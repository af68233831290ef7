//! How fast a device can copy, and multiply and add.

use crate::sampling::{Effort, measure};
use crate::{BenchError, sampling::Times};
use palimpsest_cpu::ceiling::{CHAINS, copy, multiply_add};
use palimpsest_gpu::{Ceiling, Device};
use palimpsest_protocol::Rates;
use palimpsest_train::Engine;
use std::hint::black_box;

/// Floats that the processor copies: more than its caches hold (32 MiB, read and written).
const COPIED: usize = 8 << 20;
/// Turns of the processor's products and sums in one pass.
const TURNS: usize = 1 << 16;
/// Bytes of a float.
const FLOAT: usize = 4;

/// Measures both rates of a device: the fastest sample counts, as it is a limit.
///
/// # Errors
/// [`BenchError::Ceiling`] when the device cannot run the two kernels.
pub async fn rates(engine: &Engine, effort: Effort) -> Result<Rates, BenchError> {
    match engine {
        Engine::Gpu(device) => {
            let copied = measured(device, Ceiling::copy(device).await?, effort).await?;
            let computed = measured(device, Ceiling::fma(device).await?, effort).await?;
            let timestamps = copied.1 && computed.1;
            Ok(Rates { copy_bytes_per_second: copied.0, fma_flops_per_second: computed.0, timestamps })
        }
        Engine::Cpu => Ok(processor(effort).await),
    }
}

/// Amount per second, and whether timestamps told it.
async fn measured(device: &Device, mut ceiling: Ceiling, effort: Effort) -> Result<(f64, bool), BenchError> {
    let amount = ceiling.amount;
    let times = measure(effort, u32::MAX, async |repeats| ceiling.time(repeats).await).await?;
    debug_assert!(device.has_timestamps() || times.gpu.is_none());
    Ok((amount / fastest(times), times.gpu.is_some()))
}

fn fastest(times: Times) -> f64 {
    times.gpu.unwrap_or(times.wall).min
}

async fn processor(effort: Effort) -> Rates {
    let (source, mut target) = (vec![1.0f32; COPIED], vec![0.0f32; COPIED]);
    let copied = async |repeats: u32| {
        for _ in 0..repeats {
            copy(black_box(&source), black_box(&mut target));
        }
        Ok::<_, std::convert::Infallible>(None)
    };
    let Ok(copied) = measure(effort, u32::MAX, copied).await;
    let mut chains = [1.0f32; CHAINS];
    let computed = async |repeats: u32| {
        for _ in 0..repeats {
            multiply_add(black_box(&mut chains), black_box(0.5), black_box(0.25), TURNS);
        }
        Ok::<_, std::convert::Infallible>(None)
    };
    let Ok(computed) = measure(effort, u32::MAX, computed).await;
    Rates {
        copy_bytes_per_second: (2 * COPIED * FLOAT) as f64 / fastest(copied),
        fma_flops_per_second: (2 * CHAINS * TURNS) as f64 / fastest(computed),
        timestamps: false,
    }
}
