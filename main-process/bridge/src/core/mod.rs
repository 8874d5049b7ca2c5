//! What the bridge does about each thing that happens, without doing it: no clock, no socket, no thread. The pump tells it
//! what happened and carries out what it answers.

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

/// Requests without an answer at one time.
pub(crate) const MAX_OPEN: usize = 256;
/// How long calls under way may take when the client has gone; hosts kill after two or three seconds.
pub(crate) const LAST_CALLS: Duration = Duration::from_millis(1500);

/// Something happened.
#[derive(Debug)]
pub(crate) enum Input {
    Client(Vec<u8>),
    /// A line of the client's that was too long to be read.
    ClientTooLong,
    ClientEnded,
    Server(Vec<u8>),
    /// What `Action::Connect` came to.
    Connected,
    Unreachable(String),
    /// The connection ended.
    Lost(String),
    /// The time of `Action::ConnectAfter` has come.
    RetryDue,
    /// The time of `Action::EndAfter` has come.
    EndDue,
}

/// Something to be done, in this order.
#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    ToClient(Vec<u8>),
    ToServer(Vec<u8>),
    Connect,
    ConnectAfter(Duration),
    /// Starts Draftboard; what becomes of it shows when connecting.
    Launch,
    /// Ends the connection, which is of no use.
    Disconnect,
    EndAfter(Duration),
    End,
}

/// How to behave when nobody is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Habits {
    pub(crate) surface: Surface,
    pub(crate) how_to_start: String,
    /// May start Draftboard when a call needs it.
    pub(crate) launch: bool,
}

pub(crate) struct Core {
    habits: Habits,
    link: Link,
    session: Session,
    /// Sent and not answered, without streams.
    in_flight: BTreeMap<Key, Request>,
    /// Not sent yet.
    held: VecDeque<(Vec<u8>, Request)>,
    listens: BTreeMap<Key, Listen>,
    /// What the client knows of each list.
    seen: BTreeMap<List, Seen>,
    /// The bridge's own requests.
    own: BTreeMap<Key, Own>,
    own_count: u64,
    /// Requests of the server that the client has not answered.
    asked: BTreeMap<Key, Value>,
    closing: bool,
    out: Vec<Action>,
}

/// A conversation that opened with `initialize`, and what a new connection has to be told of it.
#[derive(Debug, Default)]
struct Session {
    hello: Option<Value>,
    initialized: bool,
    subscriptions: BTreeSet<String>,
}

/// An open `subscriptions/listen`. It outlives a connection: the next one is asked again.
#[derive(Debug)]
struct Listen {
    line: Vec<u8>,
    request: Request,
    acknowledged: bool,
}

#[derive(Debug)]
struct Seen {
    items: Value,
    /// There are more on further pages, which were not looked at.
    paged: bool,
    /// Of the client's request: a request of the protocol without a handshake needs one like it.
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

    /// What is to be done about it.
    pub(crate) fn handle(&mut self, input: Input) -> Vec<Action> {
        match input {
            Input::Client(line) => self.client_line(line),
            Input::ClientTooLong => {
                let message = format!("a message may have {} bytes; this one was not read", crate::MAX_LINE);
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

    /// Tells the client that a list is not what it knows; in the protocol without a handshake, on the streams that ask.
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

    /// While the connection was away nobody told of changes: whatever is watched may have changed.
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

    /// A notification on this stream.
    fn tagged(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({ SUBSCRIPTION_KEY: self.request.id });
        notice(method, params)
    }
}
