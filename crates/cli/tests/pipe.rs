//! A reader that goes away, as in `| head`, ends a command quietly.

use std::process::Command;

#[test]
fn a_closed_pipe_is_no_panic() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/delta.mild.json");
    for arguments in [vec!["train", "--settings"], vec!["verify", golden], vec!["verify", golden, "--json"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palimpsest"));
        // the reader is gone before the command starts
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = command.args(&arguments).stdout(writer).output().unwrap();
        assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(1), ""), "{arguments:?}");
    }
}
