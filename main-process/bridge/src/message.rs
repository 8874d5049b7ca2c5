//! JSON-RPC messages, parsed only as far as the bridge needs them.

use serde_json::{Map, Value, json};

pub(crate) const PROTOCOL_VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// A request id as JSON text. It distinguishes `1` from `"1"` and can be compared and ordered.
pub(crate) type Key = String;

pub(crate) fn key(id: &Value) -> Key {
    id.to_string()
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
}

impl Request {
    pub(crate) fn key(&self) -> Key {
        key(&self.id)
    }

    pub(crate) fn meta(&self) -> Option<&Value> {
        self.params.get("_meta")
    }

    /// Returns whether the request uses the protocol without a handshake, where every request names its protocol version.
    pub(crate) fn is_stateless(&self) -> bool {
        self.meta().is_some_and(|meta| meta.get(PROTOCOL_VERSION_KEY).is_some())
    }

    /// Drops parameters that can be large and are not needed to refuse the request.
    fn slim(mut self) -> Self {
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
pub(crate) enum Message {
    Request(Request),
    Notice {
        method: String,
        params: Value,
    },
    /// A response to a request from the other side.
    Reply {
        id: Value,
        result: Option<Value>,
    },
}

/// The reason why a line is not a JSON-RPC message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    NotJson,
    NotAMessage,
}

impl Message {
    pub(crate) fn read(line: &[u8]) -> Result<Self, Unreadable> {
        let value: Value = serde_json::from_slice(line).map_err(|_| Unreadable::NotJson)?;
        let Value::Object(mut fields) = value else { return Err(Unreadable::NotAMessage) };
        let id = fields.remove("id").filter(|id| id.is_string() || id.is_number());
        let method = match fields.remove("method") {
            Some(Value::String(method)) => Some(method),
            Some(_) => return Err(Unreadable::NotAMessage),
            None => None,
        };
        let params = |fields: &mut Map<String, Value>| fields.remove("params").unwrap_or(Value::Null);
        match (id, method) {
            (Some(id), Some(method)) => {
                Ok(Self::Request(Request { id, method, params: params(&mut fields) }.slim()))
            }
            (None, Some(method)) => Ok(Self::Notice { method, params: params(&mut fields) }),
            (Some(id), None) if fields.contains_key("result") || fields.contains_key("error") => {
                Ok(Self::Reply { id, result: fields.remove("result") })
            }
            _ => Err(Unreadable::NotAMessage),
        }
    }
}

/// Returns the id of a successful response if the line starts exactly as the server writes it. Responses are most of the
/// traffic and can be large, so this inspects a few bytes instead of parsing the line.
pub(crate) fn id_of_result(line: &[u8]) -> Option<&str> {
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

pub(crate) fn result(request: &Request, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request.id, "result": result })
}

/// Returns an empty result in the form of the request's protocol version.
pub(crate) fn done(request: &Request) -> Value {
    let nothing = if request.is_stateless() { json!({ "resultType": "complete" }) } else { json!({}) };
    result(request, nothing)
}

pub(crate) fn notice(method: &str, params: Value) -> Value {
    match params {
        Value::Null => json!({ "jsonrpc": "2.0", "method": method }),
        params => json!({ "jsonrpc": "2.0", "method": method, "params": params }),
    }
}

impl Unreadable {
    pub(crate) fn answer(self) -> Value {
        let (code, message) = match self {
            Self::NotJson => (-32700, "the line is not valid JSON; send one message per line"),
            Self::NotAMessage => (-32600, "the line is not a JSON-RPC request, notification or response"),
        };
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } })
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, Unreadable, id_of_result};
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
            assert_eq!(id_of_result(line.as_bytes()), expected, "{line}");
            if let Some(id) = expected {
                let Ok(Message::Reply { id: read, .. }) = Message::read(line.as_bytes()) else {
                    panic!("{line}")
                };
                assert_eq!(read.to_string(), id);
            }
        }
    }

    #[test]
    fn what_is_no_message_is_told_apart() {
        for (line, why) in [
            ("", Unreadable::NotJson),
            ("{", Unreadable::NotJson),
            ("\u{feff}{}", Unreadable::NotJson),
            ("[]", Unreadable::NotAMessage),
            ("7", Unreadable::NotAMessage),
            ("{}", Unreadable::NotAMessage),
            (r#"{"jsonrpc":"2.0","id":1}"#, Unreadable::NotAMessage),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Unreadable::NotAMessage),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, Unreadable::NotAMessage),
        ] {
            assert_eq!(Message::read(line.as_bytes()), Err(why), "{line}");
        }
    }

    #[test]
    fn a_request_is_kept_without_its_arguments() {
        let line = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call",
            "params": {"name": "search", "arguments": {"text": "long"}}});
        let Ok(Message::Request(request)) = Message::read(line.to_string().as_bytes()) else { panic!() };
        assert_eq!((request.id, request.params), (Value::from("x"), json!({"name": "search"})));
        assert!(Message::read(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).is_ok());
    }
}
