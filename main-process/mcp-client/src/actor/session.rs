//! The shared part of a connection, which callers use while the actor supervises it.

use super::client::{CallProgress, ProgressWatchers};
use crate::tools::ToolDefinition;
use rmcp::{
    Peer, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientRequest,
        ListToolsRequest, PaginatedRequestParams, ProgressToken, RequestId, ServerResult,
    },
    service::{PeerRequestOptions, ServiceError},
};
use shared_protocol::{Refusal, RefusalCode};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, Semaphore, mpsc};

const MAX_TOOLS: usize = 512;
const MAX_TOOL_PAGES: usize = 64;

pub(crate) type ToolDefinitions = BTreeMap<String, Arc<ToolDefinition>>;

pub(crate) struct ServerSession {
    pub(super) peer: Peer<RoleClient>,
    pub(super) watchers: ProgressWatchers,
    /// Notified when a call detects a lost connection.
    pub(super) lost: Notify,
    pub(super) definitions: Mutex<Arc<ToolDefinitions>>,
    pub(super) permits: Semaphore,
    pub(crate) protocol: String,
    pub(crate) server: Option<String>,
}

impl ServerSession {
    pub(crate) fn definitions(&self) -> Arc<ToolDefinitions> {
        self.definitions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends the call once and never retries it: after a lost connection it is unknown whether the call was executed.
    pub(crate) async fn call(
        &self,
        server: &str,
        params: CallToolRequestParams,
        (idle, total): (Duration, Duration),
        progress: Option<mpsc::Sender<CallProgress>>,
    ) -> Result<CallToolResult, Refusal> {
        let Ok(_permit) = self.permits.try_acquire() else {
            let message =
                format!("{server} has reached its limit of concurrent calls: wait for one to finish");
            return Err(Refusal::new(RefusalCode::LimitExceeded, message));
        };
        let tool = params.name.to_string();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options =
            PeerRequestOptions::with_timeout(idle).reset_timeout_on_progress().with_max_total_timeout(total);
        let mut watchers = self.watchers.lock().await;
        let sent = self.peer.send_request_with_option(request, options).await;
        let handle = sent.map_err(|error| self.explain(error, server, &tool))?;
        if let Some(progress) = progress {
            watchers.insert(handle.progress_token.clone(), progress);
        }
        drop(watchers);
        let mut under_way = InFlightCall {
            peer: self.peer.clone(),
            watchers: self.watchers.clone(),
            id: Some(handle.id.clone()),
            token: handle.progress_token.clone(),
        };
        let answer = handle.await_response().await;
        under_way.id = None;
        match answer {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(ServerResult::InputRequiredResult(_)) => {
                let message =
                    format!("{tool} of {server} requests further input, which Draftboard does not support");
                Err(Refusal::new(RefusalCode::UnsupportedCapability, message))
            }
            Ok(_) => Err(Refusal::unavailable(format!("{server} returned an unexpected response to {tool}"))),
            Err(error) => Err(self.explain(error, server, &tool)),
        }
    }

    fn explain(&self, error: ServiceError, server: &str, tool: &str) -> Refusal {
        match error {
            ServiceError::McpError(error) => {
                Refusal::unavailable(format!("{server} refused {tool}: {} ({})", error.message, error.code.0))
            }
            ServiceError::Timeout { timeout } => Refusal::network(format!(
                "{tool} of {server} took longer than {} and was cancelled. It is unknown whether it was executed.",
                format_duration(timeout)
            )),
            ServiceError::TransportClosed => {
                self.lost.notify_one();
                Refusal::unavailable(format!(
                    "{server} exited during {tool}. It is unknown whether the call was executed, so it was not retried."
                ))
            }
            ServiceError::TransportSend(error) => {
                self.lost.notify_one();
                Refusal::network(format!(
                    "The connection to {server} was lost during {tool}: {}. The call was not retried.",
                    root_cause(&*error.error)
                ))
            }
            other => Refusal::unavailable(format!("{tool} of {server} failed: {other}")),
        }
    }
}

pub(super) fn format_duration(time: Duration) -> String {
    if time.as_secs() > 0 { format!("{} s", time.as_secs_f32()) } else { format!("{} ms", time.as_millis()) }
}

/// Returns the innermost error message.
pub(super) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Cancels the call on the server when the caller drops it.
struct InFlightCall {
    peer: Peer<RoleClient>,
    watchers: ProgressWatchers,
    /// `None` after the answer arrived.
    id: Option<RequestId>,
    token: ProgressToken,
}

impl Drop for InFlightCall {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (peer, watchers, token) = (self.peer.clone(), self.watchers.clone(), self.token.clone());
        let cancelled = self.id.take().map(|id| {
            let reason = "the caller cancelled the call".to_owned();
            CancelledNotificationParam::new(Some(id), Some(reason))
        });
        runtime.spawn(async move {
            watchers.lock().await.remove(&token);
            if let Some(params) = cancelled {
                // Fails when the server is gone, which also ends the call.
                let _ = peer.notify_cancelled(params).await;
            }
        });
    }
}

/// Lists all tools, page by page. Also returns the reasons for unusable tools.
pub(super) async fn list_tools(
    peer: &Peer<RoleClient>,
) -> Result<(ToolDefinitions, Vec<String>), ServiceError> {
    let (mut definitions, mut refused) = (ToolDefinitions::new(), Vec::new());
    let mut cursor = None;
    for _ in 0..MAX_TOOL_PAGES {
        let mut request = ListToolsRequest::default();
        if let Some(cursor) = cursor.take() {
            request.params = Some(PaginatedRequestParams::default().with_cursor(Some(cursor)));
        }
        let ServerResult::ListToolsResult(page) =
            peer.send_request(ClientRequest::ListToolsRequest(request)).await?
        else {
            return Err(ServiceError::UnexpectedResponse);
        };
        for tool in &page.tools {
            match ToolDefinition::new(tool) {
                _ if definitions.len() == MAX_TOOLS => {
                    refused.push(format!("the server has more than {MAX_TOOLS} tools; the rest is ignored"));
                    return Ok((definitions, refused));
                }
                Ok(definition) if !definitions.contains_key(definition.name()) => {
                    definitions.insert(definition.name().to_owned(), Arc::new(definition));
                }
                Ok(definition) => refused.push(format!("the tool {} is listed twice", definition.name())),
                Err(reason) => refused.push(format!("the tool {:.64} is ignored: {reason}", tool.name)),
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok((definitions, refused))
}
