//! The connection: found, lost, found again.

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

/// Where the bridge stands with Draftboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// Nothing was asked yet, so nothing was done yet: some clients start a bridge only to look at it.
    Idle,
    /// An attempt is under way.
    Connecting(Attempts),
    /// Between attempts.
    Waiting(Attempts),
    /// There, and being told about the session.
    Resuming(Attempts),
    Up,
    /// Nobody is there. A look for every call, and one now and then where somebody waits for news.
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

/// Whether it is worth starting Draftboard for. Greetings are not: a client may only be looking.
fn needs_draftboard(request: &Request) -> bool {
    !matches!(request.method.as_str(), "initialize" | "server/discover" | "ping")
}

impl Core {
    /// Looks for Draftboard, unless it is being looked for.
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
            // Draftboard lets go of whoever says nothing, so there is no use in waiting there.
            None if self.listens.is_empty() && self.held.is_empty() => {
                self.link = Link::Idle;
                self.out.push(Action::Disconnect);
            }
            None => self.up(),
        }
    }

    /// The new connection knows the session's opening; now the rest.
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
        tracing::warn!(reason, "the connection to Draftboard ended");
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
        tracing::info!(reason, "Draftboard cannot be reached");
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
