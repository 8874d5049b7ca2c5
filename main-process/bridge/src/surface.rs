//! The static MCP surface of Draftboard. The bridge answers from it while Draftboard is unreachable.

use crate::message::{JsonRpcRequest, success_response};
use serde_json::{Value, json};

/// The parts of the server's own responses. Every list is complete and in the server's order.
#[derive(Debug, Clone, Default)]
pub struct OfflineSurface {
    pub server_info: Value,
    pub capabilities: Value,
    pub instructions: String,
    /// Protocol versions that start with `initialize`, newest last.
    pub handshake_versions: Vec<String>,
    /// Protocol versions without a handshake, newest last.
    pub stateless_versions: Vec<String>,
    pub tools: Value,
    pub resources: Value,
    pub resource_templates: Value,
    pub prompts: Value,
}

/// The lists that a client caches and receives change notifications for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum McpListKind {
    Tools,
    Resources,
    ResourceTemplates,
    Prompts,
}

impl McpListKind {
    pub(crate) fn from_method(method: &str) -> Option<Self> {
        match method {
            "tools/list" => Some(Self::Tools),
            "resources/list" => Some(Self::Resources),
            "resources/templates/list" => Some(Self::ResourceTemplates),
            "prompts/list" => Some(Self::Prompts),
            _ => None,
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The key of the items in a response.
    pub(crate) fn items_key(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    pub(crate) fn changed_notification(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Resources | Self::ResourceTemplates => "notifications/resources/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
        }
    }

    /// The key in the filter of `subscriptions/listen` that requests change notifications.
    pub(crate) fn filter_key(self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Resources | Self::ResourceTemplates => "resourcesListChanged",
            Self::Prompts => "promptsListChanged",
        }
    }
}

impl OfflineSurface {
    pub(crate) fn items(&self, list: McpListKind) -> &Value {
        match list {
            McpListKind::Tools => &self.tools,
            McpListKind::Resources => &self.resources,
            McpListKind::ResourceTemplates => &self.resource_templates,
            McpListKind::Prompts => &self.prompts,
        }
    }

    /// Returns the response to `initialize`: the requested version if it is supported, otherwise the newest.
    pub(crate) fn initialize_response(&self, request: &JsonRpcRequest) -> Value {
        let asked = request.params.get("protocolVersion").and_then(Value::as_str);
        let known = asked.filter(|asked| self.handshake_versions.iter().any(|version| version == asked));
        let version = known.or(self.handshake_versions.last().map(String::as_str));
        success_response(
            request,
            json!({
                "protocolVersion": version,
                "capabilities": self.capabilities,
                "serverInfo": self.server_info,
                "instructions": self.instructions,
            }),
        )
    }

    /// Returns the response to `server/discover`.
    pub(crate) fn discover_response(&self, request: &JsonRpcRequest) -> Value {
        let versions: Vec<&String> = self.handshake_versions.iter().chain(&self.stateless_versions).collect();
        success_response(
            request,
            json!({
                "resultType": "complete",
                "supportedVersions": versions,
                "capabilities": self.capabilities,
                "instructions": self.instructions,
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": { "io.modelcontextprotocol/serverInfo": self.server_info },
            }),
        )
    }

    /// Returns the response to a list request with these items.
    pub(crate) fn list_response(request: &JsonRpcRequest, list: McpListKind, items: &Value) -> Value {
        let mut answer = json!({ list.items_key(): items });
        if request.is_stateless() {
            answer["resultType"] = json!("complete");
            answer["ttlMs"] = json!(0);
            answer["cacheScope"] = json!("private");
        }
        success_response(request, answer)
    }
}
