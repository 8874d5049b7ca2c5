//! The bridge's decisions, without side effects: no clock, no socket, no thread. The pump passes in each event and
//! executes the actions that [`Core::handle`] returns.

mod client;
mod link;
mod server;
#[cfg(test)]
mod tests;

use crate::{
    away::Refusal,
    message::{Key, Request, SUBSCRIPTION_KEY, key, notice},
    surface::{List, Surface},
};
use link::Link;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

/// The maximum number of requests that wait for an answer at one time.
pub(crate) const MAX_OPEN: usize = 256;
/// The grace period for open calls after the client disconnects; MCP hosts kill the process after two or three seconds.
pub(crate) const LAST_CALLS: Duration = Duration::from_millis(1500);

/// An event for the core.
#[derive(Debug)]
pub(crate) enum Input {
    Client(Vec<u8>),
    /// The client sent a line that exceeds the limit.
    ClientTooLong,
    ClientEnded,
    Server(Vec<u8>),
    /// `Action::Connect` succeeded.
    Connected,
    Unreachable(String),
    /// The connection was lost.
    Lost(String),
    /// The delay of `Action::ConnectAfter` is over.
    RetryDue,
    /// The delay of `Action::EndAfter` is over.
    EndDue,
}

/// An action for the pump. Actions are executed in order.
#[derive(Debug, PartialEq)]
pub(crate) enum Action {
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
pub(crate) struct Habits {
    pub(crate) surface: Surface,
    pub(crate) how_to_start: String,
    /// Allows the bridge to start Draftboard when a call needs it.
    pub(crate) launch: bool,
}

pub(crate) struct Core {
    habits: Habits,
    link: Link,
    session: Session,
    /// Requests that were sent and not answered yet, except streams.
    in_flight: BTreeMap<Key, Request>,
    /// Requests that are queued until a connection exists.
    held: VecDeque<(Vec<u8>, Request)>,
    listens: BTreeMap<Key, Listen>,
    /// The items of each list as the client last received them.
    seen: BTreeMap<List, Seen>,
    /// Open requests of the bridge itself.
    own: BTreeMap<Key, Own>,
    own_count: u64,
    /// Server requests that the client has not answered yet.
    asked: BTreeMap<Key, Value>,
    closing: bool,
    out: Vec<Action>,
}

/// The state of a session that started with `initialize`, replayed on a new connection.
#[derive(Debug, Default)]
struct Session {
    hello: Option<Value>,
    initialized: bool,
    subscriptions: BTreeSet<String>,
}

/// An open `subscriptions/listen` stream. It outlives a connection: the bridge sends the request again on the next one.
#[derive(Debug)]
struct Listen {
    line: Vec<u8>,
    request: Request,
    acknowledged: bool,
}

#[derive(Debug)]
struct Seen {
    items: Value,
    /// The list has further pages, which are not cached.
    paged: bool,
    /// The `_meta` of the client's request. Requests of the protocol without a handshake must repeat it.
    meta: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
enum Own {
    Initialize,
    Subscribe,
    List(List),
}

impl Core {
    pub(crate) fn new(habits: Habits) -> Self {
        Self {
            habits,
            link: Link::Idle,
            session: Session::default(),
            in_flight: BTreeMap::new(),
            held: VecDeque::new(),
            listens: BTreeMap::new(),
            seen: BTreeMap::new(),
            own: BTreeMap::new(),
            own_count: 0,
            asked: BTreeMap::new(),
            closing: false,
            out: Vec::new(),
        }
    }

    /// Handles an event and returns the actions to execute.
    pub(crate) fn handle(&mut self, input: Input) -> Vec<Action> {
        match input {
            Input::Client(line) => self.client_line(line),
            Input::ClientTooLong => {
                let message =
                    format!("the message is longer than {} bytes and was not read", crate::MAX_LINE);
                let error = json!({ "code": -32600, "message": message });
                self.tell(&json!({ "jsonrpc": "2.0", "id": null, "error": error }));
            }
            Input::ClientEnded => {
                self.closing = true;
                self.out.push(Action::EndAfter(LAST_CALLS));
            }
            Input::Server(line) => self.server_line(line),
            Input::Connected => self.connected(),
            Input::Unreachable(reason) => self.unreachable(&reason),
            Input::Lost(reason) => self.lost(&reason),
            Input::RetryDue => self.retry(),
            Input::EndDue => self.out.push(Action::End),
        }
        if self.closing && self.in_flight.is_empty() && self.held.is_empty() {
            self.out.push(Action::End);
        }
        std::mem::take(&mut self.out)
    }

    fn tell(&mut self, message: &Value) {
        self.out.push(Action::ToClient(message.to_string().into_bytes()));
    }

    fn send(&mut self, message: &Value) {
        self.out.push(Action::ToServer(message.to_string().into_bytes()));
    }

    fn ask(&mut self, own: Own, method: &str, params: Value) {
        self.own_count += 1;
        let id = Value::from(format!("draftboard-bridge-{}", self.own_count));
        self.own.insert(key(&id), own);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn refuse(&mut self, request: &Request, refusal: &Refusal) {
        self.tell(&refusal.answer(request));
    }

    /// Notifies the client that a list changed. Without a handshake, sends it on the streams that subscribed to the list.
    fn tell_changed(&mut self, list: List) {
        if self.session.initialized {
            self.tell(&notice(list.changed_notice(), Value::Null));
        }
        let wants = |listen: &&Listen| listen.filter().get(list.filter_key()) == Some(&Value::Bool(true));
        let notices: Vec<Value> = self
            .listens
            .values()
            .filter(wants)
            .map(|listen| listen.tagged(list.changed_notice(), json!({})))
            .collect();
        notices.iter().for_each(|notice| self.tell(notice));
    }

    /// Sends an update for every subscribed resource, because changes during the disconnect were not reported.
    fn tell_all_updated(&mut self) {
        const UPDATED: &str = "notifications/resources/updated";
        let mut notices: Vec<Value> = Vec::new();
        if self.session.initialized {
            let of_session = self.session.subscriptions.iter();
            notices.extend(of_session.map(|uri| notice(UPDATED, json!({ "uri": uri }))));
        }
        for listen in self.listens.values().filter(|listen| listen.acknowledged) {
            let uris = listen.filter().get("resourceSubscriptions").and_then(Value::as_array);
            let uris = uris.into_iter().flatten();
            notices.extend(uris.map(|uri| listen.tagged(UPDATED, json!({ "uri": uri }))));
        }
        notices.iter().for_each(|notice| self.tell(notice));
    }
}

impl Listen {
    fn filter(&self) -> &Value {
        self.request.params.get("notifications").unwrap_or(&Value::Null)
    }

    /// Builds a notification for this stream.
    fn tagged(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({ SUBSCRIPTION_KEY: self.request.id });
        notice(method, params)
    }
}
