//! Lists the folder of rule texts, so that adding a rule is adding a file.

use std::{env, fs, io, path::Path};

fn main() -> io::Result<()> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("../../shaders/rules");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)?.collect::<Result<Vec<_>, _>>()?.into_iter().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rule"));
    files.sort();
    let mut list = String::from("[\n");
    for path in files {
        println!("cargo::rerun-if-changed={}", path.display());
        let slug = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        list.push_str(&format!("    ({slug:?}, {:?}),\n", fs::read_to_string(&path)?));
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("rules.rs"), list)
}
