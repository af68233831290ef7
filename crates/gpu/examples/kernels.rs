//! Prints the WGSL of every kernel that models of all rules need: a label, a newline, the text, and a record separator (U+001E).
//! What other compilers than naga (a browser's) are tried on.

#[path = "../../cpu/tests/model/mod.rs"]
mod model;

use model::{Sizes, model};
use palimpsest_gpu::{Device, GpuSession, Options};
use palimpsest_plan::{AdamW, BackendError, DecayForm, ScanForm, ScanShape};
use palimpsest_rules::rules;
use pollster::block_on;
use std::collections::BTreeMap;

fn main() -> Result<(), BackendError> {
    let device = block_on(Device::open(Options::from_env()))?;
    let shape = ScanShape { batch: 2, time: 40, heads: 2, key: 16, value: 12 };
    let sizes = |form, decay, hybrid| Sizes { shape, width: 24, layers: 2, vocab: 20, hidden: 36, labels: 8, form, decay, hybrid };
    let variants = [sizes(ScanForm::Recurrent, DecayForm::Exponential, true), sizes(ScanForm::Chunked(16), DecayForm::Safe, false)];
    let mut texts: BTreeMap<String, &'static str> = BTreeMap::new();
    for rule in rules() {
        for sizes in variants {
            let session = block_on(GpuSession::new(&device, model(rule, sizes, AdamW::default()).plan))?;
            texts.extend(session.kernels().into_iter().map(|(label, text)| (text.to_owned(), label)));
        }
    }
    for (text, label) in texts {
        print!("{label}\n{text}\u{1e}");
    }
    Ok(())
}
