//! Connected clients. A client reports its own name, which nobody verifies; only the connection is certain. The
//! modern protocol over HTTP has no connection, so clients with the same name and version count as one.

use crate::escape::escape_hidden;
use shared_protocol::mcp::{AgentTransport, McpClientView, McpProtocolEra};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

/// The maximum number of clients. At the limit, the client that was idle longest is removed.
const MAX_CLIENTS: usize = 128;
const MAX_CLIENT_NAME_CHARS: usize = 80;
const UNNAMED: &str = "unnamed";
/// A client without a connection is removed after this idle time.
const MAX_IDLE_MS: u64 = 15 * 60 * 1000;

/// The identity of a client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClientKey {
    /// A legacy session over HTTP.
    Session(String),
    /// One connection to the local socket.
    Bridge(u64),
    /// The name and version that the client reports.
    SelfReported { name: String, version: String },
}

impl ClientKey {
    /// The form stored in the review queue, which outlives the process. `run` is part of it because connection
    /// numbers restart with each run.
    pub(crate) fn storage_key(&self, run: &str) -> String {
        match self {
            Self::Session(id) => {
                let digits: Vec<char> = id.chars().filter(char::is_ascii_alphanumeric).collect();
                format!("session {}", digits[digits.len().saturating_sub(16)..].iter().collect::<String>())
            }
            Self::Bridge(number) => format!("bridge {run}-{number}"),
            Self::SelfReported { name, version } => format!("calls itself {name} {version}"),
        }
    }

    /// Returns whether the key is a real connection and not a self-reported name.
    pub(crate) fn is_connection(&self) -> bool {
        !matches!(self, Self::SelfReported { .. })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ClientIdentity {
    pub(crate) key: ClientKey,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) transport: AgentTransport,
    pub(crate) era: McpProtocolEra,
}

impl ClientIdentity {
    pub(crate) fn new(
        key: Option<ClientKey>,
        claims: Option<(&str, &str)>,
        transport: AgentTransport,
        era: McpProtocolEra,
    ) -> Self {
        let bounded =
            |text: &str| escape_hidden(text).chars().take(MAX_CLIENT_NAME_CHARS).collect::<String>();
        let (name, version) =
            claims.map_or_else(|| (UNNAMED.to_owned(), String::new()), |(n, v)| (bounded(n), bounded(v)));
        let key =
            key.unwrap_or_else(|| ClientKey::SelfReported { name: name.clone(), version: version.clone() });
        Self { key, name, version, transport, era }
    }
}

/// An activity of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClientActivity<'a> {
    /// Connected, or listed tools, resources or prompts.
    List(&'a str),
    Call(&'a str),
    Read(&'a str),
    Subscribe(&'a str),
    Unsubscribe,
}

#[derive(Debug)]
struct ClientEntry {
    view: McpClientView,
    disconnect: CancellationToken,
}

#[derive(Debug)]
pub struct ClientRegistry {
    inner: Mutex<ClientTable>,
    changed: watch::Sender<u64>,
    /// Sessions that a person has disconnected.
    ended: broadcast::Sender<String>,
}

#[derive(Debug, Default)]
struct ClientTable {
    next: u64,
    clients: BTreeMap<ClientKey, ClientEntry>,
}

impl Default for ClientRegistry {
    fn default() -> Self {
        Self { inner: Mutex::default(), changed: watch::Sender::new(0), ended: broadcast::Sender::new(64) }
    }
}

impl ClientRegistry {
    fn lock(&self) -> MutexGuard<'_, ClientTable> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Notified when a client connects, disconnects or acts.
    pub fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(crate) fn ended_sessions(&self) -> broadcast::Receiver<String> {
        self.ended.subscribe()
    }

    /// Records an activity. Returns false when the client is paused.
    pub(crate) fn record_activity(&self, who: &ClientIdentity, act: ClientActivity<'_>, now: u64) -> bool {
        let mut inner = self.lock();
        if !inner.clients.contains_key(&who.key) {
            inner.evict_idle();
            inner.next += 1;
            let entry =
                ClientEntry { view: who.initial_view(inner.next, now), disconnect: CancellationToken::new() };
            inner.clients.insert(who.key.clone(), entry);
        }
        let Some(ClientEntry { view, .. }) = inner.clients.get_mut(&who.key) else { return true };
        view.last = now;
        if view.name == UNNAMED && who.name != UNNAMED {
            // A connection exists before its client reports its name.
            (view.name, view.version, view.era) = (who.name.clone(), who.version.clone(), who.era);
        }
        match act {
            ClientActivity::List(what) => what.clone_into(&mut view.reading),
            ClientActivity::Call(tool) => {
                view.calls += 1;
                tool.clone_into(&mut view.reading);
            }
            ClientActivity::Read(uri) => {
                view.reads += 1;
                uri.clone_into(&mut view.reading);
            }
            ClientActivity::Subscribe(uri) => {
                view.subscriptions += 1;
                uri.clone_into(&mut view.reading);
            }
            ClientActivity::Unsubscribe => view.subscriptions = view.subscriptions.saturating_sub(1),
        }
        let goes_on = !view.paused;
        drop(inner);
        self.notify_changed();
        goes_on
    }

    /// Returns whether a connection with this key text exists.
    pub(crate) fn has_connection(&self, text: &str, run: &str) -> bool {
        self.lock().clients.keys().any(|key| key.is_connection() && key.storage_key(run) == text)
    }

    /// Fires when a person disconnects this client.
    pub(crate) fn disconnect_token(&self, key: &ClientKey) -> Option<CancellationToken> {
        self.lock().clients.get(key).map(|entry| entry.disconnect.clone())
    }

    /// Removes a client that disconnected by itself.
    pub(crate) fn remove(&self, key: &ClientKey) {
        if self.lock().clients.remove(key).is_some() {
            self.notify_changed();
        }
    }

    pub fn list(&self, now: u64) -> Vec<McpClientView> {
        let mut inner = self.lock();
        inner.clients.retain(|key, entry| {
            !matches!(key, ClientKey::SelfReported { .. })
                || entry.view.paused
                || entry.view.subscriptions > 0
                || now.saturating_sub(entry.view.last) < MAX_IDLE_MS
        });
        let mut clients: Vec<McpClientView> =
            inner.clients.values().map(|entry| entry.view.clone()).collect();
        clients.sort_by_key(|client| client.id);
        clients
    }

    /// Returns false when the client does not exist.
    pub fn pause(&self, id: u64, paused: bool) -> bool {
        let mut inner = self.lock();
        let found = inner.clients.values_mut().find(|entry| entry.view.id == id);
        let is_there = found.map(|entry| entry.view.paused = paused).is_some();
        drop(inner);
        self.notify_changed();
        is_there
    }

    /// Closes a client's connection and streams. The client may reconnect; pause it to keep it out.
    pub fn disconnect(&self, id: u64) -> bool {
        let mut inner = self.lock();
        let Some(key) =
            inner.clients.iter().find(|(_, entry)| entry.view.id == id).map(|(key, _)| key.clone())
        else {
            return false;
        };
        if let Some(entry) = inner.clients.remove(&key) {
            entry.disconnect.cancel();
        }
        drop(inner);
        if let ClientKey::Session(session) = key {
            // Sending fails only when HTTP is not served.
            let _ = self.ended.send(session);
        }
        self.notify_changed();
        true
    }

    /// Disconnects all clients at shutdown.
    pub(crate) fn disconnect_all(&self) {
        let ids: Vec<u64> = self.lock().clients.values().map(|entry| entry.view.id).collect();
        for id in ids {
            self.disconnect(id);
        }
    }

    /// Legacy sessions: the first characters of each id, and the client.
    pub(crate) fn legacy_sessions(&self) -> Vec<(String, McpClientView)> {
        let inner = self.lock();
        let session = |(key, entry): (&ClientKey, &ClientEntry)| match key {
            ClientKey::Session(id) => Some((id.chars().take(8).collect(), entry.view.clone())),
            _ => None,
        };
        inner.clients.iter().filter_map(session).collect()
    }
}

impl ClientTable {
    fn evict_idle(&mut self) {
        if self.clients.len() < MAX_CLIENTS {
            return;
        }
        let quietest =
            self.clients.iter().min_by_key(|(_, entry)| entry.view.last).map(|(key, _)| key.clone());
        if let Some(entry) = quietest.and_then(|key| self.clients.remove(&key)) {
            entry.disconnect.cancel();
        }
    }
}

impl ClientIdentity {
    fn initial_view(&self, id: u64, now: u64) -> McpClientView {
        McpClientView {
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
            connected: !matches!(self.key, ClientKey::SelfReported { .. }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(name: &str) -> ClientIdentity {
        ClientIdentity::new(None, Some((name, "1")), AgentTransport::Http, McpProtocolEra::Modern)
    }

    #[test]
    fn a_client_is_known_by_what_it_does() {
        let clients = ClientRegistry::default();
        assert!(clients.record_activity(&claimed("a"), ClientActivity::Call("get_diagram"), 5));
        assert!(clients.record_activity(&claimed("a"), ClientActivity::Read("draftboard://x"), 6));
        assert!(clients.record_activity(&claimed("b"), ClientActivity::List("tools"), 7));
        let list = clients.list(8);
        assert_eq!(list.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(
            (list[0].calls, list[0].reads, list[0].last, list[0].reading.as_str()),
            (1, 1, 6, "draftboard://x")
        );
        assert!(clients.pause(list[0].id, true));
        assert!(!clients.record_activity(&claimed("a"), ClientActivity::Call("x"), 9));
        assert!(
            clients.pause(list[0].id, false)
                && clients.record_activity(&claimed("a"), ClientActivity::Call("x"), 9)
        );
        assert!(!clients.pause(99, true) && !clients.disconnect(99));
    }

    #[test]
    fn a_disconnected_client_hears_of_it_and_quiet_ones_are_forgotten() {
        let clients = ClientRegistry::default();
        clients.record_activity(&claimed("a"), ClientActivity::List("tools"), 0);
        let end = clients.disconnect_token(&claimed("a").key).unwrap();
        let mut ended = clients.ended_sessions();
        let session = ClientIdentity { key: ClientKey::Session("s1".to_owned()), ..claimed("s") };
        clients.record_activity(&session, ClientActivity::List("tools"), 0);
        for client in clients.list(1) {
            assert!(clients.disconnect(client.id));
        }
        assert!(end.is_cancelled());
        assert_eq!(ended.try_recv().unwrap(), "s1");
        clients.record_activity(&claimed("c"), ClientActivity::List("tools"), 0);
        assert!(clients.list(MAX_IDLE_MS + 1).is_empty());
        for index in 0..1_000 {
            clients.record_activity(&claimed(&index.to_string()), ClientActivity::List("tools"), index);
        }
        assert!(clients.list(1_000).len() <= MAX_CLIENTS);
    }
}
