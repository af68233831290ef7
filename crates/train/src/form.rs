//! Which form of the scan runs: when the settings leave it open, and when a backend cannot run what is asked for.

use palimpsest_cpu::LONGEST_CHUNK;
use palimpsest_plan::{AdapterKind, ScanForm};
use palimpsest_spec::{Form, Settings};

/// What is fastest on a GPU from so many tokens on, longest first: short sequences leave a chunk's parallel part nothing to win, and
/// chunks that are joined by their transfers beat chunks that are solved as one system (a GDN-2 step at B 8 on an H200: 1.6 ms in
/// chunks of 128 and 2.1 token by token at T 1024; 2.4 and 3.7 at T 2048).
const GPU: [(usize, ScanForm); 2] = [(1024, ScanForm::Chunked(128)), (0, ScanForm::Recurrent)];

/// The form that settings ask for, or the faster one for this backend and length.
pub fn choose_form(settings: &Settings, kind: AdapterKind) -> ScanForm {
    match (settings.form(), kind) {
        (Form::Recurrent, _) | (Form::Auto, AdapterKind::Cpu) => ScanForm::Recurrent,
        (Form::Chunked, kind) => form_run(ScanForm::Chunked(settings.chunk()), kind),
        (Form::Auto, AdapterKind::Gpu) => {
            GPU.iter().find(|(from, _)| settings.length() >= *from).map_or(ScanForm::Recurrent, |(_, form)| *form)
        }
    }
}

/// The form that a backend runs where this one is asked for: on the CPU, chunks are at most [`LONGEST_CHUNK`] tokens long.
pub fn form_run(asked: ScanForm, kind: AdapterKind) -> ScanForm {
    match (asked, kind) {
        (ScanForm::Chunked(tokens), AdapterKind::Cpu) => ScanForm::Chunked(tokens.min(LONGEST_CHUNK)),
        (asked, _) => asked,
    }
}

#[cfg(test)]
mod tests {
    use super::choose_form;
    use palimpsest_plan::{AdapterKind, ScanForm};
    use palimpsest_spec::Settings;

    #[test]
    fn the_form_follows_the_settings_then_the_backend_and_the_length() {
        let form = |text: &str, kind| choose_form(&Settings::from_text_strict(text).expect("valid settings"), kind);
        assert_eq!(form("length=256", AdapterKind::Gpu), ScanForm::Recurrent);
        assert_eq!(form("length=1024", AdapterKind::Gpu), ScanForm::Chunked(128));
        assert_eq!(form("length=2048", AdapterKind::Cpu), ScanForm::Recurrent);
        assert_eq!(form("length=2048&form=recurrent", AdapterKind::Gpu), ScanForm::Recurrent);
        assert_eq!(form("length=256&form=chunked&chunk=32", AdapterKind::Cpu), ScanForm::Chunked(32));
        let longest = "length=1024&form=chunked&chunk=512";
        assert_eq!(form(longest, AdapterKind::Gpu), ScanForm::Chunked(512));
        assert_eq!(form(longest, AdapterKind::Cpu), ScanForm::Chunked(palimpsest_cpu::LONGEST_CHUNK));
    }
}
