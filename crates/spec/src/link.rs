//! Settings as a link.

use crate::{Settings, VERSION};

impl Settings {
    /// The query of a link, without `?`: `v=1`, then what differs from the defaults, in the order of the table. All
    /// characters are safe in a link as they are.
    pub fn to_link(&self) -> String {
        self.link_of(|_| true)
    }

    /// The link of the run alone, without what needs no new start (what is shown, rules in turn).
    pub fn run_link(&self) -> String {
        self.link_of(|row| row.needs_restart)
    }

    fn link_of(&self, keep: impl Fn(&crate::Row) -> bool) -> String {
        let mut link = format!("v={VERSION}");
        for row in self.rows().iter().filter(|row| keep(row)) {
            if let Some(value) = self.get(row.key).filter(|value| *value != row.default) {
                link.push_str(&format!("&{}={value}", row.key));
            }
        }
        link
    }
}
