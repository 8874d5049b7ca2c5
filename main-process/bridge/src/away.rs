//! What a call is told that Draftboard did not answer.

use crate::message::{Request, result};
use serde_json::{Value, json};

/// JSON-RPC's code for "the server could not"; what happened is in `data`, as for every other refusal.
const INTERNAL_ERROR: i64 = -32603;

/// Why there is no answer, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    code: &'static str,
    message: String,
    hint: String,
}

impl Refusal {
    /// The connection ended while the call was under way: nobody knows whether it was done.
    pub(crate) fn lost() -> Self {
        Self {
            code: "BRIDGE_DISCONNECTED",
            message: "the connection to Draftboard ended before it answered; the call may or may not have been done"
                .to_owned(),
            hint: "The bridge reconnects by itself. Look at the current state before calling again.".to_owned(),
        }
    }

    /// It was never sent, because there is nobody to send it to.
    pub(crate) fn away(reason: &str, how_to_start: &str) -> Self {
        Self {
            code: "BRIDGE_DISCONNECTED",
            message: format!("Draftboard cannot be reached, nothing was done: {reason}"),
            hint: how_to_start.to_owned(),
        }
    }

    pub(crate) fn too_many(limit: usize) -> Self {
        Self {
            code: "LIMIT_EXCEEDED",
            message: format!("{limit} calls wait for an answer already; nothing was done"),
            hint: "Wait for some of them, then call again.".to_owned(),
        }
    }

    /// Tools answer the envelope that they always answer; everything else is an error of the protocol.
    pub(crate) fn answer(&self, request: &Request) -> Value {
        if request.method != "tools/call" {
            let data = json!({ "code": self.code, "hints": [self.hint] });
            let message = format!("{}. {}", self.message, self.hint);
            let error = json!({ "code": INTERNAL_ERROR, "message": message, "data": data });
            return json!({ "jsonrpc": "2.0", "id": request.id, "error": error });
        }
        let tool = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
        let details = json!({ "hints": [self.hint] });
        let error = json!({ "code": self.code, "message": self.message, "details": details });
        let envelope = json!({ "ok": false, "tool": tool, "error": error });
        let mut answer = json!({
            "content": [{ "type": "text", "text": envelope.to_string() }],
            "structuredContent": envelope,
            "isError": true,
        });
        if request.is_stateless() {
            answer["resultType"] = json!("complete");
        }
        result(request, answer)
    }
}
