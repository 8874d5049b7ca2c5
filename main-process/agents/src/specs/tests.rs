//! The surface for bundles, pinned, and the size of the whole surface.

use super::{BundleChangeExecutor, ProposedBundleChanges, add_to};
use mcp_server::{AgentSurface, SurfaceDescription};
use serde_json::Value;
use shared_protocol::mcp::McpMode;
use std::sync::Arc;

/// Bytes of compact JSON for one token, on the safe side: for text of this kind tokenizers take four to five.
const BYTES_A_TOKEN: usize = 4;
/// All tools of a workspace in mode observe.
const MAX_SURFACE_TOKENS: usize = 6_000;

fn offered(surface: &AgentSurface) -> SurfaceDescription {
    SurfaceDescription::describe(surface, "0", McpMode::Observe)
}

#[test]
fn what_is_offered_for_bundles_is_as_it_was() {
    let changes: Arc<dyn BundleChangeExecutor> = Arc::new(ProposedBundleChanges);
    let mut surface = AgentSurface::new("");
    add_to(&mut surface, &changes);
    let SurfaceDescription { tools, resources, resource_templates, prompts, .. } = offered(&surface);
    let mut text = String::new();
    for (key, list) in
        [("tools", tools), ("resources", resources), ("templates", resource_templates), ("prompts", prompts)]
    {
        // One line for each entry: a change shows where it is.
        let lines = list.as_array().into_iter().flatten().map(Value::to_string);
        text += &lines.fold(format!("{key}\n"), |text, line| format!("{text}  {line}\n"));
    }
    insta::assert_snapshot!("bundles", text);
}

#[test]
fn the_whole_surface_is_light() {
    let bytes = offered(&crate::surface()).tools.to_string().len();
    assert!(bytes / BYTES_A_TOKEN < MAX_SURFACE_TOKENS, "{} tokens", bytes / BYTES_A_TOKEN);
}
