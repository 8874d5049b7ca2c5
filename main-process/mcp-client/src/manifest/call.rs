//! Calls of manifest tools.

use super::{
    DraftboardMethods, ManifestTool, ManifestToolTarget, credentials::ResolvedCredentials, folder, proxy,
    script::ScriptRun, template::ArgumentTemplate,
};
use crate::{actor::ServerDeps, call::ServerToolAnswer};
use serde_json::{Map, Value, json};
use shared_protocol::{Refusal, RefusalCode};

const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The services that a manifest call uses.
pub(crate) struct ManifestCallDeps<'a> {
    pub(crate) deps: &'a ServerDeps,
    pub(crate) internal: &'a dyn DraftboardMethods,
}

/// The outcome of a manifest call.
pub(crate) enum ManifestCallOutcome {
    Answered(ServerToolAnswer),
    /// Forwards the call to this tool of this server, with validated arguments.
    Forward {
        server: String,
        tool: String,
        arguments: Value,
    },
}

impl ManifestTool {
    pub(crate) async fn call(
        &self,
        arguments: &Value,
        hands: &ManifestCallDeps<'_>,
    ) -> Result<ManifestCallOutcome, Refusal> {
        let arguments = self.checked_arguments(arguments)?;
        let surroundings = hands.deps;
        let credentials = self.resolve_credentials(surroundings).await?;
        let template = ArgumentTemplate { arguments: &arguments, credentials: &credentials };
        let answered = match &self.target {
            ManifestToolTarget::Upstream { server, tool } => {
                let (server, tool) = (server.clone(), tool.clone());
                return Ok(ManifestCallOutcome::Forward {
                    server,
                    tool,
                    arguments: Value::Object(arguments),
                });
            }
            ManifestToolTarget::Internal(method) => {
                hands.internal.call(method, &Value::Object(arguments.clone()))
            }
            ManifestToolTarget::Proxy(proxy) => {
                proxy::call(proxy, &self.name, &template, MAX_ANSWER_BYTES).await
            }
            ManifestToolTarget::Script { script, entrypoint, digest } => {
                if folder::digest(entrypoint).as_ref() != Ok(digest) {
                    let message = format!(
                        "{} has changed since it was loaded: reload the manifests",
                        entrypoint.display()
                    );
                    return Err(Refusal::conflict(message));
                }
                let run = ScriptRun {
                    script,
                    entrypoint,
                    tool: &self.name,
                    environment: &surroundings.environment,
                    spawner: &surroundings.spawner,
                    most: MAX_ANSWER_BYTES,
                };
                run.run(&template).await
            }
        };
        let redactor = credentials.redactor();
        let value = answered.map_err(|failure| Refusal {
            message: redactor.redact(&failure.message).into_owned(),
            ..failure
        })?;
        self.answer(&value, |text| redactor.redact(text).into_owned()).map(ManifestCallOutcome::Answered)
    }

    pub(crate) fn check(&self, arguments: &Value) -> Result<(), Refusal> {
        self.checked_arguments(arguments).map(drop)
    }

    /// Runs on a blocking thread, because a keyring may prompt the user first.
    async fn resolve_credentials(&self, surroundings: &ServerDeps) -> Result<ResolvedCredentials, Refusal> {
        if self.credentials.is_empty() {
            return Ok(ResolvedCredentials::default());
        }
        let (manifest, keys, wanted) = (self.manifest.clone(), self.keys.clone(), self.credentials.clone());
        let store = surroundings.secrets.clone();
        let resolving = tokio::task::spawn_blocking(move || {
            ResolvedCredentials::resolve((&manifest, &keys), &wanted, &*store)
        });
        let broken =
            |error| Refusal::new(RefusalCode::Internal, format!("Reading the credentials failed: {error}"));
        resolving.await.map_err(broken)?
    }

    fn checked_arguments(&self, arguments: &Value) -> Result<Map<String, Value>, Refusal> {
        let arguments = match arguments {
            Value::Null => Map::new(),
            Value::Object(arguments) => arguments.clone(),
            _ => return Err(Refusal::validation("arguments", "The arguments must be a JSON object")),
        };
        if let Err((field, message)) = self.input.check(&Value::Object(arguments.clone())) {
            let field = if field.is_empty() { "arguments".to_owned() } else { format!("arguments.{field}") };
            return Err(Refusal::validation(
                &field,
                format!("Invalid arguments for {}: {message}", self.exposed),
            ));
        }
        Ok(arguments)
    }

    fn answer(&self, value: &Value, clean: impl Fn(&str) -> String) -> Result<ServerToolAnswer, Refusal> {
        if let Some(Err((field, message))) = self.output.as_ref().map(|output| output.check(value)) {
            let message = format!(
                "The answer of {} does not match its output schema at {field:?}: {message}",
                self.exposed
            );
            return Err(Refusal::unavailable(message));
        }
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut result = json!({"content": [{"type": "text", "text": text}], "isError": false});
        if value.is_object() || self.output.is_some() {
            result["structuredContent"] = value.clone();
        }
        let json = clean(&result.to_string());
        if json.len() > 2 * MAX_ANSWER_BYTES {
            return Err(Refusal::new(
                RefusalCode::LimitExceeded,
                format!("The answer of {} is too large to forward", self.exposed),
            ));
        }
        Ok(ServerToolAnswer { json, is_error: false })
    }
}
