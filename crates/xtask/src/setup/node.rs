//! The Node packages of the browser tests.

use crate::error::{Error, Result};
use crate::shell::{self, Shell, step};

/// Where the browser tests are, from the root of the repository.
pub(crate) const BROWSER_TESTS: &str = "tests/browser";

/// Installs the packages of the lock file, unless that very lock file was installed before.
pub(crate) fn prepare(shell: &Shell) -> Result<()> {
    let folder = shell.root().join(BROWSER_TESTS);
    let lock = folder.join("package-lock.json");
    let wanted = std::fs::read(&lock).map_err(|source| Error::File { path: lock, source })?;
    // npm's own copy in node_modules leaves out the top entry, so ours is kept beside it.
    let stamp = folder.join("node_modules/.installed-lock.json");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    step("installing the Node packages of the browser tests", "about 10 s", || {
        let mut command = shell.command("npm", ["ci", "--no-audit", "--no-fund"]);
        shell::run(command.current_dir(&folder).env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"))
    })?;
    std::fs::write(&stamp, wanted).map_err(|source| Error::File { path: stamp, source })
}
