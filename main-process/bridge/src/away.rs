//! The responses to calls that Draftboard did not answer.

use crate::message::{Request, result};
use serde_json::{Value, json};

/// The JSON-RPC code for an internal error; `data` holds the reason, as in every other refusal.
const INTERNAL_ERROR: i64 = -32603;

/// The reason why a call got no answer, and a hint for the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    code: &'static str,
    message: String,
    hint: String,
}

impl Refusal {
    /// The connection was lost during the call, so its outcome is unknown.
    pub(crate) fn lost() -> Self {
        Self {
            code: "BRIDGE_DISCONNECTED",
            message: "lost the connection to Draftboard before it answered; the call may or may not have taken effect"
                .to_owned(),
            hint: "The bridge reconnects automatically. Check the current state before you call again.".to_owned(),
        }
    }

    /// The call was not sent, because Draftboard is unreachable.
    pub(crate) fn away(reason: &str, how_to_start: &str) -> Self {
        Self {
            code: "BRIDGE_DISCONNECTED",
            message: format!("Draftboard is not reachable, so the call was not sent: {reason}"),
            hint: how_to_start.to_owned(),
        }
    }

    pub(crate) fn too_many(limit: usize) -> Self {
        Self {
            code: "LIMIT_EXCEEDED",
            message: format!("{limit} calls are already waiting for an answer; this call was not sent"),
            hint: "Wait until some of them finish, then call again.".to_owned(),
        }
    }

    /// Builds the response: the usual envelope for tools, a protocol error for every other method.
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
