//! `palimpsest bench` from outside: rows that parse and are sane, and one clear line for sizes that cannot be.

use assert_cmd::Command;
use serde_json::Value;

/// Exit code, standard output and standard error.
fn bench(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("palimpsest").unwrap().arg("bench").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn lines(arguments: &[&str]) -> Vec<Value> {
    let (code, out, error) = bench(arguments);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} in {row}"))
}

const SMALL: &[&str] = &["scan", "--json", "--batch=2", "--time=32,64", "--key=16", "--value=8", "--samples=3"];
const MODEL: &str = "length=16&pairs=2&vocab=16&width=16&heads=1&key=8&value=8&layers=1&batch=8&mlp=0&eval=16&eval_every=4&steps=8";

#[test]
fn scans_give_a_row_each_on_both_backends() {
    for (backend, rules) in [("gpu", "--rule=delta"), ("cpu", "--rule=delta,eda")] {
        let all = lines(&[SMALL, &[rules, "--backend", backend]].concat());
        let rules = rules.split(',').count();
        assert_eq!((&all[0]["event"], all.len()), (&"start".into(), 1 + rules * 2 * 2 * 2), "{backend}");
        assert!(all[0]["adapter"]["name"].as_str().is_some_and(|name| !name.is_empty()) && all[0]["revision"].is_string());
        assert!(number(&all[0]["rates"], "copy_bytes_per_second") > 1e7 && number(&all[0]["rates"], "fma_flops_per_second") > 1e7);
        for row in &all[1..] {
            let wall = &row["wall"];
            assert!(number(wall, "min") > 0.0 && number(wall, "min") <= number(wall, "median"), "{row}");
            assert!(number(wall, "median") <= number(wall, "max") && number(row, "samples") >= 3.0, "{row}");
            // the GPU's time lies within the wall's, up to the clocks' grain
            if row["gpu"].is_object() {
                assert!(number(&row["gpu"], "min") > 0.0 && number(&row["gpu"], "min") < 1.5 * number(wall, "max"), "{row}");
            }
            for share in ["copy_share", "fma_share", "ceiling_share"] {
                assert!((1e-7..4.0).contains(&number(row, share)), "{share} in {row}");
            }
            assert_eq!((number(row, "dispatches") > 0.0, number(row, "state")), (backend == "gpu", 2.0 * 16.0 * 8.0), "{row}");
        }
        let bytes: Vec<f64> = all[1..].iter().map(|row| number(row, "bytes")).collect();
        assert!(bytes[2] == 2.0 * bytes[0] && bytes[1] > 2.0 * bytes[0], "linear in T, and the gradient moves more: {bytes:?}");
    }
}

#[test]
fn a_chunk_longer_than_the_cpus_longest_is_told_and_measured_once() {
    let (code, out, error) =
        bench(&["scan", "--json", "--backend=cpu", "--rule=delta", "--form=chunked", "--chunk=64,128,512", "--batch=1", "--samples=3"]);
    let rows = out.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let chunks: Vec<f64> = rows.map(|row| number(&row["case"], "chunk")).collect();
    assert_eq!((code, chunks), (0, vec![64.0, 64.0, 128.0, 128.0]), "forward and both; {out}");
    assert_eq!(error, "note: the CPU's longest chunk has 128 tokens: it takes that instead of 512\n");
}

#[test]
fn a_step_and_its_kernels_are_timed() {
    let all = lines(&["step", MODEL, "--json", "--kernels", "--samples=3"]);
    let events: Vec<&str> = all.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(&events[..3], ["start", "settings", "row"]);
    assert!(events[3..].iter().all(|&event| event == "kernel"));
    assert!(number(&all[2]["wall"], "median") > 0.0 && number(&all[2], "dispatches") > 20.0, "{}", all[2]);
    let launches: f64 = all[3..].iter().map(|kernel| number(kernel, "launches")).sum();
    assert_eq!(launches, number(&all[2], "dispatches"));
}

#[test]
fn a_whole_run_is_timed() {
    let all = lines(&["train", MODEL, "--backend=cpu", "--json"]);
    let last = &all[all.len() - 1];
    assert_eq!((&last["event"], number(last, "steps")), (&"run".into(), 8.0));
    assert!(number(last, "seconds") > 0.0 && number(last, "steps_per_second") > 0.0);
    assert!((number(last, "tokens_per_second") / number(last, "steps_per_second") - 8.0 * 16.0).abs() < 1e-6);
}

#[test]
fn the_plain_form_is_a_table() {
    let (code, out, error) =
        bench(&["scan", "--backend=cpu", "--rule=delta", "--form=recurrent", "--batch=1", "--time=16,32", "--samples=3"]);
    assert_eq!((code, error.as_str()), (0, ""));
    let table: Vec<&str> = out.lines().skip_while(|line| !line.starts_with("rule")).collect();
    assert_eq!(table.len(), 5, "{out}");
    assert!(table.iter().all(|line| line.chars().count() == table[0].chars().count()), "{out}");
}

#[test]
fn sizes_that_cannot_be_are_one_line() {
    let cases: &[(&[&str], &str)] = &[
        (&["scan", "--key=6"], "not a multiple of 4 from 4 to 128"),
        (&["scan", "--time=0"], "0 is not in 1..="),
        (&["scan", "--time=64,0"], "0 is not in 1..="),
        (&["scan", "--rule=nope"], "no such rule; there are"),
        (&["scan", "--chunk=0"], "1..=512"),
        (&["scan", "--chunk=32", "--form=recurrent"], "--chunk goes with --form chunked"),
        (&["scan", "--batch=60000", "--time=100000", "--rule=delta"], "scan at B 60000, T 100000"),
        (&["scan", "--backend=cpu", "--batch=512", "--time=4096", "--rule=delta"], "the most on the CPU"),
        (&["step", "layers=0"], "layers"),
        (&["step", "backend=cpu", "--kernels"], "--kernels needs the GPU"),
        (&["step", "nonsense=1"], "nonsense"),
        (&["train", "key=6"], "key"),
    ];
    for (arguments, words) in cases {
        let (code, out, error) = bench(arguments);
        assert_eq!((code, out.as_str(), error.trim_end().lines().count()), (2, "", 1), "{arguments:?}: {error}");
        assert!(error.starts_with("error: ") && error.contains(words), "{arguments:?}: {error}");
    }
}

#[test]
fn a_scan_beyond_the_adapters_buffers_is_refused_before_it_is_made() {
    // fits 32-bit indices, but no adapter's binding: the largest is 4 GiB
    let (code, out, error) = bench(&["scan", "--batch=3000", "--time=1024", "--rule=linear", "--pass=both", "--form=chunked"]);
    assert_eq!((code, out.as_str(), error.trim_end().lines().count()), (2, "", 1), "{error}");
    assert!(error.contains("linear") && error.contains("allows"), "{error}");
}
