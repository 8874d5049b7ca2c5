//! Opens a connection: credentials, package, process or URL, handshake.

use super::{
    ServerDeps, StartCancellation,
    client::ManagedServerClientHandler,
    connection::ServerConnection,
    era::LegacyServerMark,
    handshake::{CompletedHandshake, ProtocolEras, StartFailure, perform_handshake},
    state::{ServerRunState, SharedServerState},
};
use crate::{
    config::{HttpAuth, ManagedServerConfig, ManagedServerTransport},
    http::{HttpClient, McpHttpClient},
    install::{self, PackageFetchFailure},
    launch::{self, LaunchContext, LaunchPlan},
    process::ServerProcess,
    secrets::{ResolvedSecrets, UnresolvedSecrets},
};
use http::{HeaderName, HeaderValue};
use rmcp::{
    model::ProtocolVersion,
    transport::{
        StreamableHttpClientTransport, async_rw::AsyncRwTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use shared_protocol::{Refusal, RefusalCode, managed_servers::StartPhase};
use std::{collections::HashMap, sync::Arc, time::Duration};

/// Runs the whole start. When it is cancelled, it returns after its processes have ended.
pub(super) async fn open(
    config: &ManagedServerConfig,
    surroundings: &ServerDeps,
    shared: &Arc<SharedServerState>,
    quit: &StartCancellation,
) -> Result<ServerConnection, StartFailure> {
    shared.set(ServerRunState::Starting(StartPhase::Credentials));
    let secrets = tokio::select! {
        secrets = credentials(config, surroundings) => secrets?,
        () = quit.cancelled() => return Err(StartFailure::Cancelled),
    };
    shared.log.set_redactor(secrets.redactor());
    let start = ServerStart {
        config,
        deps: surroundings,
        shared,
        quit,
        era: LegacyServerMark::new(config, &surroundings.data),
    };
    match &config.transport {
        ManagedServerTransport::Http { url, auth } => {
            shared.set(ServerRunState::Starting(StartPhase::Connecting));
            start.connect(url, auth, &secrets).await
        }
        ManagedServerTransport::Stdio => {
            let plan = install(config, &secrets, surroundings, shared, quit).await?;
            shared.set(ServerRunState::Starting(StartPhase::Connecting));
            start.run(&plan).await
        }
    }
}

/// Runs on a blocking thread, because a keyring may prompt the user first.
async fn credentials(
    config: &ManagedServerConfig,
    surroundings: &ServerDeps,
) -> Result<ResolvedSecrets, StartFailure> {
    let (asking, store) = (config.clone(), surroundings.secrets.clone());
    let resolved = tokio::task::spawn_blocking(move || ResolvedSecrets::resolve(&asking, &*store)).await;
    let broken = |error| {
        StartFailure::Transient(Refusal::new(
            RefusalCode::Internal,
            format!("Reading the secrets failed: {error}"),
        ))
    };
    resolved.map_err(broken)?.map_err(|unresolved| match unresolved {
        UnresolvedSecrets::Missing(missing) => {
            let names = missing.join(", ");
            let message =
                format!("Missing required credentials: {names}. Set them and start the server again.");
            StartFailure::Credentials { failure: Refusal::validation(&names, message), missing }
        }
        UnresolvedSecrets::Store(failure) => StartFailure::Permanent(failure),
    })
}

async fn install(
    config: &ManagedServerConfig,
    secrets: &ResolvedSecrets,
    surroundings: &ServerDeps,
    shared: &SharedServerState,
    quit: &StartCancellation,
) -> Result<LaunchPlan, StartFailure> {
    let place = LaunchContext { environment: &surroundings.environment, data: &surroundings.data };
    let plan = launch::plan(config, secrets, &place).map_err(StartFailure::Permanent)?;
    if install::needs_install(&plan) {
        shared.set(ServerRunState::Starting(StartPhase::Installing));
        let limit = config.limits.install();
        let installed = install::run(&plan, &surroundings.spawner, &shared.log, limit, quit).await;
        installed.map_err(|unfetched| match unfetched {
            PackageFetchFailure::Cancelled => StartFailure::Cancelled,
            PackageFetchFailure::Failed(failure) if failure.code == RefusalCode::NotFound => {
                StartFailure::Permanent(failure)
            }
            PackageFetchFailure::Failed(failure) => StartFailure::Transient(failure),
        })?;
    }
    Ok(plan)
}

/// The state of a start after its credentials are resolved.
struct ServerStart<'a> {
    config: &'a ManagedServerConfig,
    deps: &'a ServerDeps,
    shared: &'a Arc<SharedServerState>,
    quit: &'a StartCancellation,
    era: LegacyServerMark,
}

impl ServerStart<'_> {
    async fn run(&self, plan: &LaunchPlan) -> Result<ServerConnection, StartFailure> {
        if self.era.is_legacy() {
            let started = self.run_once(plan, ProtocolEras::Legacy).await;
            if let Err(StartFailure::Exited(_)) = &started {
                install::remove_mark(plan);
            }
            if !self.should_retry_both_eras(&started) {
                return started;
            }
        }
        match self.run_once(plan, ProtocolEras::Both).await {
            // Some legacy servers exit on the first modern request, so they are started again with the legacy
            // handshake.
            Err(StartFailure::Exited(_)) => {}
            other => return other,
        }
        let started = self.run_once(plan, ProtocolEras::Legacy).await;
        match &started {
            Err(StartFailure::Exited(_)) => install::remove_mark(plan),
            Ok(_) => self.era.record_legacy(Duration::ZERO, true),
            Err(_) => {}
        }
        started
    }

    async fn run_once(
        &self,
        plan: &LaunchPlan,
        eras: ProtocolEras,
    ) -> Result<ServerConnection, StartFailure> {
        let Self { config, deps: surroundings, shared, quit, .. } = self;
        let since = shared.log.line_count();
        let started = ServerProcess::start(&surroundings.spawner, &plan.launch, &shared.log).await;
        let (mut process, (output, input)) = started.map_err(|error| {
            let message = format!("{} failed to start: {error}", plan.launch.program.display());
            StartFailure::Permanent(Refusal::unavailable(message))
        })?;
        if let Some(clear) = &plan.clear {
            process.run_after_exit(clear.clone(), surroundings.spawner.clone(), shared.log.clone());
        }
        // The pipe already limits its lines, in a way that does not leave a caller waiting.
        let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(usize::MAX);
        let host = ManagedServerClientHandler::new(shared.log.clone());
        let shaken = tokio::select! {
            biased;
            shaken = perform_handshake(config, host, transport, eras, shared) => shaken,
            () = process.wait_ended() => Err(StartFailure::Exited(Refusal::unavailable(String::new()))),
            () = quit.cancelled() => Err(StartFailure::Cancelled),
        };
        match shaken {
            Ok(talk) => {
                self.record_era(eras, &talk);
                Ok(ServerConnection::new(talk, Some(process), config, shared))
            }
            Err(refusal) => {
                // Kills the process without a grace period, because there was no handshake.
                let exit = process.finish().await;
                if let Ok(exit) = exit {
                    shared.record_exit(exit);
                }
                let StartFailure::Exited(_) = refusal else { return Err(refusal) };
                let how =
                    exit.map_or_else(|error| format!("could not be reaped: {error}"), |exit| exit.describe());
                let message = format!(
                    "{} {how} before the handshake completed.{}",
                    config.name,
                    shared.log.last_lines_text(since)
                );
                Err(StartFailure::Exited(Refusal::unavailable(message)))
            }
        }
    }

    /// Returns whether to retry in both eras: only when the server answered and refused. After any failure the next
    /// start tries both eras.
    fn should_retry_both_eras(&self, opened: &Result<ServerConnection, StartFailure>) -> bool {
        let Err(refusal) = opened else { return false };
        if matches!(refusal, StartFailure::Cancelled | StartFailure::Credentials { .. }) {
            return false;
        }
        self.era.remove();
        match refusal {
            StartFailure::Permanent(failure) => failure.code == RefusalCode::UnsupportedCapability,
            StartFailure::Transient(failure) => failure.code == RefusalCode::ServiceUnavailable,
            _ => false,
        }
    }

    fn record_era(&self, eras: ProtocolEras, talk: &CompletedHandshake) {
        if eras == ProtocolEras::Both && talk.version < ProtocolVersion::V_2026_07_28 {
            self.era.record_legacy(talk.detection_time, false);
        }
    }

    async fn connect(
        &self,
        url: &str,
        auth: &HttpAuth,
        secrets: &ResolvedSecrets,
    ) -> Result<ServerConnection, StartFailure> {
        if self.era.is_legacy() {
            let reached = self.connect_once(url, auth, secrets, ProtocolEras::Legacy).await;
            if !self.should_retry_both_eras(&reached) {
                return reached;
            }
        }
        self.connect_once(url, auth, secrets, ProtocolEras::Both).await
    }

    async fn connect_once(
        &self,
        url: &str,
        auth: &HttpAuth,
        secrets: &ResolvedSecrets,
        eras: ProtocolEras,
    ) -> Result<ServerConnection, StartFailure> {
        let Self { config, shared, quit, .. } = self;
        let unusable = |message: String| StartFailure::Permanent(Refusal::validation("transport", message));
        let client = HttpClient::new(config.limits.connect()).map_err(|error| unusable(error.to_string()))?;
        let mut settings = StreamableHttpClientTransportConfig::with_uri(url);
        let secret = auth.secret_ref().and_then(|reference| secrets.get(reference));
        match (auth, secret) {
            (HttpAuth::Bearer { .. }, Some(secret)) => settings = settings.auth_header(secret.reveal()),
            (HttpAuth::Header { name, .. }, Some(secret)) => {
                let name =
                    HeaderName::try_from(name.as_str()).map_err(|error| unusable(error.to_string()))?;
                let mut value = HeaderValue::from_str(secret.reveal()).map_err(|_| {
                    unusable("The secret contains characters that a header cannot hold".to_owned())
                })?;
                value.set_sensitive(true);
                settings = settings.custom_headers(HashMap::from([(name, value)]));
            }
            _ => {}
        }
        let transport = StreamableHttpClientTransport::with_client(McpHttpClient::new(client), settings);
        let talk = tokio::select! {
            talk = perform_handshake(config, ManagedServerClientHandler::new(shared.log.clone()), transport, eras, shared) => talk?,
            () = quit.cancelled() => return Err(StartFailure::Cancelled),
        };
        self.record_era(eras, &talk);
        Ok(ServerConnection::new(talk, None, config, shared))
    }
}
