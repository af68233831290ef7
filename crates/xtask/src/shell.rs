//! Starting programs from the root of the repository, with the project's own tools first on PATH.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Where programs are installed that must not replace a person's own.
const TOOLS: &str = "target/tools";

pub(crate) struct Shell {
    root: PathBuf,
    path: OsString,
}

impl Shell {
    /// The repository that this program belongs to.
    pub(crate) fn new() -> Result<Self> {
        // Cargo sets the variable when it runs us; the constant serves a binary that is started directly.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = manifest.join("../..");
        let root = root.canonicalize().map_err(|source| Error::File { path: root, source })?;
        let tools = root.join(TOOLS);
        let mut folders = vec![tools.join("bin"), tools.join("node_modules/.bin")];
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        folders.extend(cargo_home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).map(|home| home.join("bin")));
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let path = std::env::join_paths(folders).map_err(|error| Error::Failed(format!("PATH: {error}")))?;
        Ok(Self { root, path })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for programs that serve this project only; cargo puts them in its `bin`, npm in its `node_modules/.bin`.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join(TOOLS)
    }

    /// Where `program` is on PATH.
    pub(crate) fn find(&self, program: impl AsRef<OsStr>) -> Option<PathBuf> {
        which::which_in(program, Some(&self.path), &self.root).ok()
    }

    /// A command that runs in the root of the repository.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, program: &str, arguments: impl IntoIterator<Item = A>) -> Command {
        // Looked up here: Command would search the PATH of this process, not the one that the child gets.
        let mut command = Command::new(self.find(program).unwrap_or_else(|| program.into()));
        command.args(arguments).current_dir(&self.root).env("PATH", &self.path);
        // What cargo tells about this package must not reach the build of another.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
                command.env_remove(name);
            }
        }
        command
    }

    /// What a program prints, if it is there and succeeds.
    pub(crate) fn output(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = self.command(program, arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The command as a person would type it, without the folders in front of the program.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn started<T>(command: &Command, result: std::io::Result<T>) -> Result<T> {
    result.map_err(|source| Error::Start { program: command.get_program().to_string_lossy().into_owned(), source })
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    if status.success() { Ok(()) } else { Err(Error::Ended { command: shown(command), status }) }
}

/// Runs a command to its end; its output goes where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status();
    let status = started(command, status)?;
    succeeded(command, status)
}

/// Runs a command to its end, passes its output on as it comes, and shows each line, without colours, to `look`.
pub(crate) fn run_watched(mut command: Command, mut look: impl FnMut(&str)) -> Result<()> {
    let pipe = std::io::pipe().and_then(|(reader, writer)| Ok((reader, writer.try_clone()?, writer)));
    let (reader, out, err) = started(&command, pipe)?;
    if std::io::stdout().is_terminal() {
        // A pipe turns colours off; a person still wants them.
        command.env("CARGO_TERM_COLOR", "always").env("FORCE_COLOR", "1");
    }
    let child = command.stdout(out).stderr(err).spawn();
    let mut child = started(&command, child)?;
    let told = (shown(&command), command.get_program().to_string_lossy().into_owned());
    // The command holds the writing ends: while it lives the pipe has no end.
    drop(command);
    let (shown, program) = told;
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
        // A closed stdout must not stop the tests.
        let _ = std::io::stdout().write_all(&line);
        let text = String::from_utf8_lossy(&line);
        look(anstream::adapter::strip_str(&text).to_string().trim_end());
        line.clear();
    }
    let status = child.wait().map_err(|source| Error::Start { program, source })?;
    if status.success() { Ok(()) } else { Err(Error::Ended { command: shown, status }) }
}

/// Says what a slow step does and how long it takes, does it, and says how long it took.
pub(crate) fn step<T>(what: &str, about: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("setup: {what} ({about})");
    let start = Instant::now();
    let result = work()?;
    println!("setup: {what}: done in {}", took(start.elapsed()));
    Ok(result)
}

/// A duration as a person says it: `0.4 s`, `12 s`, `3 min 5 s`.
pub(crate) fn took(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 100.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        let say = |milliseconds| took(Duration::from_millis(milliseconds));
        assert_eq!([say(420), say(12_300), say(185_900)], ["0.4 s", "12 s", "3 min 5 s"]);
    }

    #[cfg(unix)]
    #[test]
    fn watching_sees_both_streams_in_order_without_colours_and_reports_failure() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; printf '\\033[32mtwo\\033[0m\\n' >&2; printf three; exit 3"]);
        let mut lines = Vec::new();
        let error = run_watched(command, |line| lines.push(line.to_owned())).unwrap_err();
        assert_eq!(lines, ["one", "two", "three"]);
        assert!(error.to_string().ends_with("exit status: 3"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().starts_with("cannot start no-such-program-here"), "{error}");
    }
}
