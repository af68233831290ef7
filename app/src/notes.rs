//! What did not fit and was moved: in the link, and with the last change of a control.

use leptos::prelude::*;
use palimpsest_spec::Correction;

/// Both lists; a copy is as good as the original.
#[derive(Clone, Copy)]
pub(crate) struct Notes {
    /// What did not fit in the link.
    pub(crate) link: RwSignal<Vec<Correction>>,
    /// What had to move with the last change of a control.
    pub(crate) change: RwSignal<Vec<Correction>>,
}

impl Notes {
    /// The corrections of a link.
    pub(crate) fn new(link: Vec<Correction>) -> Notes {
        Notes { link: RwSignal::new(link), change: RwSignal::new(Vec::new()) }
    }

    /// Sentences about one setting.
    pub(crate) fn about(self, key: &str) -> Vec<String> {
        let own = |notes: &Vec<Correction>| about(notes, key);
        [self.link.with(own), self.change.with(own)].concat()
    }

    /// A setting was changed by hand: what the link said of it is history, and `moved` is what had to move.
    pub(crate) fn changed(self, key: &str, moved: Vec<Correction>) {
        if self.link.with_untracked(|notes| notes.iter().any(|note| note.key == key)) {
            self.link.update(|notes| notes.retain(|note| note.key != key));
        }
        if self.change.with_untracked(|old| *old != moved) {
            self.change.set(moved);
        }
    }
}

fn about(notes: &[Correction], key: &str) -> Vec<String> {
    notes.iter().filter(|note| note.key == key).map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::about;
    use palimpsest_spec::Settings;

    #[test]
    fn a_correction_is_found_by_its_setting() {
        let (_, notes) = Settings::from_link("v=1&layers=900&nonsense=1");
        assert_eq!(notes.len(), 2);
        assert!(matches!(about(&notes, "layers").as_slice(), [sentence] if sentence.contains("layers=900")));
        assert_eq!(about(&notes, "width"), Vec::<String>::new());
    }
}
