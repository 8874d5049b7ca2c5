//! The lifecycle of a proposal: submit, revise, withdraw.

use super::{output_schema, proposal_id, reply, with_contract_fields};
use crate::{AgentCall, SurfaceTool, ToolReply, schema};
use authority::proposals::{AgentRequest, ProposalSubmission};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use shared_protocol::Refusal;

pub(super) fn all() -> Vec<SurfaceTool> {
    vec![
        SurfaceTool::guarded(
            "proposals",
            "submit_proposal",
            "Submit proposal",
            "Submit a draft to the review queue. A draft with errors is refused, and the answer lists them.",
            schema::of::<SubmitArguments>(),
            output_schema(json!({})),
            submit,
        ),
        SurfaceTool::guarded(
            "proposals",
            "revise_proposal",
            "Revise proposal",
            "Turn a submitted or rejected proposal into a draft again, as a new version.",
            schema::of::<ProposalIdArguments>(),
            output_schema(json!({})),
            |call| run_on_named_draft(call, AgentRequest::Revise),
        ),
        SurfaceTool::guarded(
            "proposals",
            "withdraw_proposal",
            "Withdraw proposal",
            "Withdraw your draft or proposal.",
            schema::of::<ProposalIdArguments>(),
            output_schema(json!({})),
            |call| run_on_named_draft(call, AgentRequest::Withdraw),
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubmitArguments {
    /// one line that the reviewer reads first
    title: String,
    /// why you propose this; shown as your words
    #[serde(default)]
    rationale: String,
    /// id of the draft; default: the draft of this connection
    proposal: Option<String>,
    /// id of your proposal that this one replaces
    supersedes: Option<String>,
}

async fn submit(call: AgentCall) -> Result<ToolReply, Refusal> {
    let SubmitArguments { title, rationale, proposal, supersedes } = call.arguments()?;
    call.workspace()?;
    let id = |named: Option<String>, field| named.map(|text| proposal_id(&text, field)).transpose();
    let submission = ProposalSubmission { title, rationale, supersedes: id(supersedes, "supersedes")? };
    let ask = AgentRequest::Submit { draft: id(proposal, "proposal")?, submission };
    reply(&call, &call.submit(ask).await.map_err(with_contract_fields)?, json!({}))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProposalIdArguments {
    id: String,
}

async fn run_on_named_draft(
    call: AgentCall,
    ask: impl Fn(shared_protocol::ProposalId) -> AgentRequest,
) -> Result<ToolReply, Refusal> {
    let ProposalIdArguments { id } = call.arguments()?;
    call.workspace()?;
    let id = proposal_id(&id, "id")?;
    reply(&call, &call.submit(ask(id)).await?, json!({}))
}
