//! The review queue as agents may see it. Nothing can be proposed yet, so it is empty, and says so truthfully.

use crate::{Call, Code, Failure, Meta, Reply, Tool};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: String,
}

pub(super) fn list() -> Tool {
    Tool::read(
        "proposals",
        "list_proposals",
        "List proposals",
        "Proposals that wait for a person's decision or were decided.",
        json!({}),
        json!({ "type": "array" }),
        |call| Reply::new(&json!([]), meta(call)?),
    )
}

pub(super) fn get() -> Tool {
    Tool::read(
        "proposals",
        "get_proposal",
        "Get proposal",
        "One proposal: state, decision, the reviewer's reason.",
        json!({ "id": { "type": "string" } }),
        json!({ "type": "object" }),
        |call| {
            meta(call)?;
            let Arguments { id } = call.arguments()?;
            Err(Failure::new(Code::NotFound, format!("there is no proposal `{id}`")).field("id"))
        },
    )
}

fn meta(call: &Call) -> Result<Meta, Failure> {
    let mut meta = Meta { revision: call.workspace()?.revision().0, ..Meta::default() };
    (meta.returned, meta.total, meta.has_more) = (Some(0), Some(0), Some(false));
    Ok(meta)
}
