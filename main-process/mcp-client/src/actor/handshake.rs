//! The handshake with a server in either protocol era, up to its list of tools.

use super::{
    client::ManagedServerClientHandler,
    session::{ToolDefinitions, format_duration, list_tools, root_cause},
    state::SharedServerState,
};
use crate::config::ManagedServerConfig;
use rmcp::{
    ClientServiceExt as _, RoleClient,
    model::ProtocolVersion,
    service::{ClientInitializeError, ClientLifecycleMode, RunningService, ServiceError},
    transport::Transport,
};
use shared_protocol::{Refusal, RefusalCode};
use std::time::{Duration, Instant};

/// The reason a start failed.
pub(super) enum StartFailure {
    Credentials {
        missing: Vec<String>,
        failure: Refusal,
    },
    /// The server exited during the start.
    Exited(Refusal),
    /// The start was cancelled, and its processes have ended.
    Cancelled,
    /// A retry may succeed.
    Transient(Refusal),
    /// A retry fails until a person changes something.
    Permanent(Refusal),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolEras {
    Both,
    Legacy,
}

/// A completed handshake.
pub(super) struct CompletedHandshake {
    pub(super) running: RunningService<RoleClient, ManagedServerClientHandler>,
    pub(super) version: ProtocolVersion,
    pub(super) definitions: ToolDefinitions,
    /// The time until the protocol era was known.
    pub(super) detection_time: Duration,
}

pub(super) async fn perform_handshake<T>(
    config: &ManagedServerConfig,
    host: ManagedServerClientHandler,
    transport: T,
    eras: ProtocolEras,
    shared: &SharedServerState,
) -> Result<CompletedHandshake, StartFailure>
where
    T: Transport<RoleClient> + 'static,
{
    let limit = config.limits.handshake();
    let since = shared.log.line_count();
    if let Ok(done) = tokio::time::timeout(limit, negotiate(config, host, transport, eras, shared)).await {
        return done;
    }
    let words = shared.log.last_lines_text(since);
    let message = format!(
        "Handshake timed out: {} was not ready after {}. Check its log, or raise handshake_ms.{words}",
        config.name,
        format_duration(limit)
    );
    Err(StartFailure::Transient(Refusal::network(message)))
}

async fn negotiate<T>(
    config: &ManagedServerConfig,
    host: ManagedServerClientHandler,
    transport: T,
    eras: ProtocolEras,
    shared: &SharedServerState,
) -> Result<CompletedHandshake, StartFailure>
where
    T: Transport<RoleClient> + 'static,
{
    let mode = match eras {
        ProtocolEras::Legacy => ClientLifecycleMode::Initialize,
        ProtocolEras::Both => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    };
    let began = Instant::now();
    let running = host
        .serve_with_lifecycle(transport, mode)
        .await
        .map_err(|error| classify_failure(config, shared, error))?;
    let greeting = began.elapsed();
    let info = running.peer_info();
    let version = info.map_or(ProtocolVersion::LATEST_WITH_INITIALIZE, |info| info.protocol_version.clone());
    if !ProtocolVersion::KNOWN_VERSIONS.contains(&version) {
        return Err(StartFailure::Permanent(unsupported_version(config, version.as_str())));
    }
    let listed = list_tools(&running).await;
    let (definitions, left_out) = match listed {
        // A server without tools may not know the method.
        Err(ServiceError::McpError(error)) if error.code == rmcp::model::ErrorCode::METHOD_NOT_FOUND => {
            Default::default()
        }
        Err(ServiceError::TransportClosed) => {
            return Err(StartFailure::Exited(Refusal::unavailable(String::new())));
        }
        Err(error) => {
            let message = format!("{} failed to list its tools: {error}", config.name);
            return Err(StartFailure::Transient(Refusal::unavailable(shared.log.redact(&message))));
        }
        Ok(listed) => listed,
    };
    for reason in left_out {
        shared.log.push(&format!("Draftboard: {reason}"));
    }
    Ok(CompletedHandshake { running, version, definitions, detection_time: greeting })
}

fn unsupported_version(config: &ManagedServerConfig, theirs: &str) -> Refusal {
    let known: Vec<&str> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    let message = format!(
        "{} supports MCP version {theirs:.40}; Draftboard supports {}. Install another version of the server.",
        config.name,
        known.join(", ")
    );
    Refusal::new(RefusalCode::UnsupportedCapability, message)
}

fn classify_failure(
    config: &ManagedServerConfig,
    shared: &SharedServerState,
    error: ClientInitializeError,
) -> StartFailure {
    let name = &config.name;
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        let message =
            format!("{name} rejected the credentials. Set valid credentials and start the server again.");
        return StartFailure::Credentials {
            missing: vec!["auth".to_owned()],
            failure: Refusal::validation("auth", message),
        };
    }
    match error {
        ClientInitializeError::ConnectionClosed(_) => {
            StartFailure::Exited(Refusal::unavailable(format!("{name} closed the connection")))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            StartFailure::Permanent(unsupported_version(config, &theirs.join(", ")))
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            classify_failure(config, shared, *fallback)
        }
        ClientInitializeError::TransportError { error, .. } => {
            let message = format!("{name}: {}", root_cause(&*error.error));
            StartFailure::Transient(Refusal::network(shared.log.redact(&message)))
        }
        other => {
            let message = format!("{name} refused the handshake: {other:.300}");
            StartFailure::Transient(Refusal::unavailable(shared.log.redact(&message)))
        }
    }
}
