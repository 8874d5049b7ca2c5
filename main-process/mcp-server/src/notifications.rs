//! Subscriptions of both protocol eras and their notifications. Changes are debounced, so that a drag causes one
//! notification; the final state is always notified.

use crate::{AgentView, ResourceInput, clients::ClientKey, service::AgentServiceState};
use rmcp::{
    RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{Peer, SubscriptionSink},
};
use shared_protocol::{Refusal, RefusalCode, mcp::McpMode};
use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The debounce interval of change notifications.
const NOTIFY_DEBOUNCE: Duration = Duration::from_millis(150);
/// A client that does not accept a notification within this time is unsubscribed.
const MAX_NOTIFY_TIME: Duration = Duration::from_secs(2);
/// The maximum number of resource subscriptions per client.
pub(crate) const MAX_SUBSCRIPTIONS_PER_CLIENT: usize = 64;
const MAX_SUBSCRIBERS: usize = 256;
/// The interval between checks for connections that closed silently.
const SWEEP_INTERVAL: Duration = Duration::from_secs(20);

#[derive(Default)]
pub(crate) struct Subscriptions {
    inner: Mutex<SubscriberTable>,
}

/// A legacy client with its subscribed URIs.
type LegacySubscriber = (ClientKey, Peer<RoleServer>, BTreeSet<String>);

#[derive(Default)]
struct SubscriberTable {
    next: u64,
    /// Legacy clients with their subscribed URIs.
    sessions: BTreeMap<ClientKey, (Peer<RoleServer>, BTreeSet<String>)>,
    streams: BTreeMap<u64, SubscriptionSink>,
}

impl Subscriptions {
    fn lock(&self) -> MutexGuard<'_, SubscriberTable> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a client of the legacy protocol.
    pub(crate) fn add_session(&self, key: ClientKey, peer: Peer<RoleServer>) {
        let mut listeners = self.lock();
        if listeners.sessions.len() < MAX_SUBSCRIBERS {
            listeners.sessions.entry(key).or_insert_with(|| (peer, BTreeSet::new()));
        }
    }

    pub(crate) fn subscribe(
        &self,
        key: ClientKey,
        peer: Peer<RoleServer>,
        uri: String,
    ) -> Result<(), Refusal> {
        self.add_session(key.clone(), peer);
        let mut listeners = self.lock();
        let too_many = || {
            Refusal::new(
                RefusalCode::LimitExceeded,
                format!("A client can have at most {MAX_SUBSCRIPTIONS_PER_CLIENT} subscriptions"),
            )
        };
        let (_, uris) = listeners.sessions.get_mut(&key).ok_or_else(too_many)?;
        if uris.len() >= MAX_SUBSCRIPTIONS_PER_CLIENT && !uris.contains(&uri) {
            return Err(too_many());
        }
        uris.insert(uri);
        Ok(())
    }

    /// Returns false when the client was not subscribed.
    pub(crate) fn unsubscribe(&self, key: &ClientKey, uri: &str) -> bool {
        self.lock().sessions.get_mut(key).is_some_and(|(_, uris)| uris.remove(uri))
    }

    pub(crate) fn add_stream(&self, sink: SubscriptionSink) -> u64 {
        let mut listeners = self.lock();
        listeners.next += 1;
        let number = listeners.next;
        if listeners.streams.len() < MAX_SUBSCRIBERS {
            listeners.streams.insert(number, sink);
        }
        number
    }

    pub(crate) fn remove_stream(&self, number: u64) {
        self.lock().streams.remove(&number);
    }

    pub(crate) fn remove_session(&self, key: &ClientKey) {
        self.lock().sessions.remove(key);
    }

    fn subscribers(&self) -> (Vec<LegacySubscriber>, Vec<(u64, SubscriptionSink)>) {
        let listeners = self.lock();
        let sessions =
            listeners.sessions.iter().map(|(key, (peer, uris))| (key.clone(), peer.clone(), uris.clone()));
        (sessions.collect(), listeners.streams.iter().map(|(number, sink)| (*number, sink.clone())).collect())
    }
}

/// Notifies subscribers of changes until the service stops.
pub(crate) async fn watch(inner: &Arc<AgentServiceState>) {
    let mut changed = inner.workbench.watch_changes();
    let mut mode_changed = inner.mode_changed.subscribe();
    let mut seen = (inner.workbench.view(), inner.mode());
    let mut sweep = tokio::time::interval(SWEEP_INTERVAL);
    loop {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            _ = sweep.tick() => {
                remove_closed_sessions(inner);
                continue;
            }
            heard = changed.changed() => if heard.is_err() { return },
            heard = mode_changed.changed() => if heard.is_err() { return },
        }
        tokio::time::sleep(NOTIFY_DEBOUNCE).await;
        // This pass also covers changes that arrived during the sleep.
        changed.mark_unchanged();
        mode_changed.mark_unchanged();
        let now = (inner.workbench.view(), inner.mode());
        let differs = changed_inputs(&seen.0, &now.0, seen.1 != now.1);
        let mode_differs = seen.1 != now.1;
        let tools_differ =
            now.1 == McpMode::Guarded && !seen.0.proxied_tools.has_same_tools(&now.0.proxied_tools);
        let lists = ChangedLists { tools: mode_differs || tools_differ, others: mode_differs };
        let before = std::mem::replace(&mut seen, now).0;
        notify_subscribers(inner, &differs, &before, &seen.0, lists).await;
    }
}

fn remove_closed_sessions(inner: &AgentServiceState) {
    for (key, peer, _) in inner.notices.subscribers().0 {
        if peer.is_transport_closed() {
            inner.notices.remove_session(&key);
            inner.clients.remove(&key);
        }
    }
}

/// Returns the inputs that differ between two views.
fn changed_inputs(before: &AgentView, after: &AgentView, mode: bool) -> BTreeSet<ResourceInput> {
    let mut differs = BTreeSet::new();
    if mode {
        differs.insert(ResourceInput::Mode);
    }
    let is_same = match (&before.specs, &after.specs) {
        (Some(before), Some(after)) => Arc::ptr_eq(before, after),
        (before, after) => before.is_none() && after.is_none(),
    };
    if !is_same {
        differs.insert(ResourceInput::Specs);
    }
    if before.review_stamp != after.review_stamp {
        differs.insert(ResourceInput::Review);
    }
    let (before, after) = match (&before.workspace, &after.workspace) {
        (None, None) => return differs,
        (Some(before), Some(after)) if before.root == after.root => (before, after),
        _ => {
            differs.extend([
                ResourceInput::Content,
                ResourceInput::Types,
                ResourceInput::Presence,
                ResourceInput::Status,
                ResourceInput::Config,
                ResourceInput::Deployment,
                ResourceInput::Previews,
                ResourceInput::Review,
            ]);
            return differs;
        }
    };
    let mut note = |depends, is_same: bool| {
        if !is_same {
            differs.insert(depends);
        }
    };
    note(ResourceInput::Content, before.revision() == after.revision());
    note(ResourceInput::Types, Arc::ptr_eq(before.snapshot.registry(), after.snapshot.registry()));
    note(ResourceInput::Presence, before.presence == after.presence);
    note(ResourceInput::Status, before.status == after.status);
    note(ResourceInput::Config, before.config == after.config);
    note(ResourceInput::Deployment, before.deployments == after.deployments);
    note(ResourceInput::Previews, before.previews == after.previews);
    differs
}

/// The lists that changed.
#[derive(Clone, Copy)]
struct ChangedLists {
    tools: bool,
    others: bool,
}

async fn notify_subscribers(
    inner: &Arc<AgentServiceState>,
    differs: &BTreeSet<ResourceInput>,
    before: &AgentView,
    after: &AgentView,
    lists: ChangedLists,
) {
    let concerns = |uri: &str| {
        let Some((resource, _)) = inner.surface.resource(uri) else { return false };
        resource.depends.iter().any(|depends| differs.contains(depends))
            && resource.differs.as_ref().is_none_or(|differs| differs(before, after, uri))
    };
    let (sessions, streams) = inner.notices.subscribers();
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
        if !completes_in_time(told).await {
            inner.notices.remove_session(&key);
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
        if !completes_in_time(told).await {
            inner.notices.remove_stream(number);
        }
    }
}

async fn completes_in_time<E>(told: impl Future<Output = Result<(), E>>) -> bool {
    matches!(tokio::time::timeout(MAX_NOTIFY_TIME, told).await, Ok(Ok(())))
}
