//! MCP messages as an agent sends them. The transports stay with the tests: a pipe, a socket, HTTP or a process.

use serde_json::{Value, json};

/// The last revision of the protocol with a handshake.
pub const HANDSHAKE: &str = "2025-11-25";
/// The first revision without one.
pub const STATELESS: &str = "2026-07-28";

/// Returns what each request of the stateless protocol carries, for a client with these capabilities.
pub fn stateless_meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    })
}

pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// Returns a request of the stateless protocol. A progress token that is in the parameters stays there.
pub fn stateless_request(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    let mut meta = stateless_meta(&json!({}));
    if let Some(token) = params["_meta"].get("progressToken") {
        meta["progressToken"] = token.clone();
    }
    params["_meta"] = meta;
    request(id, method, params)
}

/// Returns a call of a tool in the stateless protocol.
pub fn stateless_call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    stateless_request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}
