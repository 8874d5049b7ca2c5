//! The responses to calls that Draftboard did not answer.

use crate::message::{JsonRpcRequest, success_response};
use serde_json::{Value, json};
use shared_protocol::{Refusal, RefusalCode};

/// The JSON-RPC code for an internal error; `data` holds the reason, as in every other refusal.
const INTERNAL_ERROR: i64 = -32603;

/// The connection was lost during the call, so its outcome is unknown.
pub(crate) fn connection_lost() -> Refusal {
    let message =
        "lost the connection to Draftboard before it answered; the call may or may not have taken effect";
    Refusal::new(RefusalCode::BridgeDisconnected, message)
        .hint("The bridge reconnects automatically. Check the current state before you call again.")
}

/// The call was not sent, because Draftboard is unreachable.
pub(crate) fn not_reachable(reason: &str, how_to_start: &str) -> Refusal {
    let message = format!("Draftboard is not reachable, so the call was not sent: {reason}");
    Refusal::new(RefusalCode::BridgeDisconnected, message).hint(how_to_start)
}

pub(crate) fn too_many_open(limit: usize) -> Refusal {
    let message = format!("{limit} calls are already waiting for an answer; this call was not sent");
    Refusal::new(RefusalCode::LimitExceeded, message).hint("Wait until some of them finish, then call again.")
}

/// Builds the response: the usual envelope for tools, a protocol error for every other method.
pub(crate) fn to_response(refusal: &Refusal, request: &JsonRpcRequest) -> Value {
    let Refusal { code, message, hints, .. } = refusal;
    if request.method != "tools/call" {
        let data = json!({ "code": code, "hints": hints });
        let message = format!("{message}. {}", hints.join(" "));
        let error = json!({ "code": INTERNAL_ERROR, "message": message, "data": data });
        return json!({ "jsonrpc": "2.0", "id": request.id, "error": error });
    }
    let tool = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
    let error = json!({ "code": code, "message": message, "details": { "hints": hints } });
    let envelope = json!({ "ok": false, "tool": tool, "error": error });
    let mut answer = json!({
        "content": [{ "type": "text", "text": envelope.to_string() }],
        "structuredContent": envelope,
        "isError": true,
    });
    if request.is_stateless() {
        answer["resultType"] = json!("complete");
    }
    success_response(request, answer)
}
