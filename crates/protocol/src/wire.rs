//! Bytes on the message port.

use serde::{Serialize, de::DeserializeOwned};

/// Version of the protocol; page and worker are built together, a cached file of another build is refused with a clear line.
pub const VERSION: u16 = 2;

/// Why bytes are not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The other side was built from another version.
    #[error("the page speaks protocol {ours}, the other side {theirs}: reload the page without its cache")]
    Version {
        /// Ours.
        ours: u16,
        /// Theirs.
        theirs: u16,
    },
    /// Not a message.
    #[error("a message of {len} bytes could not be read: {reason}")]
    Malformed {
        /// Bytes.
        len: usize,
        /// What was wrong.
        reason: String,
    },
}

/// A message as bytes.
pub fn encode<M: Serialize>(message: &M) -> Result<Vec<u8>, WireError> {
    let malformed = |error: postcard::Error| WireError::Malformed { len: 0, reason: error.to_string() };
    let bytes = VERSION.to_le_bytes().to_vec();
    postcard::to_extend(message, bytes).map_err(malformed)
}

/// Bytes as a message.
pub fn decode<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, WireError> {
    let malformed = |reason: String| WireError::Malformed { len: bytes.len(), reason };
    let Some((version, body)) = bytes.split_first_chunk::<2>() else {
        return Err(malformed("too short".to_owned()));
    };
    let theirs = u16::from_le_bytes(*version);
    if theirs != VERSION {
        return Err(WireError::Version { ours: VERSION, theirs });
    }
    postcard::from_bytes(body).map_err(|error| malformed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;

    #[test]
    fn a_message_survives_the_wire() {
        let command = Command::SelfCheck;
        let bytes = encode(&command).unwrap();
        assert_eq!(decode::<Command>(&bytes), Ok(command));
    }

    #[test]
    fn another_version_and_garbage_are_refused() {
        let mut bytes = encode(&Command::Train).unwrap();
        bytes[0] ^= 0xff;
        assert!(matches!(decode::<Command>(&bytes), Err(WireError::Version { .. })));
        assert!(matches!(decode::<Command>(&[1]), Err(WireError::Malformed { .. })));
        assert!(matches!(decode::<Command>(&[VERSION as u8, 0, 250]), Err(WireError::Malformed { .. })));
    }
}
