//! The settings' estimate of memory covers what a plan takes, so that settings that pass can be opened.

use palimpsest_plan::AdapterKind;
use palimpsest_spec::Settings;
use palimpsest_train::{Model, Recipe};

#[test]
fn the_estimate_covers_every_buffer_and_is_near() {
    let sizes = [
        "batch=8",
        "length=512&batch=4&layers=3&width=32",
        "length=128&batch=2&key=64&value=16&heads=4&mlp=0&conv=0",
        "length=64&batch=4&width=256&layers=4&mlp=4&output_gate=0",
        "length=256&batch=4&vocab=8192&pairs=32",
        "length=128&batch=8&attention_every=2&layers=4",
    ];
    for rule in palimpsest_rules::rules() {
        for size in sizes {
            let settings = Settings::from_text_strict(&format!("backend=cpu&rule={}&{size}", rule.slug())).unwrap();
            let shape = Recipe::model_shape(&settings, AdapterKind::Cpu);
            let model = Model::record(shape, Recipe::from_settings(&settings).optimizer).unwrap();
            let (estimate, taken) = (settings.memory(), palimpsest_cpu::bytes::<f32>(&model.plan) as f64);
            assert!(taken <= estimate && estimate < 1.6 * taken, "{} {size}: {estimate} for {taken}", rule.slug());
        }
    }
}
