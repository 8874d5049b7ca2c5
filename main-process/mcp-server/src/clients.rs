//! Connected clients. A client reports its own name, which nobody verifies; only the connection is certain. The
//! modern protocol over HTTP has no connection, so clients with the same name and version count as one.

use crate::shown;
use shared_protocol::mcp::{McpClient, McpEra, McpTransport};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

/// The maximum number of clients. At the limit, the client that was idle longest is removed.
const MOST_CLIENTS: usize = 128;
const MOST_NAME: usize = 80;
const UNNAMED: &str = "unnamed";
/// A client without a connection is removed after this idle time.
const QUIET_LIMIT_MS: u64 = 15 * 60 * 1000;

/// The identity of a client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// A legacy session over HTTP.
    Session(String),
    /// One connection to the local socket.
    Bridge(u64),
    /// The name and version that the client reports.
    Claimed { name: String, version: String },
}

impl Key {
    /// The form stored in the review queue, which outlives the process. `run` is part of it because connection
    /// numbers restart with each run.
    pub(crate) fn text(&self, run: &str) -> String {
        match self {
            Self::Session(id) => {
                let digits: Vec<char> = id.chars().filter(char::is_ascii_alphanumeric).collect();
                format!("session {}", digits[digits.len().saturating_sub(16)..].iter().collect::<String>())
            }
            Self::Bridge(number) => format!("bridge {run}-{number}"),
            Self::Claimed { name, version } => format!("calls itself {name} {version}"),
        }
    }

    /// Returns whether the key is a real connection and not a self-reported name.
    pub(crate) fn is_connection(&self) -> bool {
        !matches!(self, Self::Claimed { .. })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub(crate) key: Key,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) transport: McpTransport,
    pub(crate) era: McpEra,
}

impl Who {
    pub(crate) fn new(
        key: Option<Key>,
        claims: Option<(&str, &str)>,
        transport: McpTransport,
        era: McpEra,
    ) -> Self {
        let bounded = |text: &str| shown(text).chars().take(MOST_NAME).collect::<String>();
        let (name, version) =
            claims.map_or_else(|| (UNNAMED.to_owned(), String::new()), |(n, v)| (bounded(n), bounded(v)));
        let key = key.unwrap_or_else(|| Key::Claimed { name: name.clone(), version: version.clone() });
        Self { key, name, version, transport, era }
    }
}

/// An activity of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act<'a> {
    /// Connected, or listed tools, resources or prompts.
    Look(&'a str),
    Call(&'a str),
    Read(&'a str),
    Subscribe(&'a str),
    Unsubscribe,
}

#[derive(Debug)]
struct Entry {
    view: McpClient,
    end: CancellationToken,
}

#[derive(Debug)]
pub struct Clients {
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
    /// Sessions that a person has disconnected.
    ended: broadcast::Sender<String>,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    known: BTreeMap<Key, Entry>,
}

impl Default for Clients {
    fn default() -> Self {
        Self { inner: Mutex::default(), changed: watch::Sender::new(0), ended: broadcast::Sender::new(64) }
    }
}

impl Clients {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Notified when a client connects, disconnects or acts.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(crate) fn ended(&self) -> broadcast::Receiver<String> {
        self.ended.subscribe()
    }

    /// Records an activity. Returns false when the client is paused.
    pub(crate) fn note(&self, who: &Who, act: Act<'_>, now: u64) -> bool {
        let mut inner = self.lock();
        if !inner.known.contains_key(&who.key) {
            inner.make_room();
            inner.next += 1;
            let entry = Entry { view: who.first_seen(inner.next, now), end: CancellationToken::new() };
            inner.known.insert(who.key.clone(), entry);
        }
        let Some(Entry { view, .. }) = inner.known.get_mut(&who.key) else { return true };
        view.last = now;
        if view.name == UNNAMED && who.name != UNNAMED {
            // A connection exists before its client reports its name.
            (view.name, view.version, view.era) = (who.name.clone(), who.version.clone(), who.era);
        }
        match act {
            Act::Look(what) => what.clone_into(&mut view.reading),
            Act::Call(tool) => {
                view.calls += 1;
                tool.clone_into(&mut view.reading);
            }
            Act::Read(uri) => {
                view.reads += 1;
                uri.clone_into(&mut view.reading);
            }
            Act::Subscribe(uri) => {
                view.subscriptions += 1;
                uri.clone_into(&mut view.reading);
            }
            Act::Unsubscribe => view.subscriptions = view.subscriptions.saturating_sub(1),
        }
        let goes_on = !view.paused;
        drop(inner);
        self.tell();
        goes_on
    }

    /// Returns whether a connection with this key text exists.
    pub(crate) fn has_connection(&self, text: &str, run: &str) -> bool {
        self.lock().known.keys().any(|key| key.is_connection() && key.text(run) == text)
    }

    /// Fires when a person disconnects this client.
    pub(crate) fn end_of(&self, key: &Key) -> Option<CancellationToken> {
        self.lock().known.get(key).map(|entry| entry.end.clone())
    }

    /// Removes a client that disconnected by itself.
    pub(crate) fn gone(&self, key: &Key) {
        if self.lock().known.remove(key).is_some() {
            self.tell();
        }
    }

    pub fn list(&self, now: u64) -> Vec<McpClient> {
        let mut inner = self.lock();
        inner.known.retain(|key, entry| {
            !matches!(key, Key::Claimed { .. })
                || entry.view.paused
                || entry.view.subscriptions > 0
                || now.saturating_sub(entry.view.last) < QUIET_LIMIT_MS
        });
        let mut clients: Vec<McpClient> = inner.known.values().map(|entry| entry.view.clone()).collect();
        clients.sort_by_key(|client| client.id);
        clients
    }

    /// Returns false when the client does not exist.
    pub fn pause(&self, id: u64, paused: bool) -> bool {
        let mut inner = self.lock();
        let found = inner.known.values_mut().find(|entry| entry.view.id == id);
        let is_there = found.map(|entry| entry.view.paused = paused).is_some();
        drop(inner);
        self.tell();
        is_there
    }

    /// Closes a client's connection and streams. The client may reconnect; pause it to keep it out.
    pub fn disconnect(&self, id: u64) -> bool {
        let mut inner = self.lock();
        let Some(key) = inner.known.iter().find(|(_, entry)| entry.view.id == id).map(|(key, _)| key.clone())
        else {
            return false;
        };
        if let Some(entry) = inner.known.remove(&key) {
            entry.end.cancel();
        }
        drop(inner);
        if let Key::Session(session) = key {
            // Sending fails only when HTTP is not served.
            let _ = self.ended.send(session);
        }
        self.tell();
        true
    }

    /// Disconnects all clients at shutdown.
    pub(crate) fn disconnect_all(&self) {
        let ids: Vec<u64> = self.lock().known.values().map(|entry| entry.view.id).collect();
        for id in ids {
            self.disconnect(id);
        }
    }

    /// Legacy sessions: the first characters of each id, and the client.
    pub(crate) fn sessions(&self) -> Vec<(String, McpClient)> {
        let inner = self.lock();
        let session = |(key, entry): (&Key, &Entry)| match key {
            Key::Session(id) => Some((id.chars().take(8).collect(), entry.view.clone())),
            _ => None,
        };
        inner.known.iter().filter_map(session).collect()
    }
}

impl Inner {
    fn make_room(&mut self) {
        if self.known.len() < MOST_CLIENTS {
            return;
        }
        let quietest = self.known.iter().min_by_key(|(_, entry)| entry.view.last).map(|(key, _)| key.clone());
        if let Some(entry) = quietest.and_then(|key| self.known.remove(&key)) {
            entry.end.cancel();
        }
    }
}

impl Who {
    fn first_seen(&self, id: u64, now: u64) -> McpClient {
        McpClient {
            id,
            name: self.name.clone(),
            version: self.version.clone(),
            transport: self.transport,
            era: self.era,
            since: now,
            last: now,
            reading: String::new(),
            calls: 0,
            reads: 0,
            subscriptions: 0,
            paused: false,
            connected: !matches!(self.key, Key::Claimed { .. }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(name: &str) -> Who {
        Who::new(None, Some((name, "1")), McpTransport::Http, McpEra::Modern)
    }

    #[test]
    fn a_client_is_known_by_what_it_does() {
        let clients = Clients::default();
        assert!(clients.note(&claimed("a"), Act::Call("get_diagram"), 5));
        assert!(clients.note(&claimed("a"), Act::Read("draftboard://x"), 6));
        assert!(clients.note(&claimed("b"), Act::Look("tools"), 7));
        let list = clients.list(8);
        assert_eq!(list.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(
            (list[0].calls, list[0].reads, list[0].last, list[0].reading.as_str()),
            (1, 1, 6, "draftboard://x")
        );
        assert!(clients.pause(list[0].id, true));
        assert!(!clients.note(&claimed("a"), Act::Call("x"), 9));
        assert!(clients.pause(list[0].id, false) && clients.note(&claimed("a"), Act::Call("x"), 9));
        assert!(!clients.pause(99, true) && !clients.disconnect(99));
    }

    #[test]
    fn a_disconnected_client_hears_of_it_and_quiet_ones_are_forgotten() {
        let clients = Clients::default();
        clients.note(&claimed("a"), Act::Look("tools"), 0);
        let end = clients.end_of(&claimed("a").key).unwrap();
        let mut ended = clients.ended();
        let session = Who { key: Key::Session("s1".to_owned()), ..claimed("s") };
        clients.note(&session, Act::Look("tools"), 0);
        for client in clients.list(1) {
            assert!(clients.disconnect(client.id));
        }
        assert!(end.is_cancelled());
        assert_eq!(ended.try_recv().unwrap(), "s1");
        clients.note(&claimed("c"), Act::Look("tools"), 0);
        assert!(clients.list(QUIET_LIMIT_MS + 1).is_empty());
        for index in 0..1_000 {
            clients.note(&claimed(&index.to_string()), Act::Look("tools"), index);
        }
        assert!(clients.list(1_000).len() <= MOST_CLIENTS);
    }
}
