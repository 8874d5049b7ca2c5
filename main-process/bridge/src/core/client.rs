//! Handles messages from the client.

use super::{Action, Core, Listen, MAX_OPEN, Seen};
use crate::{
    away::Refusal,
    message::{Message, Request, done, key},
    surface::{List, Surface},
};
use serde_json::{Value, json};

impl Core {
    pub(super) fn client_line(&mut self, line: Vec<u8>) {
        match Message::read(&line) {
            Ok(Message::Request(request)) => self.client_request(line, request),
            Ok(Message::Notice { method, params }) => self.client_notice(line, &method, &params),
            Ok(Message::Reply { id, .. }) => {
                // Ids repeat: a response meant for an earlier connection could match a request of this one.
                if self.asked.remove(&key(&id)).is_some() && self.link.is_up() {
                    self.out.push(Action::ToServer(line));
                }
            }
            Err(unreadable) => self.tell(&unreadable.answer()),
        }
    }

    fn client_request(&mut self, line: Vec<u8>, request: Request) {
        if self.in_flight.len() + self.held.len() + self.listens.len() >= MAX_OPEN {
            return self.refuse(&request, &Refusal::too_many(MAX_OPEN));
        }
        if request.method == "subscriptions/listen" {
            let listen = Listen { line, request, acknowledged: false };
            if self.link.is_up() {
                self.out.push(Action::ToServer(listen.line.clone()));
            }
            self.listens.insert(listen.request.key(), listen);
            return self.seek();
        }
        if self.link.is_up() {
            self.pass_on(line, request);
        } else {
            self.held.push_back((line, request));
            self.seek();
        }
    }

    /// Sends a request, and records its effect on the session for later connections.
    pub(super) fn pass_on(&mut self, line: Vec<u8>, request: Request) {
        self.note(&request);
        self.in_flight.insert(request.key(), request);
        self.out.push(Action::ToServer(line));
    }

    fn note(&mut self, request: &Request) {
        let uri = || request.params.get("uri").and_then(Value::as_str).map(str::to_owned);
        match request.method.as_str() {
            "initialize" => self.session.hello = Some(request.params.clone()),
            "resources/subscribe" => self.session.subscriptions.extend(uri()),
            "resources/unsubscribe" => {
                uri().map(|uri| self.session.subscriptions.remove(&uri));
            }
            _ => {}
        }
    }

    fn client_notice(&mut self, line: Vec<u8>, method: &str, params: &Value) {
        match method {
            "notifications/initialized" => self.session.initialized = true,
            "notifications/cancelled" => {
                let cancelled = params.get("requestId").map(key).unwrap_or_default();
                self.held.retain(|(_, request)| request.key() != cancelled);
                self.listens.remove(&cancelled);
                self.in_flight.remove(&cancelled);
            }
            _ => {}
        }
        if self.link.is_up() {
            self.out.push(Action::ToServer(line));
        }
    }

    /// Answers a request from the static surface if possible. A host that gets no answer drops the server and its tools.
    pub(super) fn answer_alone(&mut self, request: &Request) -> bool {
        let surface = &self.habits.surface;
        let answer = match request.method.as_str() {
            "initialize" => surface.welcome(request),
            "server/discover" => surface.discovery(request),
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => done(request),
            method => match List::of_method(method) {
                Some(list) if request.params.get("cursor").is_none_or(Value::is_null) => {
                    let meta = request.meta().cloned();
                    let unpaged = self.seen.get(&list).filter(|seen| !seen.paged);
                    let items = unpaged.map_or_else(|| surface.items(list), |seen| &seen.items).clone();
                    let answer = Surface::listing(request, list, &items);
                    self.seen.insert(list, Seen { items, paged: false, meta });
                    answer
                }
                _ => return false,
            },
        };
        self.note(request);
        self.tell(&answer);
        true
    }

    /// Acknowledges pending streams; they deliver notifications once Draftboard is connected.
    pub(super) fn acknowledge_alone(&mut self) {
        let mut notices = Vec::new();
        for listen in self.listens.values_mut().filter(|listen| !listen.acknowledged) {
            listen.acknowledged = true;
            let accepted = json!({ "notifications": listen.filter() });
            notices.push(listen.tagged("notifications/subscriptions/acknowledged", accepted));
        }
        notices.iter().for_each(|notice| self.tell(notice));
    }
}
