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
const MAX_PENDING_SPLICES: usize = 1_024;
/// Entries older than this belong to closed connections.
const MAX_PENDING_TIME: Duration = Duration::from_secs(60);
const ID_DIGITS: usize = 16;

pub(crate) struct PreEncodedAnswers {
    prefix: String,
    finder: Finder<'static>,
    pending: Mutex<PendingAnswers>,
}

#[derive(Default)]
struct PendingAnswers {
    next: u64,
    parts: BTreeMap<u64, (Instant, Bytes)>,
}

impl PreEncodedAnswers {
    pub(crate) fn new(secret: &str) -> Self {
        let prefix = format!("draftboard-splice:{secret}:");
        let finder = Finder::new(format!("\"{prefix}").as_bytes()).into_owned();
        Self { prefix, finder, pending: Mutex::default() }
    }

    /// Stores `json` and returns its placeholder. Returns `None` when too many entries are pending; the caller then
    /// encodes inline.
    pub(crate) fn insert(&self, json: Bytes) -> Option<String> {
        let mut waiting = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.parts.len() >= MAX_PENDING_SPLICES {
            waiting.parts.retain(|_, (since, _)| since.elapsed() < MAX_PENDING_TIME);
            if waiting.parts.len() >= MAX_PENDING_SPLICES {
                return None;
            }
        }
        let id = waiting.next;
        waiting.next += 1;
        waiting.parts.insert(id, (Instant::now(), json));
        Some(format!("{}{id:0ID_DIGITS$x}", self.prefix))
    }

    fn take(&self, id: u64) -> Option<Bytes> {
        let mut waiting = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.parts.remove(&id).map(|(_, json)| json)
    }

    /// Splits the message at its placeholders and returns the pieces in sending order.
    pub(crate) fn fill(&self, message: Bytes) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        let mut rest = message;
        while let Some(at) = self.finder.find(&rest) {
            let digits = at + 1 + self.prefix.len();
            let end = digits + ID_DIGITS + 1;
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

    fn joined(splices: &PreEncodedAnswers, message: String) -> String {
        let pieces = splices.fill(Bytes::from(message));
        String::from_utf8(pieces.concat()).unwrap()
    }

    #[test]
    fn each_placeholder_is_replaced_once() {
        let splices = PreEncodedAnswers::new("secret");
        let one = splices.insert(Bytes::from_static(b"{\"a\":1}")).unwrap();
        let two = splices.insert(Bytes::from_static(b"[2]")).unwrap();
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
        let splices = PreEncodedAnswers::new("secret");
        for _ in 0..MAX_PENDING_SPLICES {
            assert!(splices.insert(Bytes::new()).is_some());
        }
        assert!(splices.insert(Bytes::new()).is_none());
    }
}
