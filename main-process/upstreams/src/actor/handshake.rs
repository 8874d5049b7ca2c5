//! The handshake with a server in either protocol era, up to its list of tools.

use super::{
    host::Host,
    link::{Definitions, list_tools, root, shown},
    state::Shared,
};
use crate::{
    config::McpConfig,
    failure::{Code, Failure},
};
use rmcp::{
    ClientServiceExt as _, RoleClient,
    model::ProtocolVersion,
    service::{ClientInitializeError, ClientLifecycleMode, RunningService, ServiceError},
    transport::Transport,
};
use std::time::{Duration, Instant};

/// The reason a start failed.
pub(super) enum Refusal {
    Credentials {
        missing: Vec<String>,
        failure: Failure,
    },
    /// The server exited during the start.
    Ended(Failure),
    /// The start was cancelled, and its processes have ended.
    Quit,
    /// A retry may succeed.
    Passing(Failure),
    /// A retry fails until a person changes something.
    Lasting(Failure),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Eras {
    Both,
    Older,
}

/// A completed handshake.
pub(super) struct Talk {
    pub(super) running: RunningService<RoleClient, Host>,
    pub(super) version: ProtocolVersion,
    pub(super) definitions: Definitions,
    /// The time until the protocol era was known.
    pub(super) greeting: Duration,
}

pub(super) async fn shake_hands<T>(
    config: &McpConfig,
    host: Host,
    transport: T,
    eras: Eras,
    shared: &Shared,
) -> Result<Talk, Refusal>
where
    T: Transport<RoleClient> + 'static,
{
    let limit = config.limits.handshake();
    let since = shared.log.mark();
    tokio::time::timeout(limit, greet(config, host, transport, eras, shared)).await.unwrap_or_else(|_| {
        let words = shared.log.last_words(since);
        let message = format!(
            "Handshake timed out: {} was not ready after {}. Check its log, or raise handshake_ms.{words}",
            config.name,
            shown(limit)
        );
        Err(Refusal::Passing(Failure::network(message)))
    })
}

async fn greet<T>(
    config: &McpConfig,
    host: Host,
    transport: T,
    eras: Eras,
    shared: &Shared,
) -> Result<Talk, Refusal>
where
    T: Transport<RoleClient> + 'static,
{
    let mode = match eras {
        Eras::Older => ClientLifecycleMode::Initialize,
        Eras::Both => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    };
    let began = Instant::now();
    let running =
        host.serve_with_lifecycle(transport, mode).await.map_err(|error| explain(config, shared, error))?;
    let greeting = began.elapsed();
    let info = running.peer_info();
    let version = info.map_or(ProtocolVersion::LATEST_WITH_INITIALIZE, |info| info.protocol_version.clone());
    if !ProtocolVersion::KNOWN_VERSIONS.contains(&version) {
        return Err(Refusal::Lasting(other_version(config, version.as_str())));
    }
    let listed = list_tools(&running).await;
    let (definitions, left_out) = match listed {
        // A server without tools may not know the method.
        Err(ServiceError::McpError(error)) if error.code == rmcp::model::ErrorCode::METHOD_NOT_FOUND => {
            Default::default()
        }
        Err(ServiceError::TransportClosed) => {
            return Err(Refusal::Ended(Failure::unavailable(String::new())));
        }
        Err(error) => {
            let message = format!("{} failed to list its tools: {error}", config.name);
            return Err(Refusal::Passing(Failure::unavailable(shared.log.clean(&message))));
        }
        Ok(listed) => listed,
    };
    for reason in left_out {
        shared.log.push(&format!("Draftboard: {reason}"));
    }
    Ok(Talk { running, version, definitions, greeting })
}

fn other_version(config: &McpConfig, theirs: &str) -> Failure {
    let known: Vec<&str> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    let message = format!(
        "{} supports MCP version {theirs:.40}; Draftboard supports {}. Install another version of the server.",
        config.name,
        known.join(", ")
    );
    Failure::new(Code::UnsupportedCapability, message)
}

fn explain(config: &McpConfig, shared: &Shared, error: ClientInitializeError) -> Refusal {
    let name = &config.name;
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        let message =
            format!("{name} rejected the credentials. Set valid credentials and start the server again.");
        return Refusal::Credentials {
            missing: vec!["auth".to_owned()],
            failure: Failure::validation("auth", message),
        };
    }
    match error {
        ClientInitializeError::ConnectionClosed(_) => {
            Refusal::Ended(Failure::unavailable(format!("{name} closed the connection")))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            Refusal::Lasting(other_version(config, &theirs.join(", ")))
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => explain(config, shared, *fallback),
        ClientInitializeError::TransportError { error, .. } => {
            let message = format!("{name}: {}", root(&*error.error));
            Refusal::Passing(Failure::network(shared.log.clean(&message)))
        }
        other => {
            let message = format!("{name} refused the handshake: {other:.300}");
            Refusal::Passing(Failure::unavailable(shared.log.clean(&message)))
        }
    }
}
