//! Several calls as one: in order, all or none. A later call refers to a new node by the name that an earlier call
//! gave it.

use super::{
    CommonArguments, output_schema, reply,
    resources::{BoardTool, CommandTranslator},
    with_common,
};
use crate::{AgentCall, SurfaceTool, ToolReply, surface::parse_arguments};
use authority::Snapshot;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{Command, ElementId, Refusal, RefusalCode};

/// The maximum number of operations in one batch.
const MAX_BATCH_OPERATIONS: usize = 500;

pub(super) fn all() -> Vec<SurfaceTool> {
    vec![SurfaceTool::guarded(
        "diagram",
        "execute_batch",
        "Execute batch",
        "Propose several changes in order, all or none. Give new nodes a name to refer to them in later operations.",
        with_common::<BatchArguments>(),
        output_schema(json!({ "results": { "type": "array" } })),
        run,
    )]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BatchArguments {
    #[schemars(length(min = 1, max = MAX_BATCH_OPERATIONS))]
    operations: Vec<BatchOperation>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BatchOperation {
    tool: BoardTool,
    arguments: JsonObject,
}

async fn run(call: AgentCall) -> Result<ToolReply, Refusal> {
    let (common, own) = CommonArguments::split(&call)?;
    let BatchArguments { operations } = parse_arguments(&own)?;
    if operations.is_empty() || operations.len() > MAX_BATCH_OPERATIONS {
        let message = format!("operations must have 1 to {MAX_BATCH_OPERATIONS} entries");
        return Err(Refusal::new(RefusalCode::BadRequest, message).field("operations"));
    }
    let state = common.state(&call)?;
    let asked = CommandTranslator { workspace: call.workspace()?, state: &state };
    let (mut commands, mut lengths) = (Vec::new(), Vec::new());
    for (index, operation) in operations.iter().enumerate() {
        let own = asked.commands(operation.tool, &operation.arguments).map_err(|mut failure| {
            failure.message = format!("Operation {index}: {}", failure.message);
            failure.hint("No operation of the batch was applied.")
        })?;
        lengths.push(own.len());
        commands.extend(own);
    }
    let makes: Vec<bool> = commands.iter().map(creates_element).collect();
    let outcome = common.propose(&call, commands).await?;
    let results = match &outcome.response.step {
        Some(step) => results(&step.state, &step.created, &operations, (&lengths, &makes)),
        None => Vec::new(),
    };
    reply(&call, &outcome, json!({ "results": results }))
}

/// Returns whether the command creates an element; each of these creates exactly one.
fn creates_element(command: &Command) -> bool {
    matches!(command, Command::AddNode(_) | Command::Connect { .. })
}

fn results(
    state: &Snapshot,
    created: &[ElementId],
    operations: &[BatchOperation],
    (lengths, makes): (&[usize], &[bool]),
) -> Vec<Value> {
    let (mut made, mut at) = (created.iter(), 0);
    let mut results = Vec::with_capacity(operations.len());
    for (operation, length) in operations.iter().zip(lengths) {
        let makes_one = makes.iter().skip(at).take(*length).any(|makes| *makes);
        at += length;
        let mut result = json!({ "tool": operation.tool });
        match makes_one.then(|| made.next()).flatten() {
            // A later operation of the same batch may have removed it.
            Some(ElementId::Node(id)) => {
                result["instanceId"] = json!(id);
                if let Some(node) = state.node(*id) {
                    result["terraformName"] = json!(node.name);
                    result["position"] =
                        json!(state.placement(*id).map(|at| json!({ "x": at.x, "y": at.y })));
                }
            }
            Some(ElementId::Edge(id)) => result["edgeId"] = json!(id),
            _ => {}
        }
        results.push(result);
    }
    results
}
