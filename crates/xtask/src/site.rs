//! The static site in dist/.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::{Error, Result};
use crate::setup::web;
use crate::shell::{self, Shell};

/// Trunk, on the release profile; Trunk.toml and index.html say the rest.
pub(crate) fn trunk(shell: &Shell, arguments: &[&str]) -> Command {
    let mut command = shell.command("trunk", arguments);
    command.env("TRUNK_SKIP_VERSION_CHECK", "true");
    // Trunk reads NO_COLOR as a flag and stops at NO_COLOR=1.
    if std::env::var_os("NO_COLOR").is_some() {
        command.env("NO_COLOR", "true");
    }
    command
}

/// The command that builds the site.
pub(crate) fn build(shell: &Shell) -> Command {
    trunk(shell, &["build", "--release"])
}

/// Builds the site and lists its files.
pub(crate) fn dist(shell: &Shell) -> Result<()> {
    web::prepare(shell)?;
    println!("building the page into dist/ (some minutes the first time, seconds after a small change)");
    shell::run(&mut build(shell))?;
    let folder = shell.root().join("dist");
    let mut files = Vec::new();
    list(&folder, &folder, &mut files).map_err(|source| Error::File { path: folder, source })?;
    files.sort();
    print!("{}", table(&files));
    Ok(())
}

/// A file of the site: its address, its size in bytes, its size after gzip.
type Sized = (String, u64, u64);

fn list(root: &Path, folder: &Path, files: &mut Vec<Sized>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(root, &path, files)?;
        } else {
            let content = std::fs::read(&path)?;
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&content)?;
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            files.push((name, content.len() as u64, encoder.finish()?.len() as u64));
        }
    }
    Ok(())
}

fn table(files: &[Sized]) -> String {
    let total = files.iter().fold((0, 0), |sum, file| (sum.0 + file.1, sum.1 + file.2));
    let row =
        |name: &str, raw: u64, gzip: u64| format!("{:>9.1} KiB {:>9.1} KiB gzip  {name}\n", raw as f64 / 1024.0, gzip as f64 / 1024.0);
    let rows: String = files.iter().map(|(name, raw, gzip)| row(name, *raw, *gzip)).collect();
    rows + &row("in all", total.0, total.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_adds_up() {
        let text = table(&[("a.js".into(), 1024, 512), ("b.wasm".into(), 2048, 1024)]);
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().last().is_some_and(|line| line.contains("3.0 KiB") && line.contains("1.5 KiB gzip  in all")), "{text}");
    }
}
