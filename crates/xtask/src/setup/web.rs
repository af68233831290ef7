//! What builds the page: the wasm target, wasm-bindgen, trunk.

use std::path::Path;

use semver::Version;

use crate::error::{Error, Result};
use crate::shell::{self, Shell, step};
use crate::version;

const TARGET: &str = "wasm32-unknown-unknown";
/// The oldest trunk that knows the attributes in index.html.
const OLDEST_TRUNK: Version = Version::new(0, 21, 0);
/// The newest trunk that the toolchain of this workspace compiles.
const TRUNK: &str = "0.22.0-beta.1";

/// Installs what is absent. wasm-bindgen comes before trunk, which would download its own.
pub(crate) fn prepare(shell: &Shell) -> Result<()> {
    target(shell)?;
    let bindgen = bindgen(shell)?;
    let trunk = trunk(shell)?;
    println!("setup: {TARGET}, wasm-bindgen {bindgen} and trunk {trunk} are ready");
    Ok(())
}

/// Adds a part of the toolchain such as rustfmt, which a minimal one lacks.
pub(crate) fn component(shell: &Shell, name: &str, subcommand: &str) -> Result<()> {
    if shell.output("cargo", &[subcommand, "--version"]).is_some() {
        return Ok(());
    }
    step(&format!("adding {name} to the toolchain"), "about 10 s", || shell::run(&mut shell.command("rustup", ["component", "add", name])))
}

pub(crate) fn target(shell: &Shell) -> Result<()> {
    // Asked of rustc, not of rustup: a distribution's Rust has no rustup.
    let there =
        shell.output("rustc", &["--print", "target-libdir", "--target", TARGET]).is_some_and(|path| Path::new(path.trim()).is_dir());
    if there {
        return Ok(());
    }
    if shell.find("rustup").is_none() {
        return Err(Error::Needed(format!(
            "Rust here lacks the target {TARGET}: install rustup, or your distribution's package for that target"
        )));
    }
    step(&format!("adding the target {TARGET}"), "about 10 s", || shell::run(&mut shell.command("rustup", ["target", "add", TARGET])))
}

fn bindgen(shell: &Shell) -> Result<Version> {
    let path = shell.root().join("Cargo.lock");
    let lock = std::fs::read_to_string(&path).map_err(|source| Error::File { path, source })?;
    let wanted = version::locked(&lock, "wasm-bindgen")?;
    let found = installed(shell, "wasm-bindgen");
    if found.as_ref() == Some(&wanted) {
        return Ok(wanted);
    }
    // Another version may serve another project: leave it, and put ours beside this one.
    let root = found.is_some().then(|| shell.tools());
    // Its own lock file is not published: no --locked.
    install(shell, "wasm-bindgen-cli", &wanted.to_string(), &[], root.as_deref(), "2 to 4 minutes")?;
    match installed(shell, "wasm-bindgen") {
        Some(found) if found == wanted => Ok(wanted),
        found => Err(Error::Failed(format!("wasm-bindgen {wanted} was installed, but PATH leads to {}", named(found)))),
    }
}

fn trunk(shell: &Shell) -> Result<Version> {
    let works = |found: Option<Version>| found.filter(|version| *version >= OLDEST_TRUNK);
    let found = installed(shell, "trunk");
    if let Some(version) = works(found.clone()) {
        return Ok(version);
    }
    let root = found.is_some().then(|| shell.tools());
    install(shell, "trunk", TRUNK, &["--locked"], root.as_deref(), "5 to 10 minutes")?;
    let found = installed(shell, "trunk");
    works(found.clone()).ok_or_else(|| Error::Failed(format!("trunk {TRUNK} was installed, but PATH leads to {}", named(found))))
}

fn installed(shell: &Shell, program: &str) -> Option<Version> {
    version::printed(&shell.output(program, &["--version"])?)
}

fn named(found: Option<Version>) -> String {
    found.map_or_else(|| "none".to_owned(), |version| version.to_string())
}

/// Installs a program from crates.io: a ready-made one where cargo-binstall is there, else compiled.
fn install(shell: &Shell, package: &str, version: &str, flags: &[&str], root: Option<&Path>, about: &str) -> Result<()> {
    let root: Vec<&std::ffi::OsStr> = root.map_or_else(Vec::new, |root| vec!["--root".as_ref(), root.as_os_str()]);
    if shell.find("cargo-binstall").is_some() {
        let mut command = shell.command("cargo", ["binstall", "--no-confirm", "--force", &format!("{package}@{version}")]);
        command.args(&root);
        if step(&format!("fetching {package} {version}"), "about 20 s", || shell::run(&mut command)).is_ok() {
            return Ok(());
        }
        println!("setup: cargo-binstall has no {package} {version}");
    }
    let mut command = shell.command("cargo", ["install", "--quiet", "--force", package, "--version", version]);
    command.args(flags).args(&root);
    step(&format!("compiling {package} {version}"), about, || shell::run(&mut command))
}
