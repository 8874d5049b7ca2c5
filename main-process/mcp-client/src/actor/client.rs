//! The client that servers see: it receives progress and change notifications. It offers no sampling, roots or
//! elicitation; such requests are declined immediately.

use crate::log::ServerLog;
use rmcp::{
    ClientHandler,
    model::{
        ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
        ProtocolVersion,
    },
    service::{NotificationContext, RoleClient},
};
use serde::Serialize;
use std::{collections::HashMap, sync::Arc};
use tokio::sync::{Mutex, Notify, mpsc};

/// The progress of a call.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallProgress {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// The progress receivers of calls. Locked while a call is sent, so that its first notification is not missed.
pub(super) type ProgressWatchers = Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<CallProgress>>>>;

#[derive(Clone)]
pub(super) struct ManagedServerClientHandler {
    pub(super) tools_changed: Arc<Notify>,
    pub(super) watchers: ProgressWatchers,
    pub(super) log: Arc<ServerLog>,
}

impl ManagedServerClientHandler {
    pub(super) fn new(log: Arc<ServerLog>) -> Self {
        Self { tools_changed: Arc::default(), watchers: Arc::default(), log }
    }
}

impl ClientHandler for ManagedServerClientHandler {
    fn get_info(&self) -> ClientConfig {
        let me = Implementation::new("draftboard", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), me)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let watcher = self.watchers.lock().await.get(&params.progress_token).cloned();
        if let Some(watcher) = watcher {
            let message = params.message.map(|message| self.log.redact(&message));
            // A slow receiver misses a step, not the result.
            let _ =
                watcher.try_send(CallProgress { progress: params.progress, total: params.total, message });
        }
    }
}
