//! What is counted, against sums by hand; and what is measured, on this processor.

use palimpsest_bench::{Effort, ScanCase, StepBench, backward, forward, rates, update};
use palimpsest_plan::{AdamW, Op, PlanBuilder, Role, Scan, ScanForm, ScanShape};
use palimpsest_protocol::Pass;
use palimpsest_rules::{find, rules};
use palimpsest_spec::Settings;
use palimpsest_train::Engine;
use pollster::block_on;

const SHAPE: ScanShape = ScanShape { batch: 2, time: 16, heads: 3, key: 8, value: 4 };
const EFFORT: Effort = Effort { samples: 3, sample_seconds: 0.001, case_seconds: 1.0 };

fn case(slug: &str, form: ScanForm, pass: Pass, shape: ScanShape) -> ScanCase {
    ScanCase { rule: find(slug).unwrap(), form, pass, shape }
}

#[test]
fn a_scan_moves_its_steps_and_reads_and_multiplies_as_its_steps_say() {
    let rows = 2 * 16 * 3;
    for rule in rules() {
        let layout = rule.step_layout(8, 4);
        let stride = layout.stride;
        let mut builder = PlanBuilder::new();
        let steps = builder.tensor("steps", &[2, 16, 3, stride], Role::Activation);
        let o = builder.activation("read", &[2, 16, 3, 4]);
        builder.push(Op::Scan(Scan { layout, shape: SHAPE, form: ScanForm::Recurrent, steps, initial: None, o, last: None }));
        let plan = builder.finish(AdamW::default()).unwrap();
        assert_eq!(forward(&plan).bytes, (4 * rows * (stride + 4)) as u64, "{}", rule.slug());
        assert_eq!(backward(&plan).bytes, (4 * rows * (2 * stride + 4)) as u64, "{}", rule.slug());
        // products with the 8 x 4 state: read 2; edit 2; erase 2; decay 1
        let per_state = match rule.slug() {
            "linear" => 4,
            "delta" => 6,
            "eda" => 2 + 5 + 4,
            _ => 7,
        };
        assert_eq!(forward(&plan).flops, rows as u64 * 32 * per_state, "{}", rule.slug());
        assert!(backward(&plan).flops >= 2 * forward(&plan).flops, "{}", rule.slug());
        assert_eq!(update(&plan).bytes, 0);
    }
}

#[test]
fn absurd_sizes_are_refused_with_one_line() {
    let engine = Engine::Cpu;
    let check = |shape| case("delta", ScanForm::Recurrent, Pass::ForwardBackward, shape).check(&engine);
    assert!(check(SHAPE).is_ok());
    let refused = |shape, words: &str| {
        let line = check(shape).unwrap_err().to_string();
        assert!(line.contains(words) && line.contains("delta") && line.lines().count() == 1, "{line}");
    };
    refused(ScanShape { key: 6, ..SHAPE }, "K is 6; it must be a multiple of 4 from 4 to 128");
    refused(ScanShape { value: 132, ..SHAPE }, "V is 132");
    refused(ScanShape { time: 0, ..SHAPE }, "T is 0");
    refused(ScanShape { time: 1 << 20, ..SHAPE }, "the most on the CPU");
    refused(ScanShape { time: usize::MAX, batch: usize::MAX, ..SHAPE }, "are the most");
}

#[test]
fn a_case_and_a_step_are_measured() {
    let engine = Engine::Cpu;
    let rates = block_on(rates(&engine, EFFORT)).unwrap();
    assert!(rates.copy_bytes_per_second > 1e7 && rates.fma_flops_per_second > 1e7 && !rates.timestamps, "{rates:?}");
    let row = block_on(case("gdn2", ScanForm::Chunked(8), Pass::ForwardBackward, SHAPE).measure(&engine, rates, EFFORT)).unwrap();
    assert_eq!((row.case.form.as_str(), row.case.chunk, row.samples), ("chunked", Some(8), 3));
    assert!(row.wall.min > 0.0 && row.wall.min <= row.wall.median && row.wall.median <= row.wall.max && row.gpu.is_none());
    assert!(row.fma_share > 0.0 && row.fma_share < 2.0 && row.ceiling_share() >= row.copy_share, "{row:?}");

    let link = "length=16&pairs=2&vocab=16&width=16&heads=1&key=8&value=8&layers=1&batch=4&mlp=0&eval=8";
    let settings = Settings::from_text_strict(link).unwrap();
    let row = block_on(async { StepBench::open(&engine, &settings).await?.measure(rates, EFFORT).await }).unwrap();
    assert!(row.wall.median > 0.0 && row.case.pass == Pass::Step && row.state == 64 && row.bytes > 0 && row.flops > 0, "{row:?}");
}
