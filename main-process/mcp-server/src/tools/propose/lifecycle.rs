//! The lifecycle of a proposal: submit, revise, withdraw.

use super::{CommonArguments, output_schema, proposal_id, reply, with_contract_fields};
use crate::{AgentCall, SurfaceTool, ToolError, ToolReply, surface::parse_arguments};
use authority::proposals::AgentRequest;
use serde::Deserialize;
use serde_json::json;

pub(super) fn all() -> Vec<SurfaceTool> {
    let text = json!({ "type": "string" });
    vec![
        SurfaceTool::guarded(
            "proposals",
            "submit_proposal",
            "Submit proposal",
            "Submit a draft to the review queue. A draft with errors is refused, and the answer lists them.",
            (
                json!({
                    "title": { "type": "string", "description": "one line that the reviewer reads first" },
                    "rationale": { "type": "string", "description": "why you propose this; shown as your words" },
                    "proposal": { "type": "string", "description": "id of the draft; default: the draft of this connection" },
                    "supersedes": { "type": "string", "description": "id of your proposal that this one replaces" }
                }),
                &["title"],
            ),
            output_schema(json!({})),
            |call| Box::pin(async move { submit(call).await }),
        ),
        SurfaceTool::guarded(
            "proposals",
            "revise_proposal",
            "Revise proposal",
            "Turn a submitted or rejected proposal into a draft again, as a new version.",
            (json!({ "id": text }), &["id"]),
            output_schema(json!({})),
            |call| Box::pin(async move { run_on_named_draft(call, AgentRequest::Revise).await }),
        ),
        SurfaceTool::guarded(
            "proposals",
            "withdraw_proposal",
            "Withdraw proposal",
            "Withdraw your draft or proposal.",
            (json!({ "id": text }), &["id"]),
            output_schema(json!({})),
            |call| Box::pin(async move { run_on_named_draft(call, AgentRequest::Withdraw).await }),
        ),
    ]
}

async fn submit(call: AgentCall) -> Result<ToolReply, ToolError> {
    let common: CommonArguments = call.arguments()?;
    call.workspace()?;
    let request = AgentRequest::Submit { draft: common.named_draft()?, submission: common.submission()? };
    reply(&call, &call.submit(request).await.map_err(with_contract_fields)?, json!({}))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProposalIdArguments {
    id: String,
}

async fn run_on_named_draft(
    call: AgentCall,
    request: impl Fn(shared_protocol::ProposalId) -> AgentRequest,
) -> Result<ToolReply, ToolError> {
    let ProposalIdArguments { id } = parse_arguments(&call.arguments)?;
    call.workspace()?;
    let id = proposal_id(&id, "id")?;
    reply(&call, &call.submit(request(id)).await?, json!({}))
}
