//! Versions: which one Cargo.lock asks for, which one a program says it is.

use semver::Version;

use crate::error::{Error, Result};

/// The version of `package` in the text of a Cargo.lock. An error if it is absent or there more than once.
pub(crate) fn locked(lock: &str, package: &str) -> Result<Version> {
    let table: toml::Table = lock.parse().map_err(|error: toml::de::Error| Error::Lock(error.message().to_owned()))?;
    let packages = table.get("package").and_then(|list| list.as_array()).map(Vec::as_slice).unwrap_or_default();
    let mut versions = packages.iter().filter(|entry| entry.get("name").and_then(|name| name.as_str()) == Some(package));
    match (versions.next(), versions.next()) {
        (Some(entry), None) => {
            let text = entry.get("version").and_then(|version| version.as_str()).unwrap_or_default();
            Version::parse(text).map_err(|error| Error::Lock(format!("version {text:?} of {package}: {error}")))
        }
        (Some(_), Some(_)) => Err(Error::Lock(format!("{package} is there in more than one version; one is needed"))),
        (None, _) => Err(Error::Lock(format!("{package} is not there"))),
    }
}

/// The first version in what a program prints for `--version`, such as `trunk 0.22.0-beta.1` or `v20.20.2`.
pub(crate) fn printed(text: &str) -> Option<Version> {
    text.split_whitespace().find_map(|word| Version::parse(word.strip_prefix('v').unwrap_or(word)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 4

[[package]]
name = "wasm-bindgen-shared"
version = "0.2.99"

[[package]]
name = "wasm-bindgen"
version = "0.2.130"
dependencies = ["cfg-if"]

[[package]]
name = "twice"
version = "1.0.0"

[[package]]
name = "twice"
version = "2.0.0"
"#;

    #[test]
    fn locked_takes_the_package_of_exactly_that_name() {
        assert_eq!(locked(LOCK, "wasm-bindgen").unwrap(), Version::new(0, 2, 130));
    }

    #[test]
    fn locked_refuses_what_is_absent_ambiguous_or_no_lock_file() {
        for (lock, package, says) in [
            (LOCK, "trunk", "trunk is not there"),
            (LOCK, "twice", "more than one version"),
            ("[[package]]\nname = \"a\"\nversion = \"one\"", "a", "\"one\" of a"),
            ("", "a", "a is not there"),
        ] {
            let message = locked(lock, package).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
        assert!(locked("version = ", "a").is_err());
    }

    #[test]
    fn locked_reads_the_lock_file_of_this_workspace() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        assert!(locked(&std::fs::read_to_string(path).unwrap(), "wasm-bindgen").unwrap() >= Version::new(0, 2, 100));
    }

    #[test]
    fn printed_finds_the_version_among_other_words() {
        assert_eq!(printed("trunk 0.22.0-beta.1\n"), Version::parse("0.22.0-beta.1").ok());
        assert_eq!(printed("v20.20.2\n"), Some(Version::new(20, 20, 2)));
        assert_eq!(printed("cargo-nextest 0.9.143 (60fa45f63 2026-08-04)"), Some(Version::new(0, 9, 143)));
        assert_eq!(printed("command not found"), None);
    }

    #[test]
    fn a_beta_comes_after_the_release_before_it() {
        assert!(printed("trunk 0.22.0-beta.1").unwrap() >= Version::new(0, 21, 0));
        assert!(printed("trunk 0.21.0-rc.1").unwrap() < Version::new(0, 21, 0));
        assert!(printed("trunk 0.9.9").unwrap() < Version::new(0, 21, 0));
    }
}
