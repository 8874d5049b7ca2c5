//! A connection as its actor holds it: the protocol session, its process, and the current list of tools.

use super::{
    client::ManagedServerClientHandler,
    handshake::CompletedHandshake,
    session::{ServerSession, format_duration, list_tools},
    state::SharedServerState,
};
use crate::{config::ManagedServerConfig, process::ServerProcess};
use rmcp::{
    Peer, RoleClient,
    model::{ErrorCode, ProtocolVersion, SubscriptionFilter},
    service::{ServiceError, Subscription},
};
use shared_protocol::managed_servers::ServerExit;
use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinHandle,
};

/// The debounce interval for changes of the tool list.
const TOOL_LIST_DEBOUNCE: Duration = Duration::from_millis(150);
/// The minimum pause between two listen requests.
const MIN_LISTEN_PAUSE: Duration = Duration::from_millis(500);
const MAX_LISTEN_PAUSE: Duration = Duration::from_secs(60);

pub(super) struct ServerConnection {
    pub(super) session: Arc<ServerSession>,
    /// Completes when the session ends. Dropping it ends the session and closes the input of the process.
    serving: Pin<Box<dyn Future<Output = ()> + Send>>,
    process: Option<ServerProcess>,
    _follower: ToolListFollower,
}

/// Aborts the task when the connection is dropped.
struct ToolListFollower(JoinHandle<()>);

impl Drop for ToolListFollower {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ServerConnection {
    pub(super) fn new(
        talk: CompletedHandshake,
        process: Option<ServerProcess>,
        config: &ManagedServerConfig,
        shared: &Arc<SharedServerState>,
    ) -> Self {
        let CompletedHandshake { running, version, definitions, .. } = talk;
        let info = running.peer_info();
        let lists_change =
            info.as_ref().and_then(|info| info.capabilities.tools.as_ref()?.list_changed) == Some(true);
        let server = info.and_then(|info| {
            let server = info.server_info.as_ref()?;
            Some(format!("{:.64} {:.32}", server.name, server.version))
        });
        let ManagedServerClientHandler { tools_changed, watchers, .. } = running.service().clone();
        let link = Arc::new(ServerSession {
            peer: running.peer().clone(),
            watchers,
            lost: Notify::new(),
            definitions: Mutex::new(Arc::new(definitions)),
            permits: Semaphore::new(config.limits.calls),
            protocol: version.as_str().to_owned(),
            server,
        });
        let listens = lists_change && version >= ProtocolVersion::V_2026_07_28;
        let following =
            follow_tool_list(link.clone(), shared.clone(), tools_changed, listens, config.limits.handshake());
        let serving = Box::pin(async move { drop(running.waiting().await) });
        Self { session: link, serving, process, _follower: ToolListFollower(tokio::spawn(following)) }
    }

    /// Waits until the connection ends by itself.
    pub(super) async fn wait_closed(&mut self) {
        let process_ended = async {
            match &self.process {
                Some(process) => process.wait_ended().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = process_ended => {}
            () = &mut self.serving => {}
            () = self.session.lost.notified() => {}
        }
    }

    /// Ends the session and kills the process with its children. Returns the exit of the process, if there is one.
    pub(super) async fn end(self, grace: Duration) -> Option<io::Result<ServerExit>> {
        drop(self.serving);
        Some(self.process?.end(grace).await)
    }
}

/// Reloads the tool list whenever the server reports a change: by a notification in the legacy era, on a listen
/// request in the modern one.
async fn follow_tool_list(
    link: Arc<ServerSession>,
    shared: Arc<SharedServerState>,
    changed: Arc<Notify>,
    listens: bool,
    limit: Duration,
) {
    let mut held = ListenRequest::new(listens);
    loop {
        tokio::select! {
            () = changed.notified() => {}
            () = held.wait_for_change(&link.peer, limit) => {}
        }
        tokio::time::sleep(TOOL_LIST_DEBOUNCE).await;
        // The same request covers notifications that arrived meanwhile.
        tokio::select! {
            biased;
            () = changed.notified() => {}
            () = std::future::ready(()) => {}
        }
        match tokio::time::timeout(limit, list_tools(&link.peer)).await {
            Ok(Ok((definitions, left_out))) => {
                for reason in left_out {
                    shared.log.push(&format!("Draftboard: {reason}"));
                }
                *link.definitions.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(definitions);
                shared.notify_changed();
            }
            Ok(Err(error)) => {
                shared.log.push(&format!("Draftboard: the tools changed, and listing them failed: {error}"))
            }
            Err(_) => shared.log.push(&format!(
                "Draftboard: the tools changed, and listing them took longer than {}",
                format_duration(limit)
            )),
        }
    }
}

/// The listen request of the modern era. When it ends, it is repeated with growing pauses, and the tool list is
/// reloaded.
struct ListenRequest {
    request: Option<Subscription>,
    /// The pause before the next request; `None` when the server does not support listening.
    pause: Option<Duration>,
    /// A listen request succeeded before.
    has_listened: bool,
}

impl ListenRequest {
    fn new(listens: bool) -> Self {
        Self { request: None, pause: listens.then_some(Duration::ZERO), has_listened: false }
    }

    /// Returns when the tools changed or may have changed; never when the server cannot report changes.
    async fn wait_for_change(&mut self, peer: &Peer<RoleClient>, limit: Duration) {
        loop {
            if let Some(request) = &mut self.request {
                if matches!(request.next().await, Ok(Some(_))) {
                    self.pause = Some(Duration::ZERO);
                    return;
                }
                self.request = None;
            }
            let Some(pause) = self.pause else { return std::future::pending().await };
            tokio::time::sleep(pause).await;
            self.pause = Some((pause * 2).clamp(MIN_LISTEN_PAUSE, MAX_LISTEN_PAUSE));
            let wanted = SubscriptionFilter::builder().tools_list_changed().build();
            match tokio::time::timeout(limit, peer.listen(wanted)).await {
                Ok(Ok(request)) => {
                    self.request = Some(request);
                    if std::mem::replace(&mut self.has_listened, true) {
                        return;
                    }
                }
                // Some servers announce list changes without supporting the listen request.
                Ok(Err(ServiceError::McpError(error))) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                    self.pause = None
                }
                Ok(Err(error)) => {
                    tracing::debug!(%error, "a listen request failed")
                }
                Err(_) => tracing::debug!("a listen request timed out"),
            }
        }
    }
}
