//! Calls of server tools: checks approval and arguments, validates the answer and redacts secrets.

use crate::{
    actor::{CallProgress, ServerSession, SharedServerState},
    config::{ManagedServerConfig, ToolSettings},
    tools::{ApprovedDefinition, ToolApprovalState, ToolDefinition, exposed_name},
};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use serde_json::Value;
use shared_protocol::{Refusal, RefusalCode};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerToolAnswer {
    /// The protocol's result (`content`, `structuredContent`, `isError`) as JSON text, without secrets.
    pub json: String,
    /// The tool reports that it failed.
    pub is_error: bool,
}

impl ServerToolAnswer {
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.json).unwrap_or(Value::Null)
    }
}

pub(crate) struct ServerToolCall<'a> {
    pub(crate) config: &'a ManagedServerConfig,
    pub(crate) definition: &'a ToolDefinition,
    /// The approved definition.
    pub(crate) approved: Option<Arc<ApprovedDefinition>>,
    pub(crate) session: Arc<ServerSession>,
    pub(crate) shared: &'a SharedServerState,
}

impl ServerToolCall<'_> {
    pub(crate) async fn run(
        self,
        arguments: &Value,
        progress: Option<mpsc::Sender<CallProgress>>,
    ) -> Result<ServerToolAnswer, Refusal> {
        self.check_callable()?;
        let arguments = self.checked_arguments(arguments)?;
        let params = CallToolRequestParams::new(self.definition.name().to_owned()).with_arguments(arguments);
        let times = self.config.limits.of_call(self.settings());
        let called = self.session.call(&self.config.name, params, times, progress).await;
        let result = called
            .map_err(|failure| Refusal { message: self.shared.log.redact(&failure.message), ..failure })?;
        self.check_answer(&result)
    }

    /// Returns whether the call would be sent.
    pub(crate) fn check(self, arguments: &Value) -> Result<(), Refusal> {
        self.check_callable()?;
        self.checked_arguments(arguments).map(drop)
    }

    fn settings(&self) -> Option<&ToolSettings> {
        self.config.tools.get(self.definition.name())
    }

    fn exposed_name(&self) -> String {
        exposed_name(&self.config.slug, self.definition.name())
    }

    fn check_callable(&self) -> Result<(), Refusal> {
        let why = match ToolApprovalState::compare(self.definition, self.approved.as_deref()) {
            ToolApprovalState::New => "it is not approved",
            ToolApprovalState::Changed { .. } => "it has changed since it was approved",
            ToolApprovalState::Approved if self.settings().is_some_and(|settings| !settings.enabled) => {
                "it is disabled"
            }
            ToolApprovalState::Approved => return Ok(()),
        };
        let name = self.exposed_name();
        Err(Refusal::conflict(format!(
            "{name} cannot be called: {why}. A person can change this in the Managed servers panel."
        )))
    }

    fn checked_arguments(&self, arguments: &Value) -> Result<serde_json::Map<String, Value>, Refusal> {
        let arguments = match arguments {
            Value::Null => serde_json::Map::new(),
            Value::Object(arguments) => arguments.clone(),
            _ => return Err(Refusal::validation("arguments", "The arguments must be a JSON object")),
        };
        let schema = self.definition.input().as_ref().map_err(|reason| {
            Refusal::unavailable(format!("The input schema of {} is invalid: {reason}", self.exposed_name()))
        })?;
        let arguments = Value::Object(arguments);
        if let Err((field, message)) = schema.check(&arguments) {
            let field = if field.is_empty() { "arguments".to_owned() } else { format!("arguments.{field}") };
            return Err(Refusal::validation(
                &field,
                format!("Invalid arguments for {}: {message}", self.exposed_name()),
            ));
        }
        match arguments {
            Value::Object(arguments) => Ok(arguments),
            _ => Ok(serde_json::Map::new()),
        }
    }

    fn check_answer(&self, result: &CallToolResult) -> Result<ServerToolAnswer, Refusal> {
        let name = &self.exposed_name();
        let is_error = result.is_error == Some(true);
        if let (Some(schema), false) = (self.definition.output(), is_error) {
            let schema = schema.as_ref().map_err(|reason| {
                Refusal::unavailable(format!("The output schema of {name} is invalid: {reason}"))
            })?;
            let Some(structured) = &result.structured_content else {
                let message =
                    format!("The answer of {name} lacks the structured content that its definition declares");
                return Err(Refusal::unavailable(message));
            };
            schema.check(structured).map_err(|(field, message)| {
                Refusal::unavailable(format!(
                    "The answer of {name} does not match its output schema at {field:?}: {message}"
                ))
            })?;
        }
        let json = serde_json::to_string(result).map_err(|error| {
            Refusal::new(RefusalCode::Internal, format!("Encoding the answer of {name} failed: {error}"))
        })?;
        let most = self.config.limits.result_bytes;
        if json.len() > most {
            let message = format!(
                "The answer of {name} has {} bytes, more than the limit of {most}. Request less, or raise result_bytes.",
                json.len()
            );
            return Err(Refusal::new(RefusalCode::LimitExceeded, message));
        }
        Ok(ServerToolAnswer { json: self.shared.log.redact(&json), is_error })
    }
}
