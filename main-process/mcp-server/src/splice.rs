//! Large answers are encoded once and sent as they are. The protocol library carries a placeholder that is replaced
//! by the bytes on the way out, because re-encoding a value tree for each call would dominate its cost.
//!
//! A placeholder contains a secret of this process that never leaves it, so no document text can be mistaken for one.

use bytes::Bytes;
use memchr::memmem::Finder;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The maximum number of answers between the handler and the wire.
const MOST_WAITING: usize = 1_024;
/// Entries older than this belong to closed connections.
const WAITING_LIMIT: Duration = Duration::from_secs(60);
const DIGITS: usize = 16;

pub(crate) struct Splices {
    prefix: String,
    finder: Finder<'static>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    parts: BTreeMap<u64, (Instant, Bytes)>,
}

impl Splices {
    pub(crate) fn new(secret: &str) -> Self {
        let prefix = format!("draftboard-splice:{secret}:");
        let finder = Finder::new(format!("\"{prefix}").as_bytes()).into_owned();
        Self { prefix, finder, waiting: Mutex::default() }
    }

    /// Stores `json` and returns its placeholder. Returns `None` when too many entries are pending; the caller then
    /// encodes inline.
    pub(crate) fn leave(&self, json: Bytes) -> Option<String> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.parts.len() >= MOST_WAITING {
            waiting.parts.retain(|_, (since, _)| since.elapsed() < WAITING_LIMIT);
            if waiting.parts.len() >= MOST_WAITING {
                return None;
            }
        }
        let id = waiting.next;
        waiting.next += 1;
        waiting.parts.insert(id, (Instant::now(), json));
        Some(format!("{}{id:0DIGITS$x}", self.prefix))
    }

    fn take(&self, id: u64) -> Option<Bytes> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.parts.remove(&id).map(|(_, json)| json)
    }

    /// Splits the message at its placeholders and returns the pieces in sending order.
    pub(crate) fn fill(&self, message: Bytes) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        let mut rest = message;
        while let Some(at) = self.finder.find(&rest) {
            let digits = at + 1 + self.prefix.len();
            let end = digits + DIGITS + 1;
            let id = rest
                .get(digits..end - 1)
                .and_then(|digits| std::str::from_utf8(digits).ok())
                .and_then(|digits| u64::from_str_radix(digits, 16).ok());
            let Some(json) = id.and_then(|id| self.take(id)) else { break };
            pieces.push(rest.split_to(at));
            pieces.push(json);
            // Drops the placeholder with both quotes.
            let _ = rest.split_to((end - at).min(rest.len()));
        }
        pieces.push(rest);
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(splices: &Splices, message: String) -> String {
        let pieces = splices.fill(Bytes::from(message));
        String::from_utf8(pieces.concat()).unwrap()
    }

    #[test]
    fn each_placeholder_is_replaced_once() {
        let splices = Splices::new("secret");
        let one = splices.leave(Bytes::from_static(b"{\"a\":1}")).unwrap();
        let two = splices.leave(Bytes::from_static(b"[2]")).unwrap();
        let message = format!("{{\"x\":\"{two}\",\"y\":\"{one}\"}}");
        assert_eq!(joined(&splices, message.clone()), r#"{"x":[2],"y":{"a":1}}"#);
        assert_eq!(joined(&splices, message.clone()), message);
        assert_eq!(
            joined(&splices, "\"draftboard-splice:other:00\"".to_owned()),
            "\"draftboard-splice:other:00\""
        );
        assert_eq!(joined(&splices, String::new()), "");
    }

    #[test]
    fn those_that_wait_are_bounded() {
        let splices = Splices::new("secret");
        for _ in 0..MOST_WAITING {
            assert!(splices.leave(Bytes::new()).is_some());
        }
        assert!(splices.leave(Bytes::new()).is_none());
    }
}
