//! What a browser tells of a GPU, as a name.

/// A browser's `GPUAdapterInfo`; any part may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AdapterInfo {
    /// Who made it, as `nvidia`.
    pub(crate) vendor: String,
    /// Its family, as `hopper`.
    pub(crate) architecture: String,
    /// Its number with the vendor, as `0x2330`.
    pub(crate) device: String,
    /// The driver's words, as `NVIDIA H200`.
    pub(crate) description: String,
}

impl AdapterInfo {
    /// The description, or what else there is; `None` when all is empty.
    pub(crate) fn name(&self) -> Option<String> {
        let AdapterInfo { vendor, architecture, device, description } = self;
        let parts: &[&String] = if description.trim().is_empty() { &[vendor, architecture, device] } else { &[description] };
        let words: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_is_named_by_what_the_browser_tells() {
        let info = |vendor: &str, architecture: &str, description: &str| AdapterInfo {
            vendor: vendor.into(),
            architecture: architecture.into(),
            device: String::new(),
            description: description.into(),
        };
        assert_eq!(info("google", "swiftshader", "").name().as_deref(), Some("google swiftshader"));
        assert_eq!(info("nvidia", "hopper", "NVIDIA H200").name().as_deref(), Some("NVIDIA H200"));
        assert_eq!(info("apple", "", " ").name().as_deref(), Some("apple"));
        assert_eq!(AdapterInfo::default().name(), None);
    }
}
