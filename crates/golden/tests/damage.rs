//! The check passes on the CPU, and fails on every array that is damaged in any way.

use palimpsest_cpu::CpuSession;
use palimpsest_golden::{Computed, File, Golden, Report, Tolerance, Verification, subset};
use palimpsest_plan::{AdapterKind, ScanForm};

fn compute(golden: &Golden, form: ScanForm) -> Vec<Computed> {
    let verification = Verification::new(golden, form).unwrap();
    let mut session = CpuSession::<f32>::new(verification.plan().clone()).unwrap();
    pollster::block_on(verification.run(&mut session)).unwrap()
}

fn report(golden: &Golden, computed: &[Computed], form: ScanForm) -> Report {
    Report::new(golden, computed, Tolerance::of(AdapterKind::Cpu, form))
}

type Damage = fn(&mut Vec<f32>);

const DAMAGES: [(&str, Damage); 6] = [
    ("one value off by a thousandth of the norm", |x| {
        let norm = x.iter().map(|x| x * x).sum::<f32>().sqrt();
        let middle = x.len() / 2;
        x[middle] += 1e-3 * norm;
    }),
    ("one NaN", |x| {
        if let Some(last) = x.last_mut() {
            *last = f32::NAN;
        }
    }),
    ("one infinity", |x| x[0] = f32::INFINITY),
    ("the other sign", |x| x.iter_mut().for_each(|x| *x = -*x)),
    ("all zeros", |x| x.fill(0.0)),
    ("one value too few", |x| {
        x.pop();
    }),
];

#[test]
fn every_damaged_result_fails() {
    for form in [ScanForm::Recurrent, ScanForm::Chunked(16)] {
        for golden in subset().unwrap() {
            let computed = compute(&golden, form);
            let sound = report(&golden, &computed, form);
            assert!(sound.passed(), "{sound:#?}");
            assert_eq!(sound.rows.len(), computed.len());
            for index in 0..computed.len() {
                for (name, damage) in DAMAGES {
                    let mut damaged = computed.clone();
                    damage(&mut damaged[index].values);
                    let report = report(&golden, &damaged, form);
                    let failed: Vec<&str> = report.rows.iter().filter(|row| !row.passed).map(|row| row.array.as_str()).collect();
                    assert_eq!(failed, [computed[index].array.as_str()], "{} {}: {name} passed", report.rule, report.regime);
                }
                let mut missing = computed.clone();
                missing.remove(index);
                assert!(!report(&golden, &missing, form).passed());
            }
        }
    }
}

#[test]
fn every_damaged_array_of_a_file_fails() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden");
    let mut tried = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".repeat.json") {
            continue;
        }
        let file: File<f64> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let form = ScanForm::Recurrent;
        type Section = fn(&mut File<f64>) -> &mut std::collections::BTreeMap<String, palimpsest_golden::Array<f64>>;
        let sections: [Section; 4] =
            [|file| &mut file.inputs, |file| &mut file.output_grads, |file| &mut file.outputs, |file| &mut file.input_grads];
        for section in sections {
            let names: Vec<String> = section(&mut file.clone()).keys().cloned().collect();
            for name in names {
                let mut damaged = file.clone();
                section(&mut damaged).get_mut(&name).unwrap().data[0] += 0.03;
                let golden = Golden::try_from(damaged).unwrap();
                assert!(!report(&golden, &compute(&golden, form), form).passed(), "{}: '{name}' damaged, yet it passed", path.display());
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried} arrays tried");
}
