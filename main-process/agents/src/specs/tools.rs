//! The tools. Each is answered on a thread that may take its time: a whole bundle is a lot to write.

use super::{BundleChangeExecutor, answer, bundles_of};
use bundles::{BundleToolEnvelope, TOOLS, begin_critique};
use mcp_server::{AgentCall, RawEnvelope, RawStepFuture, RawToolStep, SurfaceTool, ToolHints};
use serde_json::Value;
use std::sync::Arc;

const CRITIQUE: &str = "critique_bundle";
/// Tools that no draft changes: agents propose entities, and people own schemas.
const OF_SCHEMAS: [&str; 2] = ["get_bundle_schema", "get_entity_schema"];

pub(super) fn all(changes: &Arc<dyn BundleChangeExecutor>) -> impl Iterator<Item = SurfaceTool> {
    TOOLS.iter().map(|tool| {
        let changes = Arc::clone(changes);
        let hints = ToolHints { read_only: tool.is_read_only, idempotent: tool.is_idempotent };
        let words = [tool.name, tool.title, tool.description];
        let mut input = tool.input_schema();
        let writes = tool.name == "apply_changes";
        if writes {
            changes.extend(&mut input);
        }
        let has_drafts = changes.has_drafts() && !writes && !OF_SCHEMAS.contains(&tool.name);
        let run = move |call| step(tool.name, call, Arc::clone(&changes));
        let tool = SurfaceTool::with_own_envelope("bundles", words, input, hints, run);
        if has_drafts { tool.of_drafts() } else { tool }
    })
}

fn step(tool: &'static str, call: AgentCall, changes: Arc<dyn BundleChangeExecutor>) -> RawStepFuture {
    Box::pin(async move {
        let work = tokio::task::spawn_blocking(move || match tool {
            CRITIQUE if call.can_sample || call.sampled.is_some() => run_critique(&call),
            _ => RawToolStep::Answer(answer::answer(tool, &call, changes.as_ref())),
        });
        work.await.unwrap_or_else(|error| {
            tracing::error!(%error, tool, "a tool ended with a fault");
            RawToolStep::Answer(answer::fault(tool))
        })
    })
}

/// Asks the client's model, then judges what it said.
fn run_critique(call: &AgentCall) -> RawToolStep {
    let arguments = Value::Object(call.arguments.clone());
    let answered =
        |envelope: BundleToolEnvelope| -> RawEnvelope { answer::encode_envelope(envelope, &call.view) };
    let begun = match begin_critique(bundles_of(&call.view), &arguments) {
        Ok(begun) => begun,
        Err(envelope) => return RawToolStep::Answer(answered(*envelope)),
    };
    match &call.sampled {
        None => RawToolStep::Sample(begun.request.to_json()),
        Some(Ok(reply)) => RawToolStep::Answer(answered(begun.answer(&reply.text, &reply.model))),
        Some(Err(problem)) => RawToolStep::Answer(answered(begun.failure_envelope(problem))),
    }
}
