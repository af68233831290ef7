//! Which form of the scan runs when the settings leave it open.

use palimpsest_plan::{AdapterKind, ScanForm};
use palimpsest_spec::{Form, Settings};

/// From this length on, chunks beat tokens on a GPU: short sequences leave a chunk's parallel part nothing to win.
const CHUNKED_FROM: usize = 512;

/// The form that settings ask for, or the faster one for this backend and length.
pub fn choose_form(settings: &Settings, kind: AdapterKind) -> ScanForm {
    match (settings.form(), kind) {
        (Form::Recurrent, _) | (Form::Auto, AdapterKind::Cpu) => ScanForm::Recurrent,
        (Form::Chunked, _) => ScanForm::Chunked(settings.chunk()),
        (Form::Auto, AdapterKind::Gpu) if settings.length() < CHUNKED_FROM => ScanForm::Recurrent,
        (Form::Auto, AdapterKind::Gpu) => ScanForm::Chunked(settings.chunk()),
    }
}
