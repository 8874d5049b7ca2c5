//! A connection as its actor holds it: the protocol session, its process, and the current list of tools.

use super::{
    handshake::Talk,
    host::Host,
    link::{Link, list_tools, shown},
    state::Shared,
};
use crate::{config::McpConfig, process::Process, status::ServerProcessExit};
use rmcp::{
    Peer, RoleClient,
    model::{ErrorCode, ProtocolVersion, SubscriptionFilter},
    service::{ServiceError, Subscription},
};
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
const DEBOUNCE: Duration = Duration::from_millis(150);
/// The minimum pause between two listen requests.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

pub(super) struct Connection {
    pub(super) link: Arc<Link>,
    /// Completes when the session ends. Dropping it ends the session and closes the input of the process.
    serving: Pin<Box<dyn Future<Output = ()> + Send>>,
    process: Option<Process>,
    _follower: Follower,
}

/// Aborts the task when the connection is dropped.
struct Follower(JoinHandle<()>);

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    pub(super) fn new(
        talk: Talk,
        process: Option<Process>,
        config: &McpConfig,
        shared: &Arc<Shared>,
    ) -> Self {
        let Talk { running, version, definitions, .. } = talk;
        let info = running.peer_info();
        let lists_change =
            info.as_ref().and_then(|info| info.capabilities.tools.as_ref()?.list_changed) == Some(true);
        let server = info.and_then(|info| {
            let server = info.server_info.as_ref()?;
            Some(format!("{:.64} {:.32}", server.name, server.version))
        });
        let Host { tools_changed, watchers, .. } = running.service().clone();
        let link = Arc::new(Link {
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
            follow(link.clone(), shared.clone(), tools_changed, listens, config.limits.handshake());
        let serving = Box::pin(async move { drop(running.waiting().await) });
        Self { link, serving, process, _follower: Follower(tokio::spawn(following)) }
    }

    /// Waits until the connection ends by itself.
    pub(super) async fn over(&mut self) {
        let process_ended = async {
            match &self.process {
                Some(process) => process.ended().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = process_ended => {}
            () = &mut self.serving => {}
            () = self.link.lost.notified() => {}
        }
    }

    /// Ends the session and kills the process with its children. Returns the exit of the process, if there is one.
    pub(super) async fn end(self, grace: Duration) -> Option<io::Result<ServerProcessExit>> {
        drop(self.serving);
        Some(self.process?.end(grace).await)
    }
}

/// Reloads the tool list whenever the server reports a change: by a notification in the legacy era, on a listen
/// request in the modern one.
async fn follow(link: Arc<Link>, shared: Arc<Shared>, changed: Arc<Notify>, listens: bool, limit: Duration) {
    let mut held = Held::new(listens);
    loop {
        tokio::select! {
            () = changed.notified() => {}
            () = held.news(&link.peer, limit) => {}
        }
        tokio::time::sleep(DEBOUNCE).await;
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
                shared.tell();
            }
            Ok(Err(error)) => {
                shared.log.push(&format!("Draftboard: the tools changed, and listing them failed: {error}"))
            }
            Err(_) => shared.log.push(&format!(
                "Draftboard: the tools changed, and listing them took longer than {}",
                shown(limit)
            )),
        }
    }
}

/// The listen request of the modern era. When it ends, it is repeated with growing pauses, and the tool list is
/// reloaded.
struct Held {
    request: Option<Subscription>,
    /// The pause before the next request; `None` when the server does not support listening.
    pause: Option<Duration>,
    /// A listen request succeeded before.
    was_held: bool,
}

impl Held {
    fn new(listens: bool) -> Self {
        Self { request: None, pause: listens.then_some(Duration::ZERO), was_held: false }
    }

    /// Returns when the tools changed or may have changed; never when the server cannot report changes.
    async fn news(&mut self, peer: &Peer<RoleClient>, limit: Duration) {
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
            self.pause = Some((pause * 2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE));
            let wanted = SubscriptionFilter::builder().tools_list_changed().build();
            match tokio::time::timeout(limit, peer.listen(wanted)).await {
                Ok(Ok(request)) => {
                    self.request = Some(request);
                    if std::mem::replace(&mut self.was_held, true) {
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
