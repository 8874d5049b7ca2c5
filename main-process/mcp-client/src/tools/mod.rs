//! Tools of servers: their exposed names, approved definitions, and schema validation of arguments and results.

mod definition;
mod difference;
mod name;
mod schema;

pub(crate) use definition::{ApprovedDefinition, ToolDefinition};
pub use difference::{DefinitionDifference, differences};
pub(crate) use name::{exposed_name, split_exposed_name};
pub(crate) use schema::ToolSchema;

use crate::config::ManagedServerConfig;
use serde::Serialize;
use serde_json::Value;
use shared_protocol::managed_servers::ToolCallPolicy;
use std::{collections::BTreeMap, sync::Arc};
use uuid::Uuid;

/// The approval state of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolApprovalState {
    Approved,
    /// Not reviewed yet.
    New,
    /// Different from the approved definition.
    Changed {
        differences: Vec<DefinitionDifference>,
    },
}

/// A tool of a server as people and agents see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManagedServerTool {
    pub server: Uuid,
    /// The server's own name for it.
    pub name: String,
    /// The exposed name `<slug>__<tool>` that agents call.
    pub exposed: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    /// The annotations that the server reports.
    pub annotations: Option<Value>,
    /// The tool claims to be read-only, and a person trusts the annotations of this server.
    pub read_only: bool,
    /// SHA-256 of the definition; see [`ToolApprovalState`].
    pub hash: String,
    pub approval: ToolApprovalState,
    pub enabled: bool,
    pub policy: ToolCallPolicy,
}

/// The facts about an offered tool that forwarding a call requires, without its definition.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    pub server: Uuid,
    /// The display name of the server.
    pub server_name: String,
    pub policy: ToolCallPolicy,
    /// The tool claims to be destructive.
    pub destructive: bool,
    /// SHA-256 of the definition; see [`ToolApprovalState`].
    pub hash: String,
}

impl ToolApprovalState {
    pub(crate) fn compare(definition: &ToolDefinition, approved: Option<&ApprovedDefinition>) -> Self {
        match approved {
            None => Self::New,
            Some(seen) if seen.matches(definition) => Self::Approved,
            Some(seen) => Self::Changed { differences: differences(&seen.value, definition.value()) },
        }
    }
}

impl ManagedServerTool {
    pub(crate) fn new(
        config: &ManagedServerConfig,
        definition: &ToolDefinition,
        approved: &BTreeMap<String, Arc<ApprovedDefinition>>,
    ) -> Self {
        let settings = config.tools.get(definition.name()).cloned().unwrap_or_default();
        let text = |part: &str| definition.part(part).and_then(Value::as_str).map(str::to_owned);
        let says_read_only = definition.part("annotations").and_then(|hints| hints.get("readOnlyHint"));
        let approval =
            ToolApprovalState::compare(definition, approved.get(definition.name()).map(AsRef::as_ref));
        Self {
            server: config.id,
            name: definition.name().to_owned(),
            exposed: exposed_name(&config.slug, definition.name()),
            title: text("title"),
            description: text("description"),
            input_schema: definition.part("inputSchema").cloned().unwrap_or(Value::Null),
            output_schema: definition.part("outputSchema").cloned(),
            annotations: definition.part("annotations").cloned(),
            read_only: config.trusted && says_read_only == Some(&Value::Bool(true)),
            hash: definition.hash().to_owned(),
            approval,
            enabled: settings.enabled,
            policy: settings.policy,
        }
    }

    /// Returns whether agents can see and call the tool.
    pub fn is_offered(&self) -> bool {
        self.enabled && self.approval == ToolApprovalState::Approved && self.policy != ToolCallPolicy::Deny
    }
}
