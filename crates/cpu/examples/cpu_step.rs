//! Times training steps of the model in the design, by rule. Run with `cargo run --release -p palimpsest-cpu --example cpu_step`.

#[path = "../tests/model/mod.rs"]
mod model;

use model::{Sizes, model};
use palimpsest_cpu::CpuSession;
use palimpsest_plan::{AdamW, DecayForm, ScanForm, ScanShape, Session, StepInput};
use std::time::Instant;

const DESIGN: Sizes = Sizes {
    shape: ScanShape { batch: 64, time: 64, heads: 2, key: 32, value: 32 },
    width: 64,
    layers: 2,
    vocab: 64,
    hidden: 128,
    labels: 64 * 4,
    form: ScanForm::Recurrent,
    decay: DecayForm::Exponential,
    hybrid: false,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for form in [ScanForm::Recurrent, ScanForm::Chunked(16)] {
        for rule in palimpsest_rules::rules() {
            let model = model(rule, Sizes { form, ..DESIGN }, AdamW::default());
            let mut session: CpuSession = CpuSession::new(model.plan.clone())?;
            session.set_parameters(&model.plan.initial_parameters(0))?;
            let mut times = Vec::new();
            for step in 1..=8 {
                let input = StepInput { batch: model.batch(u64::from(step)), rate: 3e-3, step };
                let start = Instant::now();
                session.train(&[input])?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            times.sort_by(f64::total_cmp);
            println!("{:20} {form:?}: {:.1} ms a step (min {:.1}, max {:.1})", rule.slug(), times[4], times[0], times[7]);
        }
    }
    Ok(())
}
