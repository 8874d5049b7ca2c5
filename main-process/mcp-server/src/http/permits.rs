//! Limits the concurrent requests per client.

use serde::Deserialize;
use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Clone)]
pub(super) struct Permits {
    most: usize,
    /// Only looked up; never iterated.
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

/// Released when dropped.
pub(super) struct Permit {
    client: String,
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

impl Permits {
    pub(super) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// Returns `Err` with the limit when the client has that many requests in flight.
    pub(super) fn take(&self, client: String) -> Result<Permit, usize> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(client.clone()).or_default();
        if *count >= self.most {
            return Err(self.most);
        }
        *count += 1;
        Ok(Permit { client, taken: Arc::clone(&self.taken) })
    }
}

impl Drop for Permit {
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
pub(super) struct Asked {
    pub(super) client: String,
    /// A stream stays open, so it does not count as a request in flight.
    pub(super) is_stream: bool,
}

#[derive(Default, Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Params<'a>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(rename = "_meta", borrow, default)]
    meta: Meta<'a>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/clientInfo", borrow, default)]
    client: Client<'a>,
}

#[derive(Default, Deserialize)]
struct Client<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    version: Cow<'a, str>,
}

impl Asked {
    pub(super) fn read(session: Option<&str>, body: &[u8]) -> Self {
        // The protocol library rejects malformed messages.
        let message: Message<'_> = serde_json::from_slice(body).unwrap_or_default();
        let Client { name, version } = message.params.meta.client;
        let client = session.map_or_else(|| format!("{name} {version}"), str::to_owned);
        Self { client, is_stream: body.is_empty() || message.method == "subscriptions/listen" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_counted_apart_and_places_come_back() {
        let permits = Permits::new(2);
        let first = permits.take("a".to_owned()).ok();
        let second = permits.take("a".to_owned()).ok();
        assert!(first.is_some() && second.is_some());
        assert_eq!(permits.take("a".to_owned()).err(), Some(2));
        assert!(permits.take("b".to_owned()).is_ok());
        drop(first);
        assert!(permits.take("a".to_owned()).is_ok());
        drop(second);
        assert!(permits.taken.lock().unwrap().is_empty());
    }

    #[test]
    fn a_request_says_who_asks() {
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"n\u00e9","version":"2"}}}}"#;
        assert_eq!(Asked::read(None, body).client, "né 2");
        assert_eq!(Asked::read(Some("s"), body).client, "s");
        assert!(!Asked::read(None, body).is_stream);
        assert!(Asked::read(None, br#"{"method":"subscriptions/listen"}"#).is_stream);
        assert_eq!(Asked::read(None, b"[1").client, " ");
    }
}
