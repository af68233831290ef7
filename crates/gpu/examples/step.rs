//! GPU time of a training step of a small model, launch by launch, and the wall time of many in a row.
//!
//! `cargo run --release -p palimpsest-gpu --example step -- [batch] [time] [width] [heads] [layers] [chunk, 0 for recurrent]`

#[path = "../../cpu/tests/model/mod.rs"]
mod model;

use model::{Sizes, model};
use palimpsest_gpu::{Device, GpuSession, Options};
use palimpsest_plan::{AdamW, BackendError, DecayForm, ScanForm, ScanShape, Session, StepInput};
use palimpsest_rules::default_rule;
use pollster::block_on;
use std::collections::BTreeMap;
use std::time::Instant;

fn main() -> Result<(), BackendError> {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let at = |index: usize, default: usize| arguments.get(index).copied().unwrap_or(default);
    let (batch, time, width, heads, layers, chunk) = (at(0, 64), at(1, 64), at(2, 64), at(3, 2), at(4, 2), at(5, 0));
    let form = if chunk == 0 { ScanForm::Recurrent } else { ScanForm::Chunked(chunk) };
    let shape = ScanShape { batch, time, heads, key: width / heads, value: width / heads };
    let labels = batch * 4;
    let sizes = Sizes { shape, width, layers, vocab: 64, hidden: 2 * width, labels, form, decay: DecayForm::Exponential, hybrid: false };
    let model = model(default_rule(), sizes, AdamW::default());

    let device = block_on(Device::open(Options::from_env()))?;
    let made = Instant::now();
    let mut session = block_on(GpuSession::new(&device, model.plan.clone()))?;
    println!(
        "{}: {} launches, {} kernels, made in {:?}",
        device.adapter().name,
        session.launches(),
        session.kernels().len(),
        made.elapsed()
    );
    session.set_parameters(&model.plan.initial_parameters(0))?;
    for (id, values) in model.plan.constants(0) {
        session.write(id, &values)?;
    }
    let step = |step: u32| StepInput { batch: model.batch(u64::from(step)), rate: 1e-3, step };
    session.train(&(1..=32).map(step).collect::<Vec<_>>())?;
    block_on(session.results())?;

    let steps: Vec<StepInput> = (33..=232).map(step).collect();
    let started = Instant::now();
    for steps in steps.chunks(20) {
        session.train(steps)?;
    }
    let results = block_on(session.results())?;
    println!("wall time of a step: {:.3} ms; last {:?}", started.elapsed().as_secs_f64() * 1e3 / steps.len() as f64, results.last());

    let mut by_kernel: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for launch in block_on(session.profile(&step(233)))? {
        let entry = by_kernel.entry(launch.kernel).or_default();
        *entry = (entry.0 + 1, entry.1 + launch.seconds * 1e6);
    }
    let mut rows: Vec<_> = by_kernel.into_iter().collect();
    rows.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
    println!("GPU time {:.0} us, of which", rows.iter().map(|row| row.1.1).sum::<f64>());
    for (kernel, (launches, micros)) in rows {
        println!("{micros:9.1} us {launches:4} x {kernel}");
    }
    Ok(())
}
