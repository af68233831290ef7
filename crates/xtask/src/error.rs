//! What can go wrong, and the exit code that tells it apart.

use std::path::PathBuf;
use std::process::ExitStatus;

pub(crate) type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Nothing is broken, but a person has to do something first.
    #[error("{0}")]
    Needed(String),
    #[error("cannot start {program}: {source}")]
    Start { program: String, source: std::io::Error },
    #[error("{command}: {status}")]
    Ended { command: String, status: ExitStatus },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("Cargo.lock: {0}")]
    Lock(String),
    #[error("{0}")]
    Failed(String),
    /// Stages failed, and the summary has said so: nothing may follow the runners' result lines.
    #[error("some stages did not pass")]
    Told,
}

impl Error {
    pub(crate) fn exit_code(&self) -> u8 {
        if matches!(self, Self::Needed(_)) { 2 } else { 1 }
    }
}
