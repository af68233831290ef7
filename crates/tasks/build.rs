//! Lists `src/tasks/*.rs`: each file is one task and declares `pub(super) const TASK: &dyn Task`.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/tasks");
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let folder = Path::new(&root).join("src/tasks");
    let mut stems = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs")
            && let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
        {
            stems.push(stem.to_owned());
        }
    }
    stems.sort();
    let mut text = String::new();
    for stem in &stems {
        let path = folder.join(format!("{stem}.rs"));
        writeln!(text, "#[path = {path:?}]\nmod {stem};").map_err(io::Error::other)?;
    }
    let list: Vec<String> = stems.iter().map(|stem| format!("{stem}::TASK")).collect();
    writeln!(text, "const FOUND: &[&dyn crate::Task] = &[{}];", list.join(", ")).map_err(io::Error::other)?;
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("tasks.rs"), text)
}
