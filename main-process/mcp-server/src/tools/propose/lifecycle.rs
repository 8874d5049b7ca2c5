//! The lifecycle of a proposal: submit, revise, withdraw.

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
            answers(json!({})),
            |call| Box::pin(async move { submit(call).await }),
        ),
        Tool::guarded(
            "proposals",
            "revise_proposal",
            "Revise proposal",
            "Turn a submitted or rejected proposal into a draft again, as a new version.",
            (json!({ "id": text }), &["id"]),
            answers(json!({})),
            |call| Box::pin(async move { named(call, AgentAsk::Revise).await }),
        ),
        Tool::guarded(
            "proposals",
            "withdraw_proposal",
            "Withdraw proposal",
            "Withdraw your draft or proposal.",
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
