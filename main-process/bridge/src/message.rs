//! JSON-RPC messages, parsed only as far as the bridge needs them.

use serde_json::{Map, Value, json};

pub(crate) const PROTOCOL_VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// A request id as JSON text. It distinguishes `1` from `"1"` and can be compared and ordered.
pub(crate) type RequestKey = String;

pub(crate) fn request_key(id: &Value) -> RequestKey {
    id.to_string()
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonRpcRequest {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
}

impl JsonRpcRequest {
    pub(crate) fn key(&self) -> RequestKey {
        request_key(&self.id)
    }

    pub(crate) fn meta(&self) -> Option<&Value> {
        self.params.get("_meta")
    }

    /// Returns whether the request uses the protocol without a handshake, where every request names its protocol version.
    pub(crate) fn is_stateless(&self) -> bool {
        self.meta().is_some_and(|meta| meta.get(PROTOCOL_VERSION_KEY).is_some())
    }

    /// Drops parameters that can be large and are not needed to refuse the request.
    fn without_arguments(mut self) -> Self {
        if let Some(params) = self.params.as_object_mut() {
            for large in ["arguments", "inputResponses", "requestState"] {
                params.remove(large);
            }
        }
        self
    }
}

/// A message from the client or the server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonRpcMessage {
    Request(JsonRpcRequest),
    Notification {
        method: String,
        params: Value,
    },
    /// A response to a request from the other side.
    Response {
        id: Value,
        result: Option<Value>,
    },
}

/// The reason why a line is not a JSON-RPC message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonRpcParseError {
    InvalidJson,
    InvalidMessage,
}

impl JsonRpcMessage {
    pub(crate) fn parse(line: &[u8]) -> Result<Self, JsonRpcParseError> {
        let value: Value = serde_json::from_slice(line).map_err(|_| JsonRpcParseError::InvalidJson)?;
        let Value::Object(mut fields) = value else { return Err(JsonRpcParseError::InvalidMessage) };
        let id = fields.remove("id").filter(|id| id.is_string() || id.is_number());
        let method = match fields.remove("method") {
            Some(Value::String(method)) => Some(method),
            Some(_) => return Err(JsonRpcParseError::InvalidMessage),
            None => None,
        };
        let params = |fields: &mut Map<String, Value>| fields.remove("params").unwrap_or(Value::Null);
        match (id, method) {
            (Some(id), Some(method)) => Ok(Self::Request(
                JsonRpcRequest { id, method, params: params(&mut fields) }.without_arguments(),
            )),
            (None, Some(method)) => Ok(Self::Notification { method, params: params(&mut fields) }),
            (Some(id), None) if fields.contains_key("result") || fields.contains_key("error") => {
                Ok(Self::Response { id, result: fields.remove("result") })
            }
            _ => Err(JsonRpcParseError::InvalidMessage),
        }
    }
}

/// Returns the id of a successful response if the line starts exactly as the server writes it. Responses are most of the
/// traffic and can be large, so this inspects a few bytes instead of parsing the line.
pub(crate) fn peek_result_id(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?;
    let end = match rest.first()? {
        b'"' => rest.iter().skip(1).position(|byte| *byte == b'"' || *byte == b'\\')? + 2,
        _ => rest.iter().position(|byte| !byte.is_ascii_digit())?,
    };
    let (id, rest) = rest.split_at_checked(end)?;
    // The string contains an escape and needs the full parser.
    let plain = !id.is_empty() && !id.ends_with(b"\\");
    (plain && rest.starts_with(br#","result":"#)).then(|| std::str::from_utf8(id).ok()).flatten()
}

pub(crate) fn success_response(request: &JsonRpcRequest, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request.id, "result": result })
}

/// Returns an empty result in the form of the request's protocol version.
pub(crate) fn empty_response(request: &JsonRpcRequest) -> Value {
    let nothing = if request.is_stateless() { json!({ "resultType": "complete" }) } else { json!({}) };
    success_response(request, nothing)
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    match params {
        Value::Null => json!({ "jsonrpc": "2.0", "method": method }),
        params => json!({ "jsonrpc": "2.0", "method": method, "params": params }),
    }
}

impl JsonRpcParseError {
    pub(crate) fn to_response(self) -> Value {
        let (code, message) = match self {
            Self::InvalidJson => (-32700, "the line is not valid JSON; send one message per line"),
            Self::InvalidMessage => (-32600, "the line is not a JSON-RPC request, notification or response"),
        };
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } })
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonRpcMessage, JsonRpcParseError, peek_result_id};
    use serde_json::{Value, json};

    #[test]
    fn the_quick_look_agrees_with_reading_or_declines() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, Some("7")),
            (r#"{"jsonrpc":"2.0","id":"a-1","result":{"id":9}}"#, Some(r#""a-1""#)),
            (r#"{"jsonrpc":"2.0","id":"","result":{}}"#, Some(r#""""#)),
            (r#"{"jsonrpc":"2.0","id":"a\"b","result":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":"a\\","result":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":-7,"result":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":7,"error":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, None),
            (r#"{"id":7,"jsonrpc":"2.0","result":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":"#, None),
            (r#"{"jsonrpc":"2.0","id":"a"#, None),
            ("", None),
        ] {
            assert_eq!(peek_result_id(line.as_bytes()), expected, "{line}");
            if let Some(id) = expected {
                let Ok(JsonRpcMessage::Response { id: read, .. }) = JsonRpcMessage::parse(line.as_bytes())
                else {
                    panic!("{line}")
                };
                assert_eq!(read.to_string(), id);
            }
        }
    }

    #[test]
    fn what_is_no_message_is_told_apart() {
        for (line, why) in [
            ("", JsonRpcParseError::InvalidJson),
            ("{", JsonRpcParseError::InvalidJson),
            ("\u{feff}{}", JsonRpcParseError::InvalidJson),
            ("[]", JsonRpcParseError::InvalidMessage),
            ("7", JsonRpcParseError::InvalidMessage),
            ("{}", JsonRpcParseError::InvalidMessage),
            (r#"{"jsonrpc":"2.0","id":1}"#, JsonRpcParseError::InvalidMessage),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, JsonRpcParseError::InvalidMessage),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, JsonRpcParseError::InvalidMessage),
        ] {
            assert_eq!(JsonRpcMessage::parse(line.as_bytes()), Err(why), "{line}");
        }
    }

    #[test]
    fn a_request_is_kept_without_its_arguments() {
        let line = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call",
            "params": {"name": "search", "arguments": {"text": "long"}}});
        let Ok(JsonRpcMessage::Request(request)) = JsonRpcMessage::parse(line.to_string().as_bytes()) else {
            panic!()
        };
        assert_eq!((request.id, request.params), (Value::from("x"), json!({"name": "search"})));
        assert!(JsonRpcMessage::parse(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).is_ok());
    }
}
