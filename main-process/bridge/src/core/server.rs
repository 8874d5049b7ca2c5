//! Handles messages from Draftboard.

use super::{Action, Core, Own, Seen};
use crate::{
    message::{Message, SUBSCRIPTION_KEY, id_of_result, key},
    surface::List,
};
use serde_json::Value;

impl Core {
    pub(super) fn server_line(&mut self, line: Vec<u8>) {
        // Most lines are responses to calls, forwarded unparsed.
        if let Some(id) = id_of_result(&line)
            && let Some(request) = self.in_flight.get(id)
            && List::of_method(&request.method).is_none()
        {
            self.in_flight.remove(id);
            return self.out.push(Action::ToClient(line));
        }
        match Message::read(&line) {
            Ok(Message::Reply { id, result }) => self.server_reply(line, &key(&id), result),
            Ok(Message::Request(request)) => {
                self.asked.insert(request.key(), request.id);
                self.out.push(Action::ToClient(line));
            }
            Ok(Message::Notice { method, params }) => {
                if !(method == "notifications/subscriptions/acknowledged" && self.was_acknowledged(&params)) {
                    self.out.push(Action::ToClient(line));
                }
            }
            Err(why) => {
                tracing::warn!(?why, bytes = line.len(), "Draftboard sent an invalid message");
                self.out.push(Action::Disconnect);
            }
        }
    }

    fn server_reply(&mut self, line: Vec<u8>, id: &str, result: Option<Value>) {
        if let Some(own) = self.own.remove(id) {
            return self.own_reply(own, result);
        }
        // The response to a `subscriptions/listen` request ends its stream.
        self.listens.remove(id);
        if let Some(request) = self.in_flight.remove(id) {
            match (List::of_method(&request.method), result) {
                (Some(list), Some(result)) if request.params.get("cursor").is_none_or(Value::is_null) => {
                    self.seen.insert(list, Seen::of(&result, list, request.meta().cloned()));
                }
                (None, None) if request.method == "initialize" => self.session.hello = None,
                _ => {}
            }
        }
        self.out.push(Action::ToClient(line));
    }

    fn own_reply(&mut self, own: Own, result: Option<Value>) {
        match (own, result) {
            (Own::Initialize, Some(_)) => self.initialized_again(),
            (Own::Initialize, None) => {
                tracing::warn!("Draftboard refused to resume the session");
                self.out.push(Action::Disconnect);
            }
            (Own::Subscribe, Some(_)) => {}
            (Own::Subscribe, None) => {
                tracing::warn!("Draftboard refused to renew a resource subscription")
            }
            (Own::List(_), None) => {}
            (Own::List(list), Some(result)) => {
                let meta = self.seen.get(&list).and_then(|seen| seen.meta.clone());
                let now = Seen::of(&result, list, meta);
                let before = self.seen.insert(list, now);
                let now = &self.seen[&list];
                if before.is_some_and(|before| before.paged || now.paged || before.items != now.items) {
                    self.tell_changed(list);
                }
            }
        }
    }

    /// Marks a stream as acknowledged. Returns `true` when the client already received an acknowledgement for it.
    fn was_acknowledged(&mut self, params: &Value) -> bool {
        let id = params.get("_meta").and_then(|meta| meta.get(SUBSCRIPTION_KEY)).map(key);
        let listen = id.and_then(|id| self.listens.get_mut(&id));
        listen.is_some_and(|listen| std::mem::replace(&mut listen.acknowledged, true))
    }
}

impl Seen {
    fn of(result: &Value, list: List, meta: Option<Value>) -> Self {
        let items = result.get(list.key()).cloned().unwrap_or_default();
        Self { items, paged: result.get("nextCursor").is_some_and(|next| !next.is_null()), meta }
    }
}
