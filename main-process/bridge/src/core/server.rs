//! Handles messages from Draftboard.

use super::{BridgeAction, BridgeCore, BridgeOwnRequest, CachedList};
use crate::{
    message::{JsonRpcMessage, SUBSCRIPTION_KEY, peek_result_id, request_key},
    surface::McpListKind,
};
use serde_json::Value;

impl BridgeCore {
    pub(super) fn server_line(&mut self, line: Vec<u8>) {
        // Most lines are responses to calls, forwarded unparsed.
        if let Some(id) = peek_result_id(&line)
            && let Some(request) = self.in_flight.get(id)
            && McpListKind::from_method(&request.method).is_none()
        {
            self.in_flight.remove(id);
            return self.actions.push(BridgeAction::ToClient(line));
        }
        match JsonRpcMessage::parse(&line) {
            Ok(JsonRpcMessage::Response { id, result }) => {
                self.server_response(line, &request_key(&id), result)
            }
            Ok(JsonRpcMessage::Request(request)) => {
                self.server_requests.insert(request.key(), request.id);
                self.actions.push(BridgeAction::ToClient(line));
            }
            Ok(JsonRpcMessage::Notification { method, params }) => {
                if !(method == "notifications/subscriptions/acknowledged" && self.mark_acknowledged(&params))
                {
                    self.actions.push(BridgeAction::ToClient(line));
                }
            }
            Err(why) => {
                tracing::warn!(?why, bytes = line.len(), "Draftboard sent an invalid message");
                self.actions.push(BridgeAction::Disconnect);
            }
        }
    }

    fn server_response(&mut self, line: Vec<u8>, id: &str, result: Option<Value>) {
        if let Some(own) = self.own_requests.remove(id) {
            return self.own_response(own, result);
        }
        // The response to a `subscriptions/listen` request ends its stream.
        self.listens.remove(id);
        if let Some(request) = self.in_flight.remove(id) {
            match (McpListKind::from_method(&request.method), result) {
                (Some(list), Some(result)) if request.params.get("cursor").is_none_or(Value::is_null) => {
                    self.cached_lists
                        .insert(list, CachedList::from_result(&result, list, request.meta().cloned()));
                }
                (None, None) if request.method == "initialize" => self.session.initialize_params = None,
                _ => {}
            }
        }
        self.actions.push(BridgeAction::ToClient(line));
    }

    fn own_response(&mut self, own: BridgeOwnRequest, result: Option<Value>) {
        match (own, result) {
            (BridgeOwnRequest::Initialize, Some(_)) => self.resume_session(),
            (BridgeOwnRequest::Initialize, None) => {
                tracing::warn!("Draftboard refused to resume the session");
                self.actions.push(BridgeAction::Disconnect);
            }
            (BridgeOwnRequest::Subscribe, Some(_)) => {}
            (BridgeOwnRequest::Subscribe, None) => {
                tracing::warn!("Draftboard refused to renew a resource subscription")
            }
            (BridgeOwnRequest::List(_), None) => {}
            (BridgeOwnRequest::List(list), Some(result)) => {
                let meta = self.cached_lists.get(&list).and_then(|seen| seen.meta.clone());
                let now = CachedList::from_result(&result, list, meta);
                let before = self.cached_lists.insert(list, now);
                let now = &self.cached_lists[&list];
                if before.is_some_and(|before| before.paged || now.paged || before.items != now.items) {
                    self.notify_list_changed(list);
                }
            }
        }
    }

    /// Marks a stream as acknowledged. Returns `true` when the client already received an acknowledgement for it.
    fn mark_acknowledged(&mut self, params: &Value) -> bool {
        let id = params.get("_meta").and_then(|meta| meta.get(SUBSCRIPTION_KEY)).map(request_key);
        let listen = id.and_then(|id| self.listens.get_mut(&id));
        listen.is_some_and(|listen| std::mem::replace(&mut listen.acknowledged, true))
    }
}

impl CachedList {
    fn from_result(result: &Value, list: McpListKind, meta: Option<Value>) -> Self {
        let items = result.get(list.items_key()).cloned().unwrap_or_default();
        Self { items, paged: result.get("nextCursor").is_some_and(|next| !next.is_null()), meta }
    }
}
