//! A connection as its actor holds it: the conversation, the process behind it, and the list of tools kept up to date.

use super::{
    handshake::Talk,
    host::Host,
    link::{Link, list_tools, shown},
    state::Shared,
};
use crate::{config::McpConfig, process::Process, spawn::Exit};
use rmcp::{
    Peer, RoleClient,
    model::{ProtocolVersion, SubscriptionFilter},
    service::Subscription,
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

/// Changes of the list within that time are one.
const DEBOUNCE: Duration = Duration::from_millis(150);

pub(super) struct Connection {
    pub(super) link: Arc<Link>,
    /// Done when the conversation is. Dropping it ends the conversation, and with it the input of the process.
    serving: Pin<Box<dyn Future<Output = ()> + Send>>,
    process: Option<Process>,
    _follower: Follower,
}

/// Ends with the connection.
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
        let Talk { running, version, definitions } = talk;
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

    /// Waits until it is over without our doing.
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

    /// Ends the conversation, the process and all that it has started. Says how the process ended, if there is one.
    pub(super) async fn end(self, grace: Duration) -> Option<io::Result<Exit>> {
        drop(self.serving);
        Some(self.process?.end(grace).await)
    }
}

/// Asks again whenever the server says that its tools have changed: by a message in the older era, on a held request in
/// the newer one.
async fn follow(link: Arc<Link>, shared: Arc<Shared>, changed: Arc<Notify>, listens: bool, limit: Duration) {
    let mut held = if listens { listen(&link.peer).await } else { None };
    loop {
        tokio::select! {
            () = changed.notified() => {}
            heard = next(&mut held) => if !heard {
                held = None;
                continue;
            },
        }
        tokio::time::sleep(DEBOUNCE).await;
        match tokio::time::timeout(limit, list_tools(&link.peer)).await {
            Ok(Ok((definitions, left_out))) => {
                for reason in left_out {
                    shared.log.push(&format!("Draftboard: {reason}"));
                }
                *link.definitions.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(definitions);
                shared.tell();
            }
            Ok(Err(error)) => {
                shared.log.push(&format!("Draftboard: its tools have changed and cannot be told: {error}"))
            }
            Err(_) => shared.log.push(&format!(
                "Draftboard: its tools have changed and were not told within {}",
                shown(limit)
            )),
        }
    }
}

async fn listen(peer: &Peer<RoleClient>) -> Option<Subscription> {
    // Not every server that says that its list changes also knows how to tell.
    peer.listen(SubscriptionFilter::builder().tools_list_changed().build()).await.ok()
}

/// Whether there was news; without a held request there never is any.
async fn next(held: &mut Option<Subscription>) -> bool {
    match held {
        Some(subscription) => matches!(subscription.next().await, Ok(Some(_))),
        None => std::future::pending().await,
    }
}
