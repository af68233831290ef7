//! Whether the worker lives, and on what it computes.

use palimpsest_protocol::{Adapter, Event, Fallback};

/// The other end of the message port.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorkerLink {
    /// What computes; `None` until the worker has said so.
    pub(crate) adapter: Option<Adapter>,
    /// Why it is the CPU, if it is.
    pub(crate) fallback: Option<Fallback>,
    /// Why nothing more will come, if so.
    pub(crate) dead: Option<String>,
    /// The last command that could not be carried out.
    pub(crate) refused: Option<String>,
}

impl WorkerLink {
    /// Learns from an event.
    pub(crate) fn apply(&mut self, event: &Event) -> bool {
        match event {
            Event::Device { adapter, fallback } => {
                self.adapter = Some(adapter.clone());
                self.fallback = fallback.clone();
            }
            Event::Opened { facts, .. } if self.adapter.as_ref() != Some(&facts.adapter) => self.adapter = Some(facts.adapter.clone()),
            Event::Refused(sentence) => self.refused = Some(sentence.clone()),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palimpsest_protocol::AdapterKind;

    #[test]
    fn a_lost_device_replaces_the_adapter() {
        let mut link = WorkerLink::default();
        let adapter = |kind, name: &str| Adapter { kind, name: name.into(), interface: "test".into() };
        assert!(link.apply(&Event::Device { adapter: adapter(AdapterKind::Gpu, "card"), fallback: None }));
        let lost = Some(Fallback::DeviceLost("gone".into()));
        assert!(link.apply(&Event::Device { adapter: adapter(AdapterKind::Cpu, "cpu"), fallback: lost.clone() }));
        assert_eq!(link.adapter.as_ref().map(|a| a.kind), Some(AdapterKind::Cpu));
        assert_eq!(link.fallback, lost);
        assert!(!link.apply(&Event::CheckDone { passed: 0, failed: 0, cut: None }));
    }
}
