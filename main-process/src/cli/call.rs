//! `draftboard call`: calls a tool as an agent does.

use super::{format, workspace_at};
use serde_json::{Map, Value, json};
use shared_protocol::{Refusal, RefusalCode};
use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::ExitCode,
};
use terminal_client::TerminalClient;

const PROTOCOL: &str = "2026-07-28";
/// No answer of the server is larger.
const MAX_ANSWER: u64 = bridge::MAX_LINE_BYTES as u64;

/// Calls a tool: its data for people, its whole answer for machines.
pub(super) fn run(
    tool: &str,
    args: Option<&str>,
    pairs: &[String],
    at: &super::WorkspaceArguments,
) -> ExitCode {
    let answer = arguments(args, pairs).and_then(|arguments| {
        send(at.workspace.as_deref(), "tools/call", json!({ "name": tool, "arguments": arguments }))
    });
    let result = match answer {
        Ok(result) => result,
        Err(refusal) => return format::refuse(&refusal, at.json),
    };
    if result["structuredContent"].get("tool").is_none() {
        return of_another(&result, at.json);
    }
    let envelope = &result["structuredContent"];
    let ok = result["isError"] != true && envelope["ok"] != false;
    if at.json {
        format::print_json(envelope);
    } else if ok {
        format::print_json(&envelope["data"]);
        note_page(&envelope["meta"]);
    } else {
        let error = &envelope["error"];
        format::print_warning(&refusal(&error["message"], &error["code"], &error["details"]).to_string());
    }
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A tool of a managed server answers in its own shape.
fn of_another(result: &Value, json: bool) -> ExitCode {
    let is_error = result["isError"] == true;
    if json {
        format::print_json(result);
    } else {
        for block in result["content"].as_array().into_iter().flatten() {
            let text = block["text"].as_str().map_or_else(|| block.to_string(), str::to_owned);
            if is_error { format::print_warning(&text) } else { format::print_visible(&text) }
        }
    }
    if is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// From `--args`, or from `key=value` where a value is JSON if it can be, else text.
pub(super) fn arguments(args: Option<&str>, pairs: &[String]) -> Result<Value, Refusal> {
    let wrong = |message: String| {
        Refusal::new(RefusalCode::BadRequest, message)
            .field("args")
            .hint("Use --args '{\"board\": \"infrastructure\"}', or board=infrastructure. Run `draftboard call --help` for examples.")
    };
    if let Some(args) = args {
        let value: Value = serde_json::from_str(args)
            .map_err(|error| wrong(format!("the arguments are not valid JSON: {error}")))?;
        return if value.is_object() {
            Ok(value)
        } else {
            Err(wrong("the arguments must be a JSON object".to_owned()))
        };
    }
    let mut object = Map::new();
    for pair in pairs {
        let (key, value) = pair.split_once('=').ok_or_else(|| wrong(format!("`{pair}` has no `=`")))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        object.insert(key.to_owned(), value);
    }
    Ok(Value::Object(object))
}

/// One request on a connection of its own.
pub(super) fn send(workspace: Option<&Path>, method: &str, mut params: Value) -> Result<Value, Refusal> {
    let record = workspace_at::instance(workspace)?;
    let stream = TerminalClient::connect(&record).and_then(TerminalClient::into_mcp)?;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": PROTOCOL,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "draftboard-terminal", "version": env!("CARGO_PKG_VERSION") },
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let broken = |error: std::io::Error| {
        Refusal::new(RefusalCode::Timeout, format!("Draftboard did not respond: {error}"))
    };
    (&stream).write_all(format!("{request}\n").as_bytes()).map_err(broken)?;
    let mut lines = BufReader::new(stream.take(MAX_ANSWER));
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).map_err(broken)? == 0 {
            return Err(Refusal::new(
                RefusalCode::Timeout,
                "Draftboard closed the connection without a response",
            ));
        }
        let mut answer: Value = serde_json::from_str(&line).map_err(|error| {
            Refusal::new(RefusalCode::Internal, format!("the response is not valid JSON: {error}"))
        })?;
        // Anything else is a notice on the way to the answer.
        if answer["id"] == 1 {
            return match answer.get("error") {
                Some(error) => {
                    let data = &error["data"];
                    let details = if data["details"].is_object() { &data["details"] } else { data };
                    Err(refusal(&error["message"], &data["code"], details))
                }
                None => Ok(answer["result"].take()),
            };
        }
    }
}

/// The codes that agents have and terminals do not.
const AGENTS_ONLY: [RefusalCode; 5] = [
    RefusalCode::DeleteBlocked,
    RefusalCode::ActuationDisabled,
    RefusalCode::AwaitingReview,
    RefusalCode::NoPreview,
    RefusalCode::BridgeDisconnected,
];

/// An error of the protocol, or of a tool, as a refusal. Only codes that agents and terminals both have are kept.
fn refusal(message: &Value, code: &Value, details: &Value) -> Refusal {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let code = serde_json::from_value(code.clone()).ok().filter(|code| !AGENTS_ONLY.contains(code));
    let code = code.unwrap_or(RefusalCode::BadRequest);
    let mut refusal =
        Refusal::new(code, message.as_str().unwrap_or("refused")).suggest(texts(&details["suggestions"]));
    refusal.hints = texts(&details["hints"]);
    refusal
}

/// Says on standard error that there is more, and how to get it.
fn note_page(meta: &Value) {
    if meta["hasMore"] == true
        && let Some(cursor) = meta["cursor"].as_str()
    {
        format::print_warning(&format!(
            "{} of {} shown; add cursor={cursor} for the next page",
            meta["returned"], meta["total"]
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::arguments;
    use serde_json::json;

    #[test]
    fn arguments_are_json_where_they_can_be() {
        let pairs =
            |pairs: &[&str]| arguments(None, &pairs.iter().map(ToString::to_string).collect::<Vec<_>>());
        let read =
            pairs(&["board=main", "limit=7", "deep=true", "note=a=b", "ids=[\"x\"]", "empty="]).unwrap();
        let expected =
            json!({"board": "main", "limit": 7, "deep": true, "note": "a=b", "ids": ["x"], "empty": ""});
        assert_eq!(read, expected);
        assert_eq!(arguments(Some("{\"a\": 1}"), &[]).unwrap(), json!({"a": 1}));
        assert_eq!(pairs(&[]).unwrap(), json!({}));
        assert!(
            pairs(&["novalue"]).is_err()
                && arguments(Some("[]"), &[]).is_err()
                && arguments(Some("{"), &[]).is_err()
        );
    }
}
