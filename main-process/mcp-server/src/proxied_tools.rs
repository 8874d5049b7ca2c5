//! Tools of managed servers and manifests, forwarded to agents. They come and go while the server runs, so they
//! belong to the view and not to the tables. The hosting process provides their definitions and calls.

use crate::escape::escape_hidden;
use crate::{AgentCall, SurfaceTool, surface::ToolHandler};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as ToolDefinition, ToolAnnotations};
use serde_json::Value;
use shared_protocol::{Refusal, RefusalCode, managed_servers::ManagedServersView, mcp::McpMode};
use std::{collections::BTreeMap, fmt, pin::Pin, sync::Arc};

/// The result of a forwarded tool: the protocol's result as JSON text, already bounded, validated and free of
/// secrets.
pub type ForwardFuture = Pin<Box<dyn Future<Output = Result<String, Refusal>> + Send>>;

/// A forwarded tool as agents see it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxiedTool {
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
}

/// The forwarded tools at one point in time.
#[derive(Clone, Default)]
pub struct ProxiedTools {
    tools: Arc<BTreeMap<String, Arc<SurfaceTool>>>,
    /// The servers and manifests that provide the tools, with their states.
    pub managed_servers: Arc<ManagedServersView>,
}

impl fmt::Debug for ProxiedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guests").field("tools", &self.tools.keys()).finish()
    }
}

impl ProxiedTools {
    pub fn new(
        tools: impl IntoIterator<Item = SurfaceTool>,
        managed_servers: Arc<ManagedServersView>,
    ) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.name().to_owned(), Arc::new(tool))).collect();
        Self { tools: Arc::new(tools), managed_servers }
    }

    /// Returns the same tools with a new state of their servers.
    #[must_use]
    pub fn with_managed_servers(&self, managed_servers: Arc<ManagedServersView>) -> Self {
        Self { tools: Arc::clone(&self.tools), managed_servers }
    }

    /// Returns whether tools and server states are equal.
    pub fn is_same(&self, other: &Self) -> bool {
        self.has_same_tools(other) && self.managed_servers == other.managed_servers
    }

    /// Returns whether the tools are identical.
    pub(crate) fn has_same_tools(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tools, &other.tools)
    }

    pub(crate) fn tools(&self, mode: McpMode) -> impl Iterator<Item = &Arc<SurfaceTool>> {
        self.tools.values().filter(move |_| mode == McpMode::Guarded)
    }

    pub(crate) fn tool(&self, name: &str, mode: McpMode) -> Option<&Arc<SurfaceTool>> {
        self.tools.get(name).filter(|_| mode == McpMode::Guarded)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }
}

impl SurfaceTool {
    /// A forwarded tool. It is open-world, and its annotations are not verified.
    pub fn proxied(
        guest: &ProxiedTool,
        run: impl Fn(AgentCall) -> ForwardFuture + Send + Sync + 'static,
    ) -> Self {
        let object = |value: &Value| value.as_object().cloned().unwrap_or_else(JsonObject::new);
        let annotations = ToolAnnotations::new()
            .read_only(guest.read_only)
            .destructive(guest.destructive)
            .idempotent(guest.idempotent)
            .open_world(true);
        // Treats the description as untrusted text: hidden characters are escaped.
        let description = escape_hidden(&guest.description).into_owned();
        let mut definition =
            ToolDefinition::new(guest.name.clone(), description, object(&guest.input_schema))
                .with_annotations(annotations);
        if let Some(title) = &guest.title {
            definition = definition.with_title(escape_hidden(title).into_owned());
        }
        if let Some(schema) = &guest.output_schema {
            definition = definition.with_raw_output_schema(Arc::new(object(schema)));
        }
        let run = ToolHandler::Forwarded(Arc::new(run));
        Self {
            group: "upstreams",
            definition,
            guarded: true,
            cacheable: false,
            supports_drafts: false,
            handler: run,
        }
    }
}

/// Returns the result unchanged, with `structuredContent` also as text unless `content` already holds it: clients
/// that forward only `content` would otherwise show the model half of the answer. A failure is text only, because
/// structured content must match the tool's own schema.
pub(crate) fn forwarded_result(
    tool: &str,
    passed: Result<String, Refusal>,
    knows_structured_content: bool,
) -> CallToolResult {
    let unreadable = |error: serde_json::Error| {
        Refusal::new(RefusalCode::ServiceUnavailable, format!("The tool returned an invalid result: {error}"))
    };
    match passed.and_then(|json| serde_json::from_str::<CallToolResult>(&json).map_err(unreadable)) {
        Ok(mut result) => {
            if let Some(structured) = &result.structured_content
                && !is_in_text(structured, &result.content)
            {
                result.content.push(ContentBlock::text(structured.to_string()));
            }
            if !knows_structured_content {
                result.structured_content = None;
            }
            result
        }
        Err(failure) => {
            let sealed = crate::envelope::seal(tool, Err(failure));
            CallToolResult::error(vec![ContentBlock::text(String::from_utf8_lossy(&sealed.answer.json))])
        }
    }
}

/// Returns whether a text block holds the same value. Several servers wrap a plain value in `{"result": …}` and write
/// the text without the wrapper.
fn is_in_text(structured: &Value, content: &[ContentBlock]) -> bool {
    let wrapped =
        structured.as_object().filter(|object| object.len() == 1).and_then(|object| object.get("result"));
    content.iter().filter_map(ContentBlock::as_text).any(|block| {
        let parsed = serde_json::from_str::<Value>(&block.text).ok();
        parsed.as_ref().is_some_and(|parsed| parsed == structured || Some(parsed) == wrapped)
            || wrapped.and_then(Value::as_str) == Some(block.text.as_str())
    })
}
