//! The self-check: rows as they come, then a closing count.

use palimpsest_protocol::{CheckRow, Event};

/// What the self-check has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Check {
    /// Rows so far.
    pub(crate) rows: Vec<CheckRow>,
    /// How it ended, once it has.
    pub(crate) done: Option<Ending>,
}

/// How a self-check ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ending {
    passed: u32,
    failed: u32,
    /// Why the rest could not be checked.
    cut: Option<String>,
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
            Event::CheckDone { passed, failed, cut } => self.done = Some(Ending { passed: *passed, failed: *failed, cut: cut.clone() }),
            _ => return false,
        }
        true
    }

    /// The closing line.
    pub(crate) fn verdict(&self) -> Option<String> {
        let Ending { passed, failed, cut } = self.done.as_ref()?;
        let meaning = match (passed, failed, cut) {
            (_, 1.., _) => "This device computes something wrong: do not trust what it trains.",
            (_, _, Some(reason)) => return Some(format!("{passed} passed, {failed} failed; the rest was not checked: {reason}.")),
            (0, 0, _) => "Nothing was checked.",
            _ => "This device computes the rules right.",
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
        check.apply(&Event::CheckDone { passed: 1, failed: 0, cut: None });
        assert!(check.verdict().unwrap().starts_with("1 passed, 0 failed."));
        check.apply(&Event::Checked(row));
        assert_eq!((check.rows.len(), check.done), (1, None));
    }

    #[test]
    fn failures_are_said() {
        let mut check = Check::default();
        check.apply(&Event::CheckDone { passed: 3, failed: 1, cut: None });
        assert!(check.verdict().unwrap().contains("wrong"));
    }

    #[test]
    fn a_check_cut_short_does_not_pass() {
        let mut check = Check::default();
        check.apply(&Event::CheckDone { passed: 3, failed: 0, cut: Some("the GPU is gone".into()) });
        assert!(check.verdict().unwrap().contains("was not checked: the GPU is gone"));
    }
}
