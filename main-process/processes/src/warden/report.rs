//! The few words that main and a warden exchange. Both come from the same executable, so there are no
//! versions.

/// One kind of message and one number, always eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// To the warden: how many milliseconds the program gets to end by itself.
    Grace(i32),
    /// From the warden: the program runs, with this pid.
    Started(i32),
    /// From the warden: the system refused, with this error number.
    NotStarted(i32),
    /// From the warden: the program ended with this wait status, and nothing of it is left.
    Ended(i32),
}

const SIZE: usize = 8;

impl Word {
    pub(super) fn to_bytes(self) -> [u8; SIZE] {
        let (kind, number) = match self {
            Self::Grace(number) => (1, number),
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
            1 => Some(Self::Grace(number)),
            2 => Some(Self::Started(number)),
            3 => Some(Self::NotStarted(number)),
            4 => Some(Self::Ended(number)),
            _ => None,
        }
    }
}

/// Puts words together from bytes that arrive in any pieces; what is no word is skipped.
#[derive(Debug, Default)]
pub(super) struct Words {
    pending: Vec<u8>,
}

impl Words {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Word> {
        self.pending.extend_from_slice(bytes);
        let (whole, _) = self.pending.as_chunks::<SIZE>();
        let words = whole.iter().filter_map(|bytes| Word::from_bytes(*bytes)).collect();
        let used = whole.len() * SIZE;
        self.pending.drain(..used);
        words
    }
}

#[cfg(test)]
mod tests {
    use super::{Word, Words};

    #[test]
    fn words_survive_any_splitting() {
        let sent =
            [Word::Grace(3000), Word::Started(77), Word::NotStarted(2), Word::Ended(-1), Word::Ended(0x8b)];
        let bytes: Vec<u8> = sent.iter().flat_map(|word| word.to_bytes()).collect();
        for size in 1..=bytes.len() {
            let mut words = Words::default();
            let received: Vec<Word> = bytes.chunks(size).flat_map(|piece| words.push(piece)).collect();
            assert_eq!(received, sent);
        }
    }

    #[test]
    fn nonsense_is_skipped() {
        let mut words = Words::default();
        assert_eq!(words.push(&[9, 0, 0, 0, 1, 2, 3, 4]), []);
        assert_eq!(words.push(&[1, 1, 0, 0, 1, 2, 3, 4]), []);
        assert_eq!(words.push(&Word::Started(5).to_bytes()), [Word::Started(5)]);
    }
}
