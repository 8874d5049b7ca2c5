//! Handles messages from the client.

use super::{BridgeAction, BridgeCore, CachedList, MAX_OPEN_REQUESTS, SubscriptionStream};
use crate::{
    message::{JsonRpcMessage, JsonRpcRequest, empty_response, request_key},
    refusal,
    surface::{McpListKind, OfflineSurface},
};
use serde_json::{Value, json};

impl BridgeCore {
    pub(super) fn client_line(&mut self, line: Vec<u8>) {
        match JsonRpcMessage::parse(&line) {
            Ok(JsonRpcMessage::Request(request)) => self.client_request(line, request),
            Ok(JsonRpcMessage::Notification { method, params }) => self.client_notice(line, &method, &params),
            Ok(JsonRpcMessage::Response { id, .. }) => {
                // Ids repeat: a response meant for an earlier connection could match a request of this one.
                if self.server_requests.remove(&request_key(&id)).is_some() && self.connection.is_connected()
                {
                    self.actions.push(BridgeAction::ToServer(line));
                }
            }
            Err(unreadable) => self.send_to_client(&unreadable.to_response()),
        }
    }

    fn client_request(&mut self, line: Vec<u8>, request: JsonRpcRequest) {
        if self.in_flight.len() + self.queued.len() + self.listens.len() >= MAX_OPEN_REQUESTS {
            return self.refuse(&request, &refusal::too_many_open(MAX_OPEN_REQUESTS));
        }
        if request.method == "subscriptions/listen" {
            let listen = SubscriptionStream { line, request, acknowledged: false };
            if self.connection.is_connected() {
                self.actions.push(BridgeAction::ToServer(listen.line.clone()));
            }
            self.listens.insert(listen.request.key(), listen);
            return self.connect_if_needed();
        }
        if self.connection.is_connected() {
            self.forward(line, request);
        } else {
            self.queued.push_back((line, request));
            self.connect_if_needed();
        }
    }

    /// Sends a request, and records its effect on the session for later connections.
    pub(super) fn forward(&mut self, line: Vec<u8>, request: JsonRpcRequest) {
        self.record_session_change(&request);
        self.in_flight.insert(request.key(), request);
        self.actions.push(BridgeAction::ToServer(line));
    }

    fn record_session_change(&mut self, request: &JsonRpcRequest) {
        let uri = || request.params.get("uri").and_then(Value::as_str).map(str::to_owned);
        match request.method.as_str() {
            "initialize" => self.session.initialize_params = Some(request.params.clone()),
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
                let cancelled = params.get("requestId").map(request_key).unwrap_or_default();
                self.queued.retain(|(_, request)| request.key() != cancelled);
                self.listens.remove(&cancelled);
                self.in_flight.remove(&cancelled);
            }
            _ => {}
        }
        if self.connection.is_connected() {
            self.actions.push(BridgeAction::ToServer(line));
        }
    }

    /// Answers a request from the static surface if possible. A host that gets no answer drops the server and its tools.
    pub(super) fn answer_offline(&mut self, request: &JsonRpcRequest) -> bool {
        let surface = &self.settings.surface;
        let answer = match request.method.as_str() {
            "initialize" => surface.initialize_response(request),
            "server/discover" => surface.discover_response(request),
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                empty_response(request)
            }
            method => match McpListKind::from_method(method) {
                Some(list) if request.params.get("cursor").is_none_or(Value::is_null) => {
                    let meta = request.meta().cloned();
                    let unpaged = self.cached_lists.get(&list).filter(|seen| !seen.paged);
                    let items = unpaged.map_or_else(|| surface.items(list), |seen| &seen.items).clone();
                    let answer = OfflineSurface::list_response(request, list, &items);
                    self.cached_lists.insert(list, CachedList { items, paged: false, meta });
                    answer
                }
                _ => return false,
            },
        };
        self.record_session_change(request);
        self.send_to_client(&answer);
        true
    }

    /// Acknowledges pending streams; they deliver notifications once Draftboard is connected.
    pub(super) fn acknowledge_offline(&mut self) {
        let mut notices = Vec::new();
        for listen in self.listens.values_mut().filter(|listen| !listen.acknowledged) {
            listen.acknowledged = true;
            let accepted = json!({ "notifications": listen.filter() });
            notices.push(listen.stream_notification("notifications/subscriptions/acknowledged", accepted));
        }
        notices.iter().for_each(|notice| self.send_to_client(notice));
    }
}
