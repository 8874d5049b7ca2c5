//! The lists that clients receive. The server answers with them; the bridge holds them as JSON to answer while no
//! server runs.

use crate::{AgentSurface, SurfaceResource};
use rmcp::model::{
    Implementation, Prompt as PromptDefinition, ProtocolVersion, Resource as ListedResource,
    ResourceTemplate, ServerCapabilities, Tool as ToolDefinition,
};
use serde::Serialize;
use serde_json::Value;
use shared_protocol::mcp::McpMode;

impl AgentSurface {
    pub(crate) fn listed_tools(&self, mode: McpMode) -> Vec<ToolDefinition> {
        self.tools(mode).map(|tool| tool.definition.clone()).collect()
    }

    pub(crate) fn listed_resources(&self) -> Vec<ListedResource> {
        let listed = |resource: &SurfaceResource| {
            ListedResource::new(resource.uri, resource.name)
                .with_title(resource.title)
                .with_description(resource.description)
                .with_mime_type(resource.mime)
        };
        self.resources().filter(|resource| !resource.is_template()).map(|resource| listed(resource)).collect()
    }

    pub(crate) fn listed_templates(&self) -> Vec<ResourceTemplate> {
        let listed = |resource: &SurfaceResource| {
            ResourceTemplate::new(resource.uri, resource.name)
                .with_title(resource.title)
                .with_description(resource.description)
                .with_mime_type(resource.mime)
        };
        self.resources().filter(|resource| resource.is_template()).map(|resource| listed(resource)).collect()
    }

    pub(crate) fn listed_prompts(&self) -> Vec<PromptDefinition> {
        self.prompts().map(|prompt| prompt.definition.clone()).collect()
    }
}

pub(crate) fn capabilities() -> ServerCapabilities {
    ServerCapabilities::builder()
        .enable_tools()
        .enable_tool_list_changed()
        .enable_resources()
        .enable_resources_subscribe()
        .enable_resources_list_changed()
        .enable_prompts()
        .enable_prompts_list_changed()
        .enable_completions()
        .build()
}

pub(crate) fn implementation(version: &str) -> Implementation {
    Implementation::new("draftboard", version).with_title("Draftboard")
}

/// The self-description of a server of this version, as JSON.
#[derive(Debug, Clone)]
pub struct SurfaceDescription {
    pub server_info: Value,
    pub capabilities: Value,
    pub instructions: &'static str,
    /// Protocol revisions with and without a handshake, each with the newest last.
    pub handshake_versions: Vec<String>,
    pub stateless_versions: Vec<String>,
    pub tools: Value,
    pub resources: Value,
    pub resource_templates: Value,
    pub prompts: Value,
}

impl SurfaceDescription {
    pub fn describe(surface: &AgentSurface, version: &str, mode: McpMode) -> Self {
        let (stateless, handshake): (Vec<_>, Vec<_>) = ProtocolVersion::KNOWN_VERSIONS
            .iter()
            .partition(|version| **version >= ProtocolVersion::V_2026_07_28);
        let words = |versions: Vec<&ProtocolVersion>| versions.into_iter().map(ToString::to_string).collect();
        Self {
            server_info: json(&implementation(version)),
            capabilities: json(&capabilities()),
            instructions: surface.instructions,
            handshake_versions: words(handshake),
            stateless_versions: words(stateless),
            tools: json(&surface.listed_tools(mode)),
            resources: json(&surface.listed_resources()),
            resource_templates: json(&surface.listed_templates()),
            prompts: json(&surface.listed_prompts()),
        }
    }
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
