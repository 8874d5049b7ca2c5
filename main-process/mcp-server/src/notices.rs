//! Subscriptions of both protocol eras and their notifications. Changes are debounced, so that a drag causes one
//! notification; the final state is always notified.

use crate::{Code, Depends, Failure, View, clients::Key, service::Inner};
use rmcp::{
    RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{Peer, SubscriptionSink},
};
use shared_protocol::mcp::McpMode;
use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The debounce interval of change notifications.
const GATHER: Duration = Duration::from_millis(150);
/// A client that does not accept a notification within this time is unsubscribed.
const TELL_LIMIT: Duration = Duration::from_secs(2);
/// The maximum number of resource subscriptions per client.
pub(crate) const MOST_SUBSCRIPTIONS: usize = 64;
const MOST_LISTENERS: usize = 256;
/// The interval between checks for connections that closed silently.
const SWEEP: Duration = Duration::from_secs(20);

#[derive(Default)]
pub(crate) struct Notices {
    inner: Mutex<Listeners>,
}

/// A legacy client with its subscribed URIs.
type Session = (Key, Peer<RoleServer>, BTreeSet<String>);

#[derive(Default)]
struct Listeners {
    next: u64,
    /// Legacy clients with their subscribed URIs.
    sessions: BTreeMap<Key, (Peer<RoleServer>, BTreeSet<String>)>,
    streams: BTreeMap<u64, SubscriptionSink>,
}

impl Notices {
    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a client of the legacy protocol.
    pub(crate) fn know(&self, key: Key, peer: Peer<RoleServer>) {
        let mut listeners = self.lock();
        if listeners.sessions.len() < MOST_LISTENERS {
            listeners.sessions.entry(key).or_insert_with(|| (peer, BTreeSet::new()));
        }
    }

    pub(crate) fn subscribe(&self, key: Key, peer: Peer<RoleServer>, uri: String) -> Result<(), Failure> {
        self.know(key.clone(), peer);
        let mut listeners = self.lock();
        let too_many = || {
            Failure::new(
                Code::LimitExceeded,
                format!("A client can have at most {MOST_SUBSCRIPTIONS} subscriptions"),
            )
        };
        let (_, uris) = listeners.sessions.get_mut(&key).ok_or_else(too_many)?;
        if uris.len() >= MOST_SUBSCRIPTIONS && !uris.contains(&uri) {
            return Err(too_many());
        }
        uris.insert(uri);
        Ok(())
    }

    /// Returns false when the client was not subscribed.
    pub(crate) fn unsubscribe(&self, key: &Key, uri: &str) -> bool {
        self.lock().sessions.get_mut(key).is_some_and(|(_, uris)| uris.remove(uri))
    }

    pub(crate) fn listen(&self, sink: SubscriptionSink) -> u64 {
        let mut listeners = self.lock();
        listeners.next += 1;
        let number = listeners.next;
        if listeners.streams.len() < MOST_LISTENERS {
            listeners.streams.insert(number, sink);
        }
        number
    }

    pub(crate) fn stop_listening(&self, number: u64) {
        self.lock().streams.remove(&number);
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.lock().sessions.remove(key);
    }

    fn everybody(&self) -> (Vec<Session>, Vec<(u64, SubscriptionSink)>) {
        let listeners = self.lock();
        let sessions =
            listeners.sessions.iter().map(|(key, (peer, uris))| (key.clone(), peer.clone(), uris.clone()));
        (sessions.collect(), listeners.streams.iter().map(|(number, sink)| (*number, sink.clone())).collect())
    }
}

/// Notifies subscribers of changes until the service stops.
pub(crate) async fn watch(inner: &Arc<Inner>) {
    let mut changed = inner.workbench.changed();
    let mut mode_changed = inner.mode_changed.subscribe();
    let mut seen = (inner.workbench.view(), inner.mode());
    let mut sweep = tokio::time::interval(SWEEP);
    loop {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            _ = sweep.tick() => {
                drop_ended(inner);
                continue;
            }
            heard = changed.changed() => if heard.is_err() { return },
            heard = mode_changed.changed() => if heard.is_err() { return },
        }
        tokio::time::sleep(GATHER).await;
        // This pass also covers changes that arrived during the sleep.
        changed.mark_unchanged();
        mode_changed.mark_unchanged();
        let now = (inner.workbench.view(), inner.mode());
        let differs = difference(&seen.0, &now.0, seen.1 != now.1);
        let mode_differs = seen.1 != now.1;
        let tools_differ = now.1 == McpMode::Guarded && !seen.0.guests.has_same_tools(&now.0.guests);
        let lists = Lists { tools: mode_differs || tools_differ, others: mode_differs };
        let before = std::mem::replace(&mut seen, now).0;
        tell(inner, &differs, &before, &seen.0, lists).await;
    }
}

fn drop_ended(inner: &Inner) {
    for (key, peer, _) in inner.notices.everybody().0 {
        if peer.is_transport_closed() {
            inner.notices.forget(&key);
            inner.clients.gone(&key);
        }
    }
}

/// Returns the inputs that differ between two views.
fn difference(before: &View, after: &View, mode: bool) -> BTreeSet<Depends> {
    let mut differs = BTreeSet::new();
    if mode {
        differs.insert(Depends::Mode);
    }
    let is_same = match (&before.specs, &after.specs) {
        (Some(before), Some(after)) => Arc::ptr_eq(before, after),
        (before, after) => before.is_none() && after.is_none(),
    };
    if !is_same {
        differs.insert(Depends::Specs);
    }
    if before.review_stamp != after.review_stamp {
        differs.insert(Depends::Review);
    }
    let (before, after) = match (&before.workspace, &after.workspace) {
        (None, None) => return differs,
        (Some(before), Some(after)) if before.root == after.root => (before, after),
        _ => {
            differs.extend([
                Depends::Content,
                Depends::Types,
                Depends::Presence,
                Depends::Status,
                Depends::Config,
                Depends::Deployment,
                Depends::Previews,
                Depends::Review,
            ]);
            return differs;
        }
    };
    let mut note = |depends, is_same: bool| {
        if !is_same {
            differs.insert(depends);
        }
    };
    note(Depends::Content, before.revision() == after.revision());
    note(Depends::Types, Arc::ptr_eq(before.snapshot.registry(), after.snapshot.registry()));
    note(Depends::Presence, before.presence == after.presence);
    note(Depends::Status, before.status == after.status);
    note(Depends::Config, before.config == after.config);
    note(Depends::Deployment, before.deployments == after.deployments);
    note(Depends::Previews, before.previews == after.previews);
    differs
}

/// The lists that changed.
#[derive(Clone, Copy)]
struct Lists {
    tools: bool,
    others: bool,
}

async fn tell(inner: &Arc<Inner>, differs: &BTreeSet<Depends>, before: &View, after: &View, lists: Lists) {
    let concerns = |uri: &str| {
        let Some((resource, _)) = inner.surface.resource(uri) else { return false };
        resource.depends.iter().any(|depends| differs.contains(depends))
            && resource.differs.as_ref().is_none_or(|differs| differs(before, after, uri))
    };
    let (sessions, streams) = inner.notices.everybody();
    for (key, peer, uris) in sessions {
        let told = async {
            if lists.tools {
                peer.notify_tool_list_changed().await?;
            }
            if lists.others {
                peer.notify_resource_list_changed().await?;
                peer.notify_prompt_list_changed().await?;
            }
            for uri in uris.into_iter().filter(|uri| concerns(uri)) {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
            }
            Ok::<(), rmcp::ServiceError>(())
        };
        if !in_time(told).await {
            inner.notices.forget(&key);
        }
    }
    for (number, sink) in streams {
        let uris = sink.accepted().resource_subscriptions.clone().unwrap_or_default();
        let told = async {
            // The sink rejects notifications that the client did not request.
            if lists.tools {
                let _ = sink.notify_tool_list_changed().await;
            }
            if lists.others {
                let _ = sink.notify_resource_list_changed().await;
                let _ = sink.notify_prompt_list_changed().await;
            }
            for uri in uris.into_iter().filter(|uri| concerns(uri)) {
                sink.notify_resource_updated(uri).await?;
            }
            Ok::<(), rmcp::service::SubscriptionSendError>(())
        };
        if !in_time(told).await {
            inner.notices.stop_listening(number);
        }
    }
}

async fn in_time<E>(told: impl Future<Output = Result<(), E>>) -> bool {
    matches!(tokio::time::timeout(TELL_LIMIT, told).await, Ok(Ok(())))
}
