//! The connection to Draftboard: connecting, retrying with backoff, resuming the session.

use super::{BridgeAction, BridgeCore, BridgeOwnRequest};
use crate::{
    message::{JsonRpcRequest, notification},
    refusal,
    surface::McpListKind,
};
use serde_json::{Value, json};
use std::time::Duration;

const INITIAL_BACKOFF: Duration = Duration::from_millis(200);
const MAX_BACKOFF: Duration = Duration::from_secs(5);
const MAX_RETRIES: u32 = 5;

/// The state of the connection to Draftboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BridgeConnectionState {
    /// The client has sent no request yet. Some clients start a bridge only to inspect it, so it does not connect.
    Idle,
    /// A connection attempt is in progress.
    Connecting(ConnectAttempts),
    /// Waiting for the next attempt.
    Waiting(ConnectAttempts),
    /// Connected; the session is being replayed.
    Resuming(ConnectAttempts),
    Connected,
    /// Draftboard is unreachable. Every call makes one attempt; open sessions and streams retry periodically.
    Unreachable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectAttempts {
    left: u32,
    wait: Duration,
    launched: bool,
}

impl ConnectAttempts {
    fn single() -> Self {
        Self { left: 0, wait: INITIAL_BACKOFF, launched: false }
    }

    fn repeated(launched: bool) -> Self {
        Self { left: MAX_RETRIES, wait: INITIAL_BACKOFF, launched }
    }
}

impl BridgeConnectionState {
    pub(super) fn is_connected(self) -> bool {
        self == Self::Connected
    }
}

/// Returns whether a request justifies starting Draftboard. Handshakes do not: the client may only inspect the server.
fn needs_draftboard(request: &JsonRpcRequest) -> bool {
    !matches!(request.method.as_str(), "initialize" | "server/discover" | "ping")
}

impl BridgeCore {
    /// Starts a connection attempt unless one is already in progress.
    pub(super) fn connect_if_needed(&mut self) {
        if matches!(self.connection, BridgeConnectionState::Idle | BridgeConnectionState::Unreachable) {
            self.connection = BridgeConnectionState::Connecting(ConnectAttempts::single());
            self.actions.push(BridgeAction::Connect);
        }
    }

    pub(super) fn on_retry_due(&mut self) {
        match self.connection {
            BridgeConnectionState::Waiting(attempts) => {
                self.connection = BridgeConnectionState::Connecting(ConnectAttempts {
                    left: attempts.left.saturating_sub(1),
                    ..attempts
                });
                self.actions.push(BridgeAction::Connect);
            }
            BridgeConnectionState::Unreachable => self.connect_if_needed(),
            BridgeConnectionState::Idle
            | BridgeConnectionState::Connecting(_)
            | BridgeConnectionState::Resuming(_)
            | BridgeConnectionState::Connected => {}
        }
    }

    pub(super) fn on_connected(&mut self) {
        let attempts = match self.connection {
            BridgeConnectionState::Connecting(attempts) => attempts,
            _ => ConnectAttempts::single(),
        };
        match self.session.initialize_params.clone() {
            Some(hello) => {
                self.connection = BridgeConnectionState::Resuming(attempts);
                self.send_own_request(BridgeOwnRequest::Initialize, "initialize", hello);
            }
            // Draftboard closes silent connections, so an unused one is not kept.
            None if self.listens.is_empty() && self.queued.is_empty() => {
                self.connection = BridgeConnectionState::Idle;
                self.actions.push(BridgeAction::Disconnect);
            }
            None => self.start_forwarding(),
        }
    }

    /// Replays the rest of the session after `initialize` succeeded on the new connection.
    pub(super) fn resume_session(&mut self) {
        if self.session.initialized {
            self.send_to_server(&notification("notifications/initialized", Value::Null));
        }
        let uris: Vec<String> = self.session.subscriptions.iter().cloned().collect();
        for uri in uris {
            self.send_own_request(BridgeOwnRequest::Subscribe, "resources/subscribe", json!({ "uri": uri }));
        }
        self.start_forwarding();
    }

    fn start_forwarding(&mut self) {
        self.connection = BridgeConnectionState::Connected;
        let listens: Vec<Vec<u8>> = self.listens.values().map(|listen| listen.line.clone()).collect();
        self.actions.extend(listens.into_iter().map(BridgeAction::ToServer));
        self.notify_all_updated();
        for (line, request) in std::mem::take(&mut self.queued) {
            self.forward(line, request);
        }
        let lists: Vec<(McpListKind, Value)> = self
            .cached_lists
            .iter()
            .map(|(list, seen)| {
                (*list, seen.meta.as_ref().map_or(json!({}), |meta| json!({ "_meta": meta })))
            })
            .collect();
        for (list, params) in lists {
            self.send_own_request(BridgeOwnRequest::List(list), list.method(), params);
        }
    }

    pub(super) fn on_connection_lost(&mut self, reason: &str) {
        let attempts = match self.connection {
            BridgeConnectionState::Idle => return,
            BridgeConnectionState::Resuming(attempts) => attempts,
            _ => ConnectAttempts::repeated(false),
        };
        tracing::warn!(reason, "lost the connection to Draftboard");
        self.own_requests.clear();
        for (_, id) in std::mem::take(&mut self.server_requests) {
            self.send_to_client(&notification("notifications/cancelled", json!({ "requestId": id })));
        }
        for (_, request) in std::mem::take(&mut self.in_flight) {
            if !self.answer_offline(&request) {
                self.refuse(&request, &refusal::connection_lost());
            }
        }
        self.retry_or_give_up(attempts, reason);
    }

    pub(super) fn on_unreachable(&mut self, reason: &str) {
        match self.connection {
            BridgeConnectionState::Connecting(attempts) => self.retry_or_give_up(attempts, reason),
            BridgeConnectionState::Idle
            | BridgeConnectionState::Waiting(_)
            | BridgeConnectionState::Resuming(_)
            | BridgeConnectionState::Connected
            | BridgeConnectionState::Unreachable => {}
        }
    }

    fn retry_or_give_up(&mut self, mut attempts: ConnectAttempts, reason: &str) {
        let wanted =
            self.queued.iter().any(|(_, request)| needs_draftboard(request)) || !self.listens.is_empty();
        if attempts.left == 0 && self.settings.may_launch && wanted && !attempts.launched {
            self.actions.push(BridgeAction::Launch);
            attempts = ConnectAttempts::repeated(true);
        }
        if attempts.left > 0 {
            self.actions.push(BridgeAction::ConnectAfter(attempts.wait));
            let wait = (attempts.wait * 2).min(MAX_BACKOFF);
            self.connection = BridgeConnectionState::Waiting(ConnectAttempts { wait, ..attempts });
            return;
        }
        tracing::info!(reason, "Draftboard is not reachable");
        self.connection = BridgeConnectionState::Unreachable;
        let refusal = refusal::not_reachable(reason, &self.settings.start_hint);
        for (_, request) in std::mem::take(&mut self.queued) {
            if !self.answer_offline(&request) {
                self.refuse(&request, &refusal);
            }
        }
        self.acknowledge_offline();
        if self.session.initialize_params.is_some() || !self.listens.is_empty() {
            self.actions.push(BridgeAction::ConnectAfter(MAX_BACKOFF));
        }
    }
}
