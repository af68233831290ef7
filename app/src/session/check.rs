//! The self-check: rows as they come, then a closing count.

use palimpsest_protocol::{CheckRow, Event};

/// What the self-check has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Check {
    /// Rows so far.
    pub(crate) rows: Vec<CheckRow>,
    /// (passed, failed), once it has ended.
    pub(crate) done: Option<(u32, u32)>,
}

impl Check {
    /// Learns from an event.
    pub(crate) fn apply(&mut self, event: &Event) -> bool {
        match event {
            Event::Checked(row) => {
                if self.done.take().is_some() {
                    self.rows.clear();
                }
                self.rows.push(row.clone());
            }
            Event::CheckDone { passed, failed } => self.done = Some((*passed, *failed)),
            _ => return false,
        }
        true
    }

    /// The closing line.
    pub(crate) fn verdict(&self) -> Option<String> {
        let (passed, failed) = self.done?;
        let meaning = match (passed, failed) {
            (0, 0) => "Nothing was checked.",
            (_, 0) => "This device computes the rules right.",
            _ => "This device computes something wrong: do not trust what it trains.",
        };
        Some(format!("{passed} passed, {failed} failed. {meaning}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_check_starts_afresh() {
        let row = CheckRow { rule: "r".into(), regime: "mild".into(), form: "chunked".into(), errors: vec![], passed: true };
        let mut check = Check::default();
        check.apply(&Event::Checked(row.clone()));
        check.apply(&Event::CheckDone { passed: 1, failed: 0 });
        assert!(check.verdict().unwrap().starts_with("1 passed, 0 failed."));
        check.apply(&Event::Checked(row));
        assert_eq!((check.rows.len(), check.done), (1, None));
    }

    #[test]
    fn failures_are_said() {
        let mut check = Check::default();
        check.apply(&Event::CheckDone { passed: 3, failed: 1 });
        assert!(check.verdict().unwrap().contains("wrong"));
    }
}
