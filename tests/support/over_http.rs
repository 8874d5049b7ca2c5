//! Bundles that are served by themselves over HTTP, and one who asks there.

use super::home::HomeFixture;
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::Stdio,
};
use test_support::{KilledOnDrop, mcp, processes, wait_for_exit};

pub(crate) struct Served {
    child: KilledOnDrop,
    /// What it said when it was ready.
    pub(crate) line: String,
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) discovery: PathBuf,
}

impl Served {
    pub(crate) fn start(home: &HomeFixture, arguments: &[&str]) -> Self {
        let mut command = home.command();
        command.args(["serve", "--port", "0", "--json"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        let discovery = PathBuf::from(ready["discovery"].as_str().unwrap());
        let record: Value = serde_json::from_str(&fs::read_to_string(&discovery).unwrap()).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            child: KilledOnDrop(child),
            line,
            url: text(&ready["mcp"]),
            token: text(&record["mcpToken"]),
            discovery,
        }
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn stop(mut self) {
        processes::terminate(self.child.id());
        assert!(wait_for_exit(&mut self.child).is_some_and(|status| status.success()));
    }
}

/// One exchange over HTTP, in the newer protocol.
pub(crate) fn post(url: &str, token: Option<&str>, method: &str, params: Value) -> (u16, Value) {
    try_post(url, token, method, params).unwrap()
}

/// The same with somebody who may be gone.
pub(crate) fn try_post(
    url: &str,
    token: Option<&str>,
    method: &str,
    params: Value,
) -> std::io::Result<(u16, Value)> {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let body = mcp::stateless_request(1, method, params).to_string();
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let mut stream = TcpStream::connect(address)?;
    let token = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{token}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: {}\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        mcp::STATELESS,
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split_whitespace().nth(1).ok_or(std::io::ErrorKind::UnexpectedEof)?.parse().unwrap();
    let json = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let json = json.find('{').zip(json.rfind('}')).map_or("null", |(from, to)| &json[from..=to]);
    Ok((status, serde_json::from_str(json).unwrap_or_default()))
}
