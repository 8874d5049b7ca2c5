//! A plain MCP client over the standard input and output of `draftboard mcp`.

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use serde_json::{Value, json};
use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};

const PROTOCOL: &str = "2025-11-25";
const NAME: &str = "Demo agent";
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// Messages that may lie unread.
const MAX_UNREAD: usize = 64;

#[derive(Debug, thiserror::Error)]
pub(super) enum DemoClientError {
    #[error("the bridge did not start: {0}")]
    Start(#[source] io::Error),
    #[error("the bridge does not listen: {0}")]
    Write(#[source] io::Error),
    #[error("no answer to {0} in time")]
    Silence(String),
    #[error("the bridge has stopped")]
    Ended,
    #[error("{tool} was refused: {answer}")]
    Refused { tool: String, answer: Value },
    #[error("the example has no {0} that the script could work with")]
    Missing(&'static str),
}

pub(super) struct DemoClient {
    bridge: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
}

impl DemoClient {
    /// Starts the bridge and introduces itself.
    pub(super) fn connect(exe: &Path, workspace: &Path) -> Result<Self, DemoClientError> {
        let mut bridge = Command::new(exe)
            .arg("mcp")
            .arg("--workspace")
            .arg(workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(DemoClientError::Start)?;
        let (Some(input), Some(output)) = (bridge.stdin.take(), bridge.stdout.take()) else {
            return Err(DemoClientError::Ended);
        };
        let (said, messages) = bounded(MAX_UNREAD);
        let read = move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            let mut heard = lines.filter_map(|line| serde_json::from_str(&line).ok());
            heard.try_for_each(|message: Value| said.send(message).map_err(drop))
        };
        std::thread::Builder::new().name("bridge".to_owned()).spawn(read).map_err(DemoClientError::Start)?;
        let mut client = Self { bridge, input, messages, last_id: 0 };
        let version = env!("CARGO_PKG_VERSION");
        client.request(
            "initialize",
            json!({
                "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": { "name": NAME, "version": version }
            }),
        )?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    /// Calls a tool and gives back its data.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, DemoClientError> {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        let mut result = answer.get("result").cloned().unwrap_or_default();
        match result.pointer_mut("/structuredContent/data") {
            Some(data) if answer.pointer("/result/isError") != Some(&Value::Bool(true)) => Ok(data.take()),
            _ => Err(DemoClientError::Refused { tool: tool.to_owned(), answer }),
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, DemoClientError> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let message = self.messages.recv_timeout(ANSWER_LIMIT).map_err(|error| match error {
                RecvTimeoutError::Timeout => DemoClientError::Silence(method.to_owned()),
                RecvTimeoutError::Disconnected => DemoClientError::Ended,
            })?;
            // Notices are for clients that show something.
            if message.get("id") == Some(&json!(id)) {
                return Ok(message);
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), DemoClientError> {
        let line = format!("{message}\n");
        self.input
            .write_all(line.as_bytes())
            .and_then(|()| self.input.flush())
            .map_err(DemoClientError::Write)
    }
}

impl Drop for DemoClient {
    fn drop(&mut self) {
        // The end of its input ends a bridge as well, only later.
        let ended = self.bridge.kill().and_then(|()| self.bridge.wait());
        if let Err(error) = ended {
            tracing::debug!(%error, "the bridge was not ended");
        }
    }
}
