//! Limits the concurrent requests per client.

use serde::Deserialize;
use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Clone)]
pub(super) struct RequestPermits {
    most: usize,
    /// Only looked up; never iterated.
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

/// Released when dropped.
pub(super) struct RequestPermit {
    client: String,
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

impl RequestPermits {
    pub(super) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// Returns `Err` with the limit when the client has that many requests in flight.
    pub(super) fn acquire(&self, client: String) -> Result<RequestPermit, usize> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(client.clone()).or_default();
        if *count >= self.most {
            return Err(self.most);
        }
        *count += 1;
        Ok(RequestPermit { client, taken: Arc::clone(&self.taken) })
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.client);
            }
        }
    }
}

/// Facts read from a request before the protocol library parses it.
pub(super) struct RequestFacts {
    pub(super) client: String,
    /// A stream stays open, so it does not count as a request in flight.
    pub(super) is_stream: bool,
}

#[derive(Default, Deserialize)]
struct PeekedMessage<'a> {
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: PeekedParams<'a>,
}

#[derive(Default, Deserialize)]
struct PeekedParams<'a> {
    #[serde(rename = "_meta", borrow, default)]
    meta: PeekedMeta<'a>,
}

#[derive(Default, Deserialize)]
struct PeekedMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/clientInfo", borrow, default)]
    client: PeekedClient<'a>,
}

#[derive(Default, Deserialize)]
struct PeekedClient<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    version: Cow<'a, str>,
}

impl RequestFacts {
    pub(super) fn peek(session: Option<&str>, body: &[u8]) -> Self {
        // The protocol library rejects malformed messages.
        let message: PeekedMessage<'_> = serde_json::from_slice(body).unwrap_or_default();
        let PeekedClient { name, version } = message.params.meta.client;
        let client = session.map_or_else(|| format!("{name} {version}"), str::to_owned);
        Self { client, is_stream: body.is_empty() || message.method == "subscriptions/listen" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_counted_apart_and_places_come_back() {
        let permits = RequestPermits::new(2);
        let first = permits.acquire("a".to_owned()).ok();
        let second = permits.acquire("a".to_owned()).ok();
        assert!(first.is_some() && second.is_some());
        assert_eq!(permits.acquire("a".to_owned()).err(), Some(2));
        assert!(permits.acquire("b".to_owned()).is_ok());
        drop(first);
        assert!(permits.acquire("a".to_owned()).is_ok());
        drop(second);
        assert!(permits.taken.lock().unwrap().is_empty());
    }

    #[test]
    fn a_request_says_who_asks() {
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"n\u00e9","version":"2"}}}}"#;
        assert_eq!(RequestFacts::peek(None, body).client, "né 2");
        assert_eq!(RequestFacts::peek(Some("s"), body).client, "s");
        assert!(!RequestFacts::peek(None, body).is_stream);
        assert!(RequestFacts::peek(None, br#"{"method":"subscriptions/listen"}"#).is_stream);
        assert_eq!(RequestFacts::peek(None, b"[1").client, " ");
    }
}
