//! Packs the golden files of a few regimes into one blob, for the check inside the page.

#[path = "src/format.rs"]
#[allow(dead_code, unreachable_pub, reason = "the library exports the format; here only the blob is made")]
mod format;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Repeated keys with two heads, and decays down to exp(-60): the smallest files, and the hardest numbers.
const REGIMES: [&str; 2] = ["repeat", "strong"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../tests/golden");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if REGIMES.iter().any(|regime| name.ends_with(&format!(".{regime}.json"))) {
            paths.push(path);
        }
    }
    paths.sort();
    // Single precision halves the page's download, and is ten times finer than the tightest tolerance.
    let files: Vec<format::File<f32>> = paths
        .iter()
        .map(|path| serde_json::from_str(&fs::read_to_string(path)?).map_err(Box::<dyn Error>::from))
        .collect::<Result<_, _>>()?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("subset.postcard"), postcard::to_allocvec(&files)?)?;
    Ok(())
}
