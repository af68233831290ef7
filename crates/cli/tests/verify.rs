//! `palimpsest verify` from outside: results, exit codes, and one clear line for anything it cannot use.

use assert_cmd::Command;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)
}

/// Runs `palimpsest verify` and gives exit code, standard output and standard error.
fn verify<A: AsRef<std::ffi::OsStr>>(args: &[A]) -> (i32, String, String) {
    let output = Command::cargo_bin("palimpsest").unwrap().arg("verify").args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Bad input: exit 2, nothing passed, one line that contains all of these words.
fn refused<A: AsRef<std::ffi::OsStr>>(args: &[A], words: &[&str]) {
    let (code, out, error) = verify(args);
    assert_eq!(code, 2, "{out}{error}");
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
    assert!(!error.contains("panicked"), "{error}");
    assert!(out.is_empty() || out == "0 passed, 1 failed\n", "{out}");
}

/// A copy of a golden file with one change.
fn changed(folder: &TempDir, name: &str, change: impl FnOnce(&mut Value)) -> PathBuf {
    let mut file: Value = serde_json::from_str(&fs::read_to_string(golden("gdn2.repeat.json")).unwrap()).unwrap();
    change(&mut file);
    let path = folder.path().join(name);
    fs::write(&path, file.to_string()).unwrap();
    path
}

#[test]
fn every_golden_file_passes_on_the_cpu_in_both_forms() {
    let mut files: Vec<PathBuf> = fs::read_dir(golden("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let count = files.len();
    assert!(count >= 44);
    for form in [&["--form=recurrent"][..], &["--form=chunked"], &["--form=chunked", "--chunk=7"]] {
        let args: Vec<_> = files.iter().map(|path| path.as_os_str().to_owned()).chain(form.iter().map(|&arg| arg.into())).collect();
        let (code, out, error) = verify(&args);
        assert!(out.ends_with(&format!("\n{count} passed, 0 failed\n")) && error.is_empty(), "{form:?}\n{out}{error}");
        assert_eq!((code, out.lines().count()), (0, count + 1));
    }
}

#[test]
fn a_chunk_longer_than_the_backends_longest_is_told() {
    let file = golden("linear.mild.json");
    let run = |chunk: &str| verify(&[file.as_os_str(), "--form=chunked".as_ref(), chunk.as_ref()]);
    let (code, _, error) = run("--chunk=300");
    assert_eq!((code, error.as_str()), (0, "note: the CPU's longest chunk has 128 tokens: it takes that instead of 300\n"));
    assert_eq!(run("--chunk=128").2, "");
}

#[test]
fn strong_decay_passes_on_the_gpu_in_both_forms() {
    let mut files: Vec<PathBuf> = fs::read_dir(golden("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_string_lossy().contains(".strong."));
    assert!(files.len() >= 11);
    for form in ["--form=recurrent", "--form=chunked"] {
        let args: Vec<_> = files.iter().map(|path| path.as_os_str().to_owned()).chain([form.into(), "--backend=gpu".into()]).collect();
        let (code, out, error) = verify(&args);
        assert_eq!(code, 0, "{out}{error}");
        assert!(out.ends_with(&format!("\n{} passed, 0 failed\n", files.len())), "{form}\n{out}{error}");
    }
}

#[test]
fn a_wrong_number_fails_and_is_named() {
    let folder = TempDir::new().unwrap();
    let wrong = changed(&folder, "wrong.json", |file| file["input_grads"]["b"]["data"][5] = json!(9.0));
    let (code, out, error) = verify(&[&wrong, &golden("gdn2.repeat.json")]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("FAILED") && lines[0].contains("wrong.json"), "{out}{error}");
    assert_eq!(lines[0].split("  ").filter(|part| part.contains(" (> ")).count(), 1, "{out}");
    assert!(lines[0].contains("  db ") && lines[1].starts_with("ok "), "{out}");
    assert_eq!((code, lines[2]), (1, "1 passed, 1 failed"));
}

#[test]
fn an_unusable_file_does_not_hide_the_others() {
    let folder = TempDir::new().unwrap();
    let bad = changed(&folder, "bad.json", |file| file["dims"]["K"] = json!(6));
    let (code, out, error) = verify(&[&bad, &golden("linear.strong.json")]);
    assert_eq!((code, out.lines().last()), (2, Some("1 passed, 1 failed")));
    assert!(error.contains("bad.json: K is 6; it must be a multiple of 4 from 4 to 128"), "{error}");
    assert!(out.starts_with("ok "), "{out}");
}

#[test]
fn json_has_one_object_a_line() {
    let folder = TempDir::new().unwrap();
    let bad = folder.path().join("absent.json");
    let files = [golden("eda.strong.json"), bad, PathBuf::from("--json")];
    let (code, out, _) = verify(&files);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, lines.len()), (2, 3));
    assert_eq!(lines[0]["passed"], json!(true));
    assert_eq!((&lines[0]["rule"], &lines[0]["form"], &lines[0]["backend"]), (&json!("eda"), &json!("recurrent"), &json!("cpu")));
    assert!(lines[0]["rows"].as_array().unwrap().iter().all(|row| row["error"].as_f64().unwrap() < 1e-5));
    assert_eq!((&lines[1]["passed"], &lines[1]["error"]), (&json!(false), &json!("no such file")));
    assert_eq!(lines[2], json!({"passed": 1, "failed": 1}));
}

#[test]
fn bad_input_is_one_line() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    refused(&[folder.path().join("absent.json")], &["absent.json", "no such file"]);
    refused(&[folder.path()], &["is a folder", "*.json"]);
    refused(&[write("empty.json", b"")], &["empty.json", "not a golden file"]);
    refused(&[write("binary.json", &[0xff, 0xfe, 0])], &["binary.json", "not a golden file"]);
    refused(&[write("list.json", b"[1, 2]")], &["list.json", "not a golden file", "line 1"]);
    refused(&[changed(&folder, "rule.json", |file| file["rule"] = json!("nope"))], &["'nope'", "the rules are", "gdn2"]);
    refused(
        &[changed(&folder, "missing.json", |file| drop(file["inputs"].as_object_mut().unwrap().remove("w")))],
        &["'w' is missing from inputs"],
    );
    refused(&[] as &[&str], &["<FILE>", "required"]);
    let file = golden("linear.strong.json").into_os_string().into_string().unwrap();
    refused(&[file.as_str(), "--backend", "tpu"], &["tpu", "cpu", "gpu"]);
    refused(&[file.as_str(), "--form", "parallel"], &["parallel", "recurrent", "chunked"]);
    refused(&[file.as_str(), "--form", "chunked", "--chunk", "0"], &["0", "1..=512"]);
    refused(&[file.as_str(), "--chunk", "many"], &["many"]);
    refused(&[file.as_str(), "--chunk", "32"], &["--chunk 32 goes with --form chunked"]);
    refused(&[file.as_str(), "--form", "recurrent", "--chunk", "16"], &["--chunk 16 goes with --form chunked"]);
    refused(&[file.as_str(), "--nonsense"], &["--nonsense"]);
    let long = "x".repeat(100_000);
    for arguments in [vec!["--chunk", &long], vec!["--form", &long], vec![&long]] {
        let (code, _, error) = verify(&arguments);
        assert!(code == 2 && error.len() < 1000 && error.contains("xxx…"), "{} bytes: {error:.300}", error.len());
    }
}

#[test]
fn help_says_what_the_exit_codes_mean() {
    let (code, out, _) = verify(&["--help"]);
    assert_eq!(code, 0);
    for word in ["--backend", "--form", "--chunk", "--json", "Exit code", "recurrent", "chunked"] {
        assert!(out.contains(word), "{word} is not in\n{out}");
    }
}
