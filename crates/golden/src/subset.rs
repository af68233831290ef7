//! Golden files that travel with the program.

use crate::{File, Golden, GoldenError};

/// Every rule under repeated keys and under strong decay, in single precision.
static BLOB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/subset.postcard"));

/// The built-in files, sorted by rule.
pub fn subset() -> Result<Vec<Golden>, GoldenError> {
    let files: Vec<File<f32>> = postcard::from_bytes(BLOB).map_err(|error| GoldenError::Subset(error.to_string()))?;
    files.into_iter().map(|file| Golden::try_from(File::<f64>::from(file))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use palimpsest_rules::rules;

    #[test]
    fn covers_every_rule_and_stays_small() {
        assert!(BLOB.len() < 600_000, "{} bytes", BLOB.len());
        let subset = subset().unwrap();
        for rule in rules() {
            let regimes = subset.iter().filter(|golden| golden.rule.slug() == rule.slug()).count();
            assert!(regimes >= 2, "{} has {regimes} built-in files", rule.slug());
        }
    }
}
