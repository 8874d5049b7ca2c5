//! Calls of manifest tools.

use super::{
    InternalMethods, ManifestTool, Target, credentials::Credentials, folder, proxy, script::Run,
    template::Template,
};
use crate::{
    actor::Surroundings,
    call::Answer,
    failure::{Code, Failure},
};
use serde_json::{Map, Value, json};

const LARGEST_ANSWER: usize = 1 << 20;

/// The services that a manifest call uses.
pub(crate) struct Hands<'a> {
    pub(crate) surroundings: &'a Surroundings,
    pub(crate) internal: &'a dyn InternalMethods,
}

/// The outcome of a manifest call.
pub(crate) enum Outcome {
    Answered(Answer),
    /// Forwards the call to this tool of this server, with validated arguments.
    PassOn {
        server: String,
        tool: String,
        arguments: Value,
    },
}

impl ManifestTool {
    pub(crate) async fn call(&self, arguments: &Value, hands: &Hands<'_>) -> Result<Outcome, Failure> {
        let arguments = self.checked(arguments)?;
        let surroundings = hands.surroundings;
        let credentials = self.resolved(surroundings).await?;
        let template = Template { arguments: &arguments, credentials: &credentials };
        let answered = match &self.target {
            Target::Upstream { server, tool } => {
                let (server, tool) = (server.clone(), tool.clone());
                return Ok(Outcome::PassOn { server, tool, arguments: Value::Object(arguments) });
            }
            Target::Internal(method) => hands.internal.call(method, &Value::Object(arguments.clone())),
            Target::Proxy(proxy) => proxy::call(proxy, &self.name, &template, LARGEST_ANSWER).await,
            Target::Script { script, entrypoint, digest } => {
                if folder::digest(entrypoint).as_ref() != Ok(digest) {
                    let message = format!(
                        "{} has changed since it was loaded: reload the manifests",
                        entrypoint.display()
                    );
                    return Err(Failure::conflict(message));
                }
                let run = Run {
                    script,
                    entrypoint,
                    tool: &self.name,
                    environment: &surroundings.environment,
                    spawner: &surroundings.spawner,
                    most: LARGEST_ANSWER,
                };
                run.run(&template).await
            }
        };
        let redactor = credentials.redactor();
        let value = answered.map_err(|failure| Failure {
            message: redactor.clean(&failure.message).into_owned(),
            ..failure
        })?;
        self.answer(&value, |text| redactor.clean(text).into_owned()).map(Outcome::Answered)
    }

    pub(crate) fn check(&self, arguments: &Value) -> Result<(), Failure> {
        self.checked(arguments).map(drop)
    }

    /// Runs on a blocking thread, because a keyring may prompt the user first.
    async fn resolved(&self, surroundings: &Surroundings) -> Result<Credentials, Failure> {
        if self.credentials.is_empty() {
            return Ok(Credentials::default());
        }
        let (manifest, keys, wanted) = (self.manifest.clone(), self.keys.clone(), self.credentials.clone());
        let store = surroundings.secrets.clone();
        let resolving =
            tokio::task::spawn_blocking(move || Credentials::resolve((&manifest, &keys), &wanted, &*store));
        let broken = |error| Failure::new(Code::Internal, format!("Reading the credentials failed: {error}"));
        resolving.await.map_err(broken)?
    }

    fn checked(&self, arguments: &Value) -> Result<Map<String, Value>, Failure> {
        let arguments = match arguments {
            Value::Null => Map::new(),
            Value::Object(arguments) => arguments.clone(),
            _ => return Err(Failure::validation("arguments", "The arguments must be a JSON object")),
        };
        if let Err((field, message)) = self.input.check(&Value::Object(arguments.clone())) {
            let field = if field.is_empty() { "arguments".to_owned() } else { format!("arguments.{field}") };
            return Err(Failure::validation(
                &field,
                format!("Invalid arguments for {}: {message}", self.exposed),
            ));
        }
        Ok(arguments)
    }

    fn answer(&self, value: &Value, clean: impl Fn(&str) -> String) -> Result<Answer, Failure> {
        if let Some(Err((field, message))) = self.output.as_ref().map(|output| output.check(value)) {
            let message = format!(
                "The answer of {} does not match its output schema at {field:?}: {message}",
                self.exposed
            );
            return Err(Failure::unavailable(message));
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
        if json.len() > 2 * LARGEST_ANSWER {
            return Err(Failure::new(
                Code::LimitExceeded,
                format!("The answer of {} is too large to forward", self.exposed),
            ));
        }
        Ok(Answer { json, is_error: false })
    }
}
