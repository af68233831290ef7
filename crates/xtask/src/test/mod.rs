//! `cargo xtask test`: every test, each in its own stage. A failing stage hides none that can run without it.

mod closing;
mod stages;

use std::path::PathBuf;
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::setup::{self, BROWSER_TESTS, Need, web};
use crate::shell::Shell;
use crate::site;
use closing::Runner;
use stages::Stages;

/// Modules that a build script lists, so that cargo fmt does not see them.
const TASKS: &str = "crates/tasks/src/tasks";

#[derive(Args)]
pub(crate) struct Test {
    /// Run only these parts, separated by commas
    #[arg(long, value_delimiter = ',', value_enum)]
    only: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Part {
    /// cargo fmt --check
    Fmt,
    /// Clippy without warnings, natively and for wasm
    Clippy,
    /// Native tests and documentation tests, kernels on the software Vulkan adapter
    Native,
    /// Every golden file, on both backends and in both forms
    Verify,
    /// The page in Chromium, with WebGPU and without
    Browser,
}

impl Test {
    pub(crate) fn run(&self, shell: &Shell) -> Result<()> {
        let parts = if self.only.is_empty() { Part::value_variants() } else { &self.only };
        prepare(shell, parts)?;
        let mut stages = Stages::default();
        for part in Part::value_variants().iter().filter(|part| parts.contains(part)) {
            match part {
                Part::Fmt => {
                    stages.run("formatting", Runner::Silent, shell.command("cargo", ["fmt", "--all", "--check"]));
                    let arguments = ["--check", "--edition", "2024", "--config-path", "rustfmt.toml"];
                    let mut tasks = shell.command("rustfmt", arguments);
                    tasks.args(files_in(shell, TASKS, "rs")?);
                    stages.run("formatting of the tasks", Runner::Silent, tasks);
                }
                Part::Clippy => clippy(shell, &mut stages),
                Part::Native => native(shell, &mut stages),
                Part::Verify => verify(shell, &mut stages)?,
                Part::Browser => browser(shell, &mut stages),
            }
        }
        stages.close()
    }
}

fn prepare(shell: &Shell, parts: &[Part]) -> Result<()> {
    let wants = |part| parts.contains(&part);
    let mut needs = vec![Need::Linker];
    if (wants(Part::Native) || wants(Part::Verify)) && software_adapter() {
        needs.push(Need::SoftwareVulkan);
    }
    if wants(Part::Browser) {
        needs.extend([Need::Node, Need::Chromium]);
    }
    setup::prepare_system(shell, &needs)?;
    if wants(Part::Fmt) {
        web::component(shell, "rustfmt", "fmt")?;
    }
    if wants(Part::Clippy) {
        web::component(shell, "clippy", "clippy")?;
        web::target(shell)?;
    }
    if wants(Part::Browser) {
        web::prepare(shell)?;
        setup::prepare_node(shell)?;
    }
    Ok(())
}

fn clippy(shell: &Shell, stages: &mut Stages) {
    let native = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    stages.run("clippy", Runner::Silent, shell.command("cargo", native));
    let wasm = ["clippy", "-p", "palimpsest-app", "-p", "palimpsest-worker", "--target", "wasm32-unknown-unknown", "--", "-D", "warnings"];
    stages.run("clippy for wasm", Runner::Silent, shell.command("cargo", wasm));
}

fn native(shell: &Shell, stages: &mut Stages) {
    if shell.find("cargo-nextest").is_some() {
        stages.run(
            "native tests",
            Runner::Nextest,
            on_adapter(shell.command("cargo", ["nextest", "run", "--workspace", "--no-fail-fast"])),
        );
    } else {
        let tests = ["test", "--workspace", "--all-targets", "--no-fail-fast"];
        stages.run("native tests", Runner::CargoTest, on_adapter(shell.command("cargo", tests)));
    }
    stages.run(
        "documentation tests",
        Runner::DocTest,
        on_adapter(shell.command("cargo", ["test", "--workspace", "--doc", "--no-fail-fast"])),
    );
}

fn verify(shell: &Shell, stages: &mut Stages) -> Result<()> {
    let files = files_in(shell, "tests/golden", "json")?;
    let build = ["build", "--release", "--package", "palimpsest-cli"];
    let built = stages.run("the command line in release", Runner::Silent, shell.command("cargo", build));
    for backend in ["cpu", "gpu"] {
        for form in ["recurrent", "chunked"] {
            let name = format!("golden files, {backend} {form}");
            if !built {
                stages.skip(&name, "the command line did not build");
                continue;
            }
            let arguments =
                ["run", "--release", "--quiet", "--package", "palimpsest-cli", "--", "verify", "--backend", backend, "--form", form];
            let mut command = shell.command("cargo", arguments);
            command.args(&files);
            stages.run(&name, Runner::Verify, on_adapter(command));
        }
    }
    Ok(())
}

/// The files of a folder with this extension, sorted, by paths from the root of the repository.
fn files_in(shell: &Shell, folder: &str, extension: &str) -> Result<Vec<PathBuf>> {
    let folder = PathBuf::from(folder);
    let entries = std::fs::read_dir(shell.root().join(&folder)).map_err(|source| Error::File { path: folder.clone(), source })?;
    let names = entries.flatten().map(|entry| folder.join(entry.file_name()));
    let mut files: Vec<_> = names.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    if files.is_empty() { Err(Error::Failed(format!("{} has no .{extension} file", folder.display()))) } else { Ok(files) }
}

fn browser(shell: &Shell, stages: &mut Stages) {
    let in_tests = |arguments: &[&str]| {
        let mut command = shell.command("npx", arguments);
        command.current_dir(shell.root().join(BROWSER_TESTS));
        command
    };
    stages.run("types of the browser tests", Runner::Silent, in_tests(&["--no-install", "tsc", "--noEmit"]));
    if !stages.run("the page in release", Runner::Silent, site::build(shell)) {
        return stages.skip("the page in Chromium", "the page did not build");
    }
    let mut playwright = in_tests(&["--no-install", "playwright", "test"]);
    if let Some(chromium) = setup::chromium(shell) {
        playwright.env("CHROMIUM", chromium);
    }
    stages.run("the page in Chromium", Runner::Playwright, playwright);
}

/// Whether kernels run on the software adapter: they do unless PALIMPSEST_ADAPTER names another.
fn software_adapter() -> bool {
    cfg!(target_os = "linux") && std::env::var_os("PALIMPSEST_ADAPTER").is_none_or(|name| name.is_empty())
}

/// Shows the Vulkan loader the software driver only, so that results do not depend on the machine.
fn on_adapter(mut command: Command) -> Command {
    if software_adapter()
        && let Some(driver) = setup::software_vulkan()
    {
        // The second name is for loaders before 1.3.207.
        command.env("VK_DRIVER_FILES", &driver).env("VK_ICD_FILENAMES", &driver);
    }
    command
}
