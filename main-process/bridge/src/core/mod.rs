//! The bridge's decisions, without side effects: no clock, no socket, no thread. The pump passes in each event and
//! executes the actions that [`BridgeCore::handle`] returns.

mod client;
mod connection;
mod server;
#[cfg(test)]
mod tests;

use crate::{
    message::{JsonRpcRequest, RequestKey, SUBSCRIPTION_KEY, notification, request_key},
    refusal,
    surface::{McpListKind, OfflineSurface},
};
use connection::BridgeConnectionState;
use serde_json::{Value, json};
use shared_protocol::Refusal;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

/// The maximum number of requests that wait for an answer at one time.
pub(crate) const MAX_OPEN_REQUESTS: usize = 256;
/// The grace period for open calls after the client disconnects; MCP hosts kill the process after two or three seconds.
pub(crate) const SHUTDOWN_GRACE_PERIOD: Duration = Duration::from_millis(1500);

/// An event for the core.
#[derive(Debug)]
pub(crate) enum BridgeEvent {
    Client(Vec<u8>),
    /// The client sent a line that exceeds the limit.
    ClientTooLong,
    ClientEnded,
    Server(Vec<u8>),
    /// `BridgeAction::Connect` succeeded.
    Connected,
    Unreachable(String),
    /// The connection was lost.
    Lost(String),
    /// The delay of `BridgeAction::ConnectAfter` is over.
    RetryDue,
    /// The delay of `BridgeAction::EndAfter` is over.
    EndDue,
}

/// An action for the pump. Actions are executed in order.
#[derive(Debug, PartialEq)]
pub(crate) enum BridgeAction {
    ToClient(Vec<u8>),
    ToServer(Vec<u8>),
    Connect,
    ConnectAfter(Duration),
    /// Starts Draftboard; the next connection attempt shows whether it succeeded.
    Launch,
    /// Closes a connection that cannot be used.
    Disconnect,
    EndAfter(Duration),
    End,
}

/// The behaviour while Draftboard is unreachable.
#[derive(Debug, Clone, Default)]
pub(crate) struct BridgeSettings {
    pub(crate) surface: OfflineSurface,
    pub(crate) start_hint: String,
    /// Allows the bridge to start Draftboard when a call needs it.
    pub(crate) may_launch: bool,
}

pub(crate) struct BridgeCore {
    settings: BridgeSettings,
    connection: BridgeConnectionState,
    session: BridgedSession,
    /// Requests that were sent and not answered yet, except streams.
    in_flight: BTreeMap<RequestKey, JsonRpcRequest>,
    /// Requests that are queued until a connection exists.
    queued: VecDeque<(Vec<u8>, JsonRpcRequest)>,
    listens: BTreeMap<RequestKey, SubscriptionStream>,
    /// The items of each list as the client last received them.
    cached_lists: BTreeMap<McpListKind, CachedList>,
    /// Open requests of the bridge itself.
    own_requests: BTreeMap<RequestKey, BridgeOwnRequest>,
    own_request_count: u64,
    /// Server requests that the client has not answered yet.
    server_requests: BTreeMap<RequestKey, Value>,
    closing: bool,
    actions: Vec<BridgeAction>,
}

/// The state of a session that started with `initialize`, replayed on a new connection.
#[derive(Debug, Default)]
struct BridgedSession {
    initialize_params: Option<Value>,
    initialized: bool,
    subscriptions: BTreeSet<String>,
}

/// An open `subscriptions/listen` stream. It outlives a connection: the bridge sends the request again on the next one.
#[derive(Debug)]
struct SubscriptionStream {
    line: Vec<u8>,
    request: JsonRpcRequest,
    acknowledged: bool,
}

#[derive(Debug)]
struct CachedList {
    items: Value,
    /// The list has further pages, which are not cached.
    paged: bool,
    /// The `_meta` of the client's request. Requests of the protocol without a handshake must repeat it.
    meta: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
enum BridgeOwnRequest {
    Initialize,
    Subscribe,
    List(McpListKind),
}

impl BridgeCore {
    pub(crate) fn new(habits: BridgeSettings) -> Self {
        Self {
            settings: habits,
            connection: BridgeConnectionState::Idle,
            session: BridgedSession::default(),
            in_flight: BTreeMap::new(),
            queued: VecDeque::new(),
            listens: BTreeMap::new(),
            cached_lists: BTreeMap::new(),
            own_requests: BTreeMap::new(),
            own_request_count: 0,
            server_requests: BTreeMap::new(),
            closing: false,
            actions: Vec::new(),
        }
    }

    /// Handles an event and returns the actions to execute.
    pub(crate) fn handle(&mut self, input: BridgeEvent) -> Vec<BridgeAction> {
        match input {
            BridgeEvent::Client(line) => self.client_line(line),
            BridgeEvent::ClientTooLong => {
                let message =
                    format!("the message is longer than {} bytes and was not read", crate::MAX_LINE_BYTES);
                let error = json!({ "code": -32600, "message": message });
                self.send_to_client(&json!({ "jsonrpc": "2.0", "id": null, "error": error }));
            }
            BridgeEvent::ClientEnded => {
                self.closing = true;
                self.actions.push(BridgeAction::EndAfter(SHUTDOWN_GRACE_PERIOD));
            }
            BridgeEvent::Server(line) => self.server_line(line),
            BridgeEvent::Connected => self.on_connected(),
            BridgeEvent::Unreachable(reason) => self.on_unreachable(&reason),
            BridgeEvent::Lost(reason) => self.on_connection_lost(&reason),
            BridgeEvent::RetryDue => self.on_retry_due(),
            BridgeEvent::EndDue => self.actions.push(BridgeAction::End),
        }
        if self.closing && self.in_flight.is_empty() && self.queued.is_empty() {
            self.actions.push(BridgeAction::End);
        }
        std::mem::take(&mut self.actions)
    }

    fn send_to_client(&mut self, message: &Value) {
        self.actions.push(BridgeAction::ToClient(message.to_string().into_bytes()));
    }

    fn send_to_server(&mut self, message: &Value) {
        self.actions.push(BridgeAction::ToServer(message.to_string().into_bytes()));
    }

    fn send_own_request(&mut self, own: BridgeOwnRequest, method: &str, params: Value) {
        self.own_request_count += 1;
        let id = Value::from(format!("draftboard-bridge-{}", self.own_request_count));
        self.own_requests.insert(request_key(&id), own);
        self.send_to_server(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn refuse(&mut self, request: &JsonRpcRequest, refusal: &Refusal) {
        self.send_to_client(&refusal::to_response(refusal, request));
    }

    /// Notifies the client that a list changed. Without a handshake, sends it on the streams that subscribed to the list.
    fn notify_list_changed(&mut self, list: McpListKind) {
        if self.session.initialized {
            self.send_to_client(&notification(list.changed_notification(), Value::Null));
        }
        let wants =
            |listen: &&SubscriptionStream| listen.filter().get(list.filter_key()) == Some(&Value::Bool(true));
        let notices: Vec<Value> = self
            .listens
            .values()
            .filter(wants)
            .map(|listen| listen.stream_notification(list.changed_notification(), json!({})))
            .collect();
        notices.iter().for_each(|notice| self.send_to_client(notice));
    }

    /// Sends an update for every subscribed resource, because changes during the disconnect were not reported.
    fn notify_all_updated(&mut self) {
        const UPDATED: &str = "notifications/resources/updated";
        let mut notices: Vec<Value> = Vec::new();
        if self.session.initialized {
            let of_session = self.session.subscriptions.iter();
            notices.extend(of_session.map(|uri| notification(UPDATED, json!({ "uri": uri }))));
        }
        for listen in self.listens.values().filter(|listen| listen.acknowledged) {
            let uris = listen.filter().get("resourceSubscriptions").and_then(Value::as_array);
            let uris = uris.into_iter().flatten();
            notices.extend(uris.map(|uri| listen.stream_notification(UPDATED, json!({ "uri": uri }))));
        }
        notices.iter().for_each(|notice| self.send_to_client(notice));
    }
}

impl SubscriptionStream {
    fn filter(&self) -> &Value {
        self.request.params.get("notifications").unwrap_or(&Value::Null)
    }

    /// Builds a notification for this stream.
    fn stream_notification(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({ SUBSCRIPTION_KEY: self.request.id });
        notification(method, params)
    }
}
