//! The messages between main and a warden. Both come from the same executable, so there are no versions.

/// A kind and a number, always eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WardenMessage {
    /// To the warden: the grace period of the program in milliseconds.
    GracePeriod(i32),
    /// From the warden: the program runs, with this pid.
    Started(i32),
    /// From the warden: the program could not be started, with this error number.
    NotStarted(i32),
    /// From the warden: the program ended with this wait status, and none of its processes is left.
    Ended(i32),
}

const SIZE: usize = 8;

impl WardenMessage {
    pub(super) fn to_bytes(self) -> [u8; SIZE] {
        let (kind, number) = match self {
            Self::GracePeriod(number) => (1, number),
            Self::Started(number) => (2, number),
            Self::NotStarted(number) => (3, number),
            Self::Ended(number) => (4, number),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, 0, 0, 0, a, b, c, d]
    }

    fn from_bytes(bytes: [u8; SIZE]) -> Option<Self> {
        let [kind, 0, 0, 0, a, b, c, d] = bytes else { return None };
        let number = i32::from_le_bytes([a, b, c, d]);
        match kind {
            1 => Some(Self::GracePeriod(number)),
            2 => Some(Self::Started(number)),
            3 => Some(Self::NotStarted(number)),
            4 => Some(Self::Ended(number)),
            _ => None,
        }
    }
}

/// Assembles messages from bytes that arrive in any pieces, and skips invalid ones.
#[derive(Debug, Default)]
pub(super) struct WardenMessageReader {
    pending: Vec<u8>,
}

impl WardenMessageReader {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<WardenMessage> {
        self.pending.extend_from_slice(bytes);
        let (whole, _) = self.pending.as_chunks::<SIZE>();
        let words = whole.iter().filter_map(|bytes| WardenMessage::from_bytes(*bytes)).collect();
        let used = whole.len() * SIZE;
        self.pending.drain(..used);
        words
    }
}

#[cfg(test)]
mod tests {
    use super::{WardenMessage, WardenMessageReader};

    #[test]
    fn words_survive_any_splitting() {
        let sent = [
            WardenMessage::GracePeriod(3000),
            WardenMessage::Started(77),
            WardenMessage::NotStarted(2),
            WardenMessage::Ended(-1),
            WardenMessage::Ended(0x8b),
        ];
        let bytes: Vec<u8> = sent.iter().flat_map(|word| word.to_bytes()).collect();
        for size in 1..=bytes.len() {
            let mut words = WardenMessageReader::default();
            let received: Vec<WardenMessage> =
                bytes.chunks(size).flat_map(|piece| words.push(piece)).collect();
            assert_eq!(received, sent);
        }
    }

    #[test]
    fn nonsense_is_skipped() {
        let mut words = WardenMessageReader::default();
        assert_eq!(words.push(&[9, 0, 0, 0, 1, 2, 3, 4]), []);
        assert_eq!(words.push(&[1, 1, 0, 0, 1, 2, 3, 4]), []);
        assert_eq!(words.push(&WardenMessage::Started(5).to_bytes()), [WardenMessage::Started(5)]);
    }
}
