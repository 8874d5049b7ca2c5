//! Opens a connection: credentials, package, process or URL, handshake.

use super::{
    Surroundings, Wanted,
    connection::Connection,
    era::KnownEra,
    handshake::{Eras, Refusal, Talk, shake_hands},
    host::Host,
    state::{Phase, Shared, State},
};
use crate::{
    config::{HttpAuth, McpConfig, McpTransport},
    failure::{Code, Failure},
    http::{HttpClient, McpClient},
    install::{self, Unfetched},
    launch::{self, Place, Plan},
    process::Process,
    secrets::{Resolved, Unresolved},
};
use http::{HeaderName, HeaderValue};
use rmcp::{
    model::ProtocolVersion,
    transport::{
        StreamableHttpClientTransport, async_rw::AsyncRwTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use std::{collections::HashMap, sync::Arc, time::Duration};

/// Runs the whole start. When it is cancelled, it returns after its processes have ended.
pub(super) async fn open(
    config: &McpConfig,
    surroundings: &Surroundings,
    shared: &Arc<Shared>,
    quit: &Wanted,
) -> Result<Connection, Refusal> {
    shared.set(State::Starting(Phase::Credentials));
    let secrets = tokio::select! {
        secrets = credentials(config, surroundings) => secrets?,
        () = quit.wanted() => return Err(Refusal::Quit),
    };
    shared.log.hide(secrets.redactor());
    let start = Start { config, surroundings, shared, quit, era: KnownEra::of(config, &surroundings.data) };
    match &config.transport {
        McpTransport::Http { url, auth } => {
            shared.set(State::Starting(Phase::Connecting));
            start.reach(url, auth, &secrets).await
        }
        McpTransport::Stdio => {
            let plan = install(config, &secrets, surroundings, shared, quit).await?;
            shared.set(State::Starting(Phase::Connecting));
            start.run(&plan).await
        }
    }
}

/// Runs on a blocking thread, because a keyring may prompt the user first.
async fn credentials(config: &McpConfig, surroundings: &Surroundings) -> Result<Resolved, Refusal> {
    let (asking, store) = (config.clone(), surroundings.secrets.clone());
    let resolved = tokio::task::spawn_blocking(move || Resolved::of(&asking, &*store)).await;
    let broken = |error| {
        Refusal::Passing(Failure::new(Code::Internal, format!("Reading the secrets failed: {error}")))
    };
    resolved.map_err(broken)?.map_err(|unresolved| match unresolved {
        Unresolved::Missing(missing) => {
            let names = missing.join(", ");
            let message =
                format!("Missing required credentials: {names}. Set them and start the server again.");
            Refusal::Credentials { failure: Failure::validation(&names, message), missing }
        }
        Unresolved::Store(failure) => Refusal::Lasting(failure),
    })
}

async fn install(
    config: &McpConfig,
    secrets: &Resolved,
    surroundings: &Surroundings,
    shared: &Shared,
    quit: &Wanted,
) -> Result<Plan, Refusal> {
    let place = Place { environment: &surroundings.environment, data: &surroundings.data };
    let plan = launch::plan(config, secrets, &place).map_err(Refusal::Lasting)?;
    if install::needed(&plan) {
        shared.set(State::Starting(Phase::Installing));
        let limit = config.limits.install();
        let installed = install::run(&plan, &surroundings.spawner, &shared.log, limit, quit).await;
        installed.map_err(|unfetched| match unfetched {
            Unfetched::Quit => Refusal::Quit,
            Unfetched::Failed(failure) if failure.code == Code::NotFound => Refusal::Lasting(failure),
            Unfetched::Failed(failure) => Refusal::Passing(failure),
        })?;
    }
    Ok(plan)
}

/// The state of a start after its credentials are resolved.
struct Start<'a> {
    config: &'a McpConfig,
    surroundings: &'a Surroundings,
    shared: &'a Arc<Shared>,
    quit: &'a Wanted,
    era: KnownEra,
}

impl Start<'_> {
    async fn run(&self, plan: &Plan) -> Result<Connection, Refusal> {
        if self.era.is_older() {
            let started = self.run_once(plan, Eras::Older).await;
            if let Err(Refusal::Ended(_)) = &started {
                install::forget(plan);
            }
            if !self.is_newer_now(&started) {
                return started;
            }
        }
        match self.run_once(plan, Eras::Both).await {
            // Some legacy servers exit on the first modern request, so they are started again with the legacy
            // handshake.
            Err(Refusal::Ended(_)) => {}
            other => return other,
        }
        let started = self.run_once(plan, Eras::Older).await;
        match &started {
            Err(Refusal::Ended(_)) => install::forget(plan),
            Ok(_) => self.era.found_older(Duration::ZERO, true),
            Err(_) => {}
        }
        started
    }

    async fn run_once(&self, plan: &Plan, eras: Eras) -> Result<Connection, Refusal> {
        let Self { config, surroundings, shared, quit, .. } = self;
        let since = shared.log.mark();
        let started = Process::start(&surroundings.spawner, &plan.launch, &shared.log).await;
        let (mut process, (output, input)) = started.map_err(|error| {
            let message = format!("{} failed to start: {error}", plan.launch.program.display());
            Refusal::Lasting(Failure::unavailable(message))
        })?;
        if let Some(clear) = &plan.clear {
            process.then(clear.clone(), surroundings.spawner.clone(), shared.log.clone());
        }
        // The pipe already limits its lines, in a way that does not leave a caller waiting.
        let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(usize::MAX);
        let host = Host::new(shared.log.clone());
        let shaken = tokio::select! {
            biased;
            shaken = shake_hands(config, host, transport, eras, shared) => shaken,
            () = process.ended() => Err(Refusal::Ended(Failure::unavailable(String::new()))),
            () = quit.wanted() => Err(Refusal::Quit),
        };
        match shaken {
            Ok(talk) => {
                self.learn(eras, &talk);
                Ok(Connection::new(talk, Some(process), config, shared))
            }
            Err(refusal) => {
                // Kills the process without a grace period, because there was no handshake.
                let exit = process.finish().await;
                if let Ok(exit) = exit {
                    shared.ended(exit);
                }
                let Refusal::Ended(_) = refusal else { return Err(refusal) };
                let how = exit
                    .map_or_else(|error| format!("could not be reaped: {error}"), |exit| exit.to_string());
                let message = format!(
                    "{} {how} before the handshake completed.{}",
                    config.name,
                    shared.log.last_words(since)
                );
                Err(Refusal::Ended(Failure::unavailable(message)))
            }
        }
    }

    /// Returns whether to retry in both eras: only when the server answered and refused. After any failure the next
    /// start tries both eras.
    fn is_newer_now(&self, opened: &Result<Connection, Refusal>) -> bool {
        let Err(refusal) = opened else { return false };
        if matches!(refusal, Refusal::Quit | Refusal::Credentials { .. }) {
            return false;
        }
        self.era.forget();
        match refusal {
            Refusal::Lasting(failure) => failure.code == Code::UnsupportedCapability,
            Refusal::Passing(failure) => failure.code == Code::ServiceUnavailable,
            _ => false,
        }
    }

    fn learn(&self, eras: Eras, talk: &Talk) {
        if eras == Eras::Both && talk.version < ProtocolVersion::V_2026_07_28 {
            self.era.found_older(talk.greeting, false);
        }
    }

    async fn reach(&self, url: &str, auth: &HttpAuth, secrets: &Resolved) -> Result<Connection, Refusal> {
        if self.era.is_older() {
            let reached = self.reach_once(url, auth, secrets, Eras::Older).await;
            if !self.is_newer_now(&reached) {
                return reached;
            }
        }
        self.reach_once(url, auth, secrets, Eras::Both).await
    }

    async fn reach_once(
        &self,
        url: &str,
        auth: &HttpAuth,
        secrets: &Resolved,
        eras: Eras,
    ) -> Result<Connection, Refusal> {
        let Self { config, shared, quit, .. } = self;
        let unusable = |message: String| Refusal::Lasting(Failure::validation("transport", message));
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
        let transport = StreamableHttpClientTransport::with_client(McpClient::new(client), settings);
        let talk = tokio::select! {
            talk = shake_hands(config, Host::new(shared.log.clone()), transport, eras, shared) => talk?,
            () = quit.wanted() => return Err(Refusal::Quit),
        };
        self.learn(eras, &talk);
        Ok(Connection::new(talk, None, config, shared))
    }
}
