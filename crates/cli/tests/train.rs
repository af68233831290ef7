//! `palimpsest train` from outside: arguments that do not go together, and its help.

use assert_cmd::Command;

/// Exit code, standard output and standard error of `palimpsest train`.
fn train(args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("palimpsest").unwrap().arg("train").args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_list_of_settings_takes_nothing_beside_it() {
    let (code, out, error) = train(&["--settings"]);
    assert_eq!((code, out.as_str(), error.as_str()), (0, format!("{}\n", palimpsest_spec::help_text()).as_str(), ""));
    for beside in [&["nonsense"][..], &["lr=0.01"], &["--json"], &["--seeds", "2"], &["--backend", "cpu"], &["--until-learned"]] {
        for args in [[&["--settings"], beside].concat(), [beside, &["--settings"]].concat()] {
            let (code, out, error) = train(&args);
            assert_eq!((code, out.as_str(), error.trim_end().lines().count()), (2, "", 1), "{args:?}: {error}");
            assert!(error.contains("'--settings' cannot be used with") || error.contains("cannot be used with '--settings'"), "{error}");
        }
    }
}
