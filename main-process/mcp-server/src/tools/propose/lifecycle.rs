//! What becomes of a draft: submitted, taken back to work on, let go.

use super::{Common, answers, in_our_words, proposal_id, reply};
use crate::{Call, Failure, Reply, Tool, surface::parsed};
use authority::proposals::AgentAsk;
use serde::Deserialize;
use serde_json::json;

pub(super) fn all() -> Vec<Tool> {
    let text = json!({ "type": "string" });
    vec![
        Tool::guarded(
            "proposals",
            "submit_proposal",
            "Submit proposal",
            "Puts a draft into the review queue. One with errors is not taken; the answer names them.",
            (
                json!({
                    "title": { "type": "string", "description": "one line that a reviewer reads first" },
                    "rationale": { "type": "string", "description": "why; shown as your words" },
                    "proposal": { "type": "string", "description": "default: this connection's draft" },
                    "supersedes": { "type": "string", "description": "a proposal of yours that this replaces" }
                }),
                &["title"],
            ),
            answers(json!({})),
            |call| Box::pin(async move { submit(call).await }),
        ),
        Tool::guarded(
            "proposals",
            "revise_proposal",
            "Revise proposal",
            "Makes a submitted or rejected proposal a draft again, as a new version.",
            (json!({ "id": text }), &["id"]),
            answers(json!({})),
            |call| Box::pin(async move { named(call, AgentAsk::Revise).await }),
        ),
        Tool::guarded(
            "proposals",
            "withdraw_proposal",
            "Withdraw proposal",
            "Lets a draft or a proposal of yours go.",
            (json!({ "id": text }), &["id"]),
            answers(json!({})),
            |call| Box::pin(async move { named(call, AgentAsk::Withdraw).await }),
        ),
    ]
}

async fn submit(call: Call) -> Result<Reply, Failure> {
    let common: Common = call.arguments()?;
    call.workspace()?;
    let ask = AgentAsk::Submit { draft: common.named()?, submission: common.submission()? };
    reply(&call, &call.ask(ask).await.map_err(in_our_words)?, json!({}))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    id: String,
}

async fn named(call: Call, ask: impl Fn(shared_protocol::ProposalId) -> AgentAsk) -> Result<Reply, Failure> {
    let Named { id } = parsed(&call.arguments)?;
    call.workspace()?;
    let id = proposal_id(&id, "id")?;
    reply(&call, &call.ask(ask(id)).await?, json!({}))
}
