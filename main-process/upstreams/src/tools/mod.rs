//! Tools of servers: their exposed names, approved definitions, and schema validation of arguments and results.

mod definition;
mod difference;
mod name;
mod schema;

pub(crate) use definition::{Definition, Seen};
pub use difference::{Difference, differences};
pub(crate) use name::{exposed_name, slug_of};
pub(crate) use schema::Schema;

use crate::config::{McpConfig, ToolPolicy};
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};
use uuid::Uuid;

/// The approval state of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Approval {
    Approved,
    /// Not reviewed yet.
    New,
    /// Different from the approved definition.
    Changed {
        differences: Vec<Difference>,
    },
}

/// A tool of a server as people and agents see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
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
    /// SHA-256 of the definition; see [`Approval`].
    pub hash: String,
    pub approval: Approval,
    pub enabled: bool,
    pub policy: ToolPolicy,
}

/// The facts about an offered tool that forwarding a call requires, without its definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    pub server: Uuid,
    /// The display name of the server.
    pub server_name: String,
    pub policy: ToolPolicy,
    /// The tool claims to be destructive.
    pub destructive: bool,
    /// SHA-256 of the definition; see [`Approval`].
    pub hash: String,
}

impl Approval {
    pub(crate) fn of(definition: &Definition, approved: Option<&Seen>) -> Self {
        match approved {
            None => Self::New,
            Some(seen) if seen.is(definition) => Self::Approved,
            Some(seen) => Self::Changed { differences: differences(&seen.value, definition.value()) },
        }
    }
}

impl Tool {
    pub(crate) fn new(
        config: &McpConfig,
        definition: &Definition,
        approved: &BTreeMap<String, Arc<Seen>>,
    ) -> Self {
        let settings = config.tools.get(definition.name()).cloned().unwrap_or_default();
        let text = |part: &str| definition.part(part).and_then(Value::as_str).map(str::to_owned);
        let says_read_only = definition.part("annotations").and_then(|hints| hints.get("readOnlyHint"));
        let approval = Approval::of(definition, approved.get(definition.name()).map(AsRef::as_ref));
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
        self.enabled && self.approval == Approval::Approved && self.policy != ToolPolicy::Deny
    }
}
