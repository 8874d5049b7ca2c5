//! From a configuration to a connection: credentials, package, process or address, handshake.

use super::{
    Surroundings,
    connection::Connection,
    handshake::{Eras, Refusal, shake_hands},
    host::Host,
    state::{Phase, Shared, State},
};
use crate::{
    config::{HttpAuth, McpConfig, McpTransport},
    failure::{Code, Failure},
    http::{HttpClient, McpClient},
    install,
    launch::{self, Place, Plan},
    process::Process,
    secrets::{Resolved, Unresolved},
};
use http::{HeaderName, HeaderValue};
use rmcp::transport::{
    StreamableHttpClientTransport, async_rw::AsyncRwTransport,
    streamable_http_client::StreamableHttpClientTransportConfig,
};
use std::{collections::HashMap, sync::Arc};

/// The whole start. Dropping it on the way kills what has been started.
pub(super) async fn open(
    config: &McpConfig,
    surroundings: &Surroundings,
    shared: &Arc<Shared>,
) -> Result<Connection, Refusal> {
    shared.set(State::Starting(Phase::Credentials));
    let secrets = credentials(config, surroundings).await?;
    shared.log.hide(secrets.redactor());
    match &config.transport {
        McpTransport::Http { url, auth } => {
            shared.set(State::Starting(Phase::Connecting));
            reach(config, url, auth, &secrets, shared).await
        }
        McpTransport::Stdio => {
            let plan = install(config, &secrets, surroundings, shared).await?;
            shared.set(State::Starting(Phase::Connecting));
            start(config, &plan, surroundings, shared).await
        }
    }
}

/// A keyring may ask its user first: nobody else waits for that.
async fn credentials(config: &McpConfig, surroundings: &Surroundings) -> Result<Resolved, Refusal> {
    let (asking, store) = (config.clone(), surroundings.secrets.clone());
    let resolved = tokio::task::spawn_blocking(move || Resolved::of(&asking, &*store)).await;
    let broken = |error| {
        Refusal::Passing(Failure::new(Code::Internal, format!("The secrets could not be read: {error}")))
    };
    resolved.map_err(broken)?.map_err(|unresolved| match unresolved {
        Unresolved::Missing(missing) => {
            let names = missing.join(", ");
            let message = format!("Missing required credentials: {names}. Set them, then start it again.");
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
) -> Result<Plan, Refusal> {
    let place = Place { environment: &surroundings.environment, data: &surroundings.data };
    let plan = launch::plan(config, secrets, &place).map_err(Refusal::Lasting)?;
    if install::needed(&plan) {
        shared.set(State::Starting(Phase::Installing));
        let installed =
            install::run(&plan, &surroundings.spawner, &shared.log, config.limits.install()).await;
        installed.map_err(|failure| match failure.code {
            Code::NotFound => Refusal::Lasting(failure),
            _ => Refusal::Passing(failure),
        })?;
    }
    Ok(plan)
}

async fn start(
    config: &McpConfig,
    plan: &Plan,
    surroundings: &Surroundings,
    shared: &Arc<Shared>,
) -> Result<Connection, Refusal> {
    match start_once(config, plan, Eras::Both, surroundings, shared).await {
        // Some older servers end at the first question of the newer protocol: they are asked in the older one.
        Err(Refusal::Ended(_)) => {}
        other => return other,
    }
    let started = start_once(config, plan, Eras::Older, surroundings, shared).await;
    if let Err(Refusal::Ended(_)) = started {
        install::forget(plan);
    }
    started
}

async fn start_once(
    config: &McpConfig,
    plan: &Plan,
    eras: Eras,
    surroundings: &Surroundings,
    shared: &Arc<Shared>,
) -> Result<Connection, Refusal> {
    let since = shared.log.mark();
    let started = Process::start(&surroundings.spawner, &plan.launch, &shared.log).await;
    let (mut process, (output, input)) = started.map_err(|error| {
        let message = format!("{} could not be started: {error}", plan.launch.program.display());
        Refusal::Lasting(Failure::unavailable(message))
    })?;
    if let Some(clear) = &plan.clear {
        process.then(clear.clone(), surroundings.spawner.clone(), shared.log.clone());
    }
    // The pipe has a bound on its lines already, and one that does not let a caller wait in vain.
    let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(usize::MAX);
    let host = Host::new(shared.log.clone());
    let shaken = tokio::select! {
        biased;
        shaken = shake_hands(config, host, transport, eras, shared) => shaken,
        () = process.ended() => Err(Refusal::Ended(Failure::unavailable(String::new()))),
    };
    match shaken {
        Ok(talk) => Ok(Connection::new(talk, Some(process), config, shared)),
        Err(refusal) => {
            // Nothing to be polite about: it has not even said hello.
            let exit = process.finish().await;
            if let Ok(exit) = exit {
                shared.ended(exit);
            }
            let Refusal::Ended(_) = refusal else { return Err(refusal) };
            let how = exit.map_or_else(|error| format!("is gone: {error}"), |exit| exit.to_string());
            let message = format!(
                "{} {how} before the handshake was done.{}",
                config.name,
                shared.log.last_words(since)
            );
            Err(Refusal::Ended(Failure::unavailable(message)))
        }
    }
}

async fn reach(
    config: &McpConfig,
    url: &str,
    auth: &HttpAuth,
    secrets: &Resolved,
    shared: &Arc<Shared>,
) -> Result<Connection, Refusal> {
    let unusable = |message: String| Refusal::Lasting(Failure::validation("transport", message));
    let client = HttpClient::new(config.limits.connect()).map_err(|error| unusable(error.to_string()))?;
    let mut settings = StreamableHttpClientTransportConfig::with_uri(url);
    let secret = auth.secret_ref().and_then(|reference| secrets.get(reference));
    match (auth, secret) {
        (HttpAuth::Bearer { .. }, Some(secret)) => settings = settings.auth_header(secret.reveal()),
        (HttpAuth::Header { name, .. }, Some(secret)) => {
            let name = HeaderName::try_from(name.as_str()).map_err(|error| unusable(error.to_string()))?;
            let mut value = HeaderValue::from_str(secret.reveal())
                .map_err(|_| unusable("the secret cannot be sent in a header".to_owned()))?;
            value.set_sensitive(true);
            settings = settings.custom_headers(HashMap::from([(name, value)]));
        }
        _ => {}
    }
    let transport = StreamableHttpClientTransport::with_client(McpClient::new(client), settings);
    let talk = shake_hands(config, Host::new(shared.log.clone()), transport, Eras::Both, shared).await;
    talk.map(|talk| Connection::new(talk, None, config, shared))
}
