//! The connection to Draftboard: connecting, retrying with backoff, resuming the session.

use super::{Action, Core, Own};
use crate::{
    away::Refusal,
    message::{Request, notice},
    surface::List,
};
use serde_json::{Value, json};
use std::time::Duration;

const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const TRIES: u32 = 5;

/// The state of the connection to Draftboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// The client has sent no request yet. Some clients start a bridge only to inspect it, so it does not connect.
    Idle,
    /// A connection attempt is in progress.
    Connecting(Attempts),
    /// Waiting for the next attempt.
    Waiting(Attempts),
    /// Connected; the session is being replayed.
    Resuming(Attempts),
    Up,
    /// Draftboard is unreachable. Every call makes one attempt; open sessions and streams retry periodically.
    Away,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attempts {
    left: u32,
    wait: Duration,
    launched: bool,
}

impl Attempts {
    fn one() -> Self {
        Self { left: 0, wait: FIRST_WAIT, launched: false }
    }

    fn several(launched: bool) -> Self {
        Self { left: TRIES, wait: FIRST_WAIT, launched }
    }
}

impl Link {
    pub(super) fn is_up(self) -> bool {
        self == Self::Up
    }
}

/// Returns whether a request justifies starting Draftboard. Handshakes do not: the client may only inspect the server.
fn needs_draftboard(request: &Request) -> bool {
    !matches!(request.method.as_str(), "initialize" | "server/discover" | "ping")
}

impl Core {
    /// Starts a connection attempt unless one is already in progress.
    pub(super) fn seek(&mut self) {
        if matches!(self.link, Link::Idle | Link::Away) {
            self.link = Link::Connecting(Attempts::one());
            self.out.push(Action::Connect);
        }
    }

    pub(super) fn retry(&mut self) {
        match self.link {
            Link::Waiting(attempts) => {
                self.link = Link::Connecting(Attempts { left: attempts.left.saturating_sub(1), ..attempts });
                self.out.push(Action::Connect);
            }
            Link::Away => self.seek(),
            Link::Idle | Link::Connecting(_) | Link::Resuming(_) | Link::Up => {}
        }
    }

    pub(super) fn connected(&mut self) {
        let attempts = match self.link {
            Link::Connecting(attempts) => attempts,
            _ => Attempts::one(),
        };
        match self.session.hello.clone() {
            Some(hello) => {
                self.link = Link::Resuming(attempts);
                self.ask(Own::Initialize, "initialize", hello);
            }
            // Draftboard closes silent connections, so an unused one is not kept.
            None if self.listens.is_empty() && self.held.is_empty() => {
                self.link = Link::Idle;
                self.out.push(Action::Disconnect);
            }
            None => self.up(),
        }
    }

    /// Replays the rest of the session after `initialize` succeeded on the new connection.
    pub(super) fn initialized_again(&mut self) {
        if self.session.initialized {
            self.send(&notice("notifications/initialized", Value::Null));
        }
        let uris: Vec<String> = self.session.subscriptions.iter().cloned().collect();
        for uri in uris {
            self.ask(Own::Subscribe, "resources/subscribe", json!({ "uri": uri }));
        }
        self.up();
    }

    fn up(&mut self) {
        self.link = Link::Up;
        let listens: Vec<Vec<u8>> = self.listens.values().map(|listen| listen.line.clone()).collect();
        self.out.extend(listens.into_iter().map(Action::ToServer));
        self.tell_all_updated();
        for (line, request) in std::mem::take(&mut self.held) {
            self.pass_on(line, request);
        }
        let lists: Vec<(List, Value)> = self
            .seen
            .iter()
            .map(|(list, seen)| {
                (*list, seen.meta.as_ref().map_or(json!({}), |meta| json!({ "_meta": meta })))
            })
            .collect();
        for (list, params) in lists {
            self.ask(Own::List(list), list.method(), params);
        }
    }

    pub(super) fn lost(&mut self, reason: &str) {
        let attempts = match self.link {
            Link::Idle => return,
            Link::Resuming(attempts) => attempts,
            _ => Attempts::several(false),
        };
        tracing::warn!(reason, "lost the connection to Draftboard");
        self.own.clear();
        for (_, id) in std::mem::take(&mut self.asked) {
            self.tell(&notice("notifications/cancelled", json!({ "requestId": id })));
        }
        for (_, request) in std::mem::take(&mut self.in_flight) {
            if !self.answer_alone(&request) {
                self.refuse(&request, &Refusal::lost());
            }
        }
        self.wait_or_give_up(attempts, reason);
    }

    pub(super) fn unreachable(&mut self, reason: &str) {
        match self.link {
            Link::Connecting(attempts) => self.wait_or_give_up(attempts, reason),
            Link::Idle | Link::Waiting(_) | Link::Resuming(_) | Link::Up | Link::Away => {}
        }
    }

    fn wait_or_give_up(&mut self, mut attempts: Attempts, reason: &str) {
        let wanted =
            self.held.iter().any(|(_, request)| needs_draftboard(request)) || !self.listens.is_empty();
        if attempts.left == 0 && self.habits.launch && wanted && !attempts.launched {
            self.out.push(Action::Launch);
            attempts = Attempts::several(true);
        }
        if attempts.left > 0 {
            self.out.push(Action::ConnectAfter(attempts.wait));
            let wait = (attempts.wait * 2).min(LONGEST_WAIT);
            self.link = Link::Waiting(Attempts { wait, ..attempts });
            return;
        }
        tracing::info!(reason, "Draftboard is not reachable");
        self.link = Link::Away;
        let refusal = Refusal::away(reason, &self.habits.how_to_start);
        for (_, request) in std::mem::take(&mut self.held) {
            if !self.answer_alone(&request) {
                self.refuse(&request, &refusal);
            }
        }
        self.acknowledge_alone();
        if self.session.hello.is_some() || !self.listens.is_empty() {
            self.out.push(Action::ConnectAfter(LONGEST_WAIT));
        }
    }
}
