//! One kept-alive connection: HTTP/1.1, or lines to and from a process.

use super::plan::{Reach, Server, Task};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

pub(crate) struct Connection {
    wire: Wire,
    handshake: bool,
    next: u64,
    body: Vec<u8>,
}

enum Wire {
    Http { stream: BufReader<TcpStream>, head: String, session: Option<String> },
    Stdio { child: Child, stdin: ChildStdin, stdout: BufReader<ChildStdout> },
}

impl Connection {
    pub(crate) fn open(server: &Server) -> Self {
        let wire = match &server.reach {
            Reach::Http { address, path, token } => {
                let stream = TcpStream::connect(address).expect("a server listens");
                stream.set_nodelay(true).expect("a socket");
                let token = token
                    .as_ref()
                    .map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
                let head = format!(
                    "POST {path} HTTP/1.1\r\nHost: {address}\r\n{token}Content-Type: application/json\r\n\
                     Accept: application/json, text/event-stream\r\n"
                );
                Wire::Http { stream: BufReader::with_capacity(256 << 10, stream), head, session: None }
            }
            Reach::Stdio { command } => {
                let mut child = Command::new(&command[0])
                    .args(&command[1..])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("it starts");
                let (stdin, stdout) =
                    (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
                Wire::Stdio { child, stdin, stdout: BufReader::with_capacity(256 << 10, stdout) }
            }
        };
        let mut connection = Self { wire, handshake: server.handshake, next: 0, body: Vec::new() };
        if server.handshake {
            connection.shake_hands();
        }
        connection
    }

    fn shake_hands(&mut self) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params});
        self.exchange(&hello, "initialize");
        self.exchange(
            &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            "notifications/initialized",
        );
    }

    fn exchange(&mut self, message: &Value, method: &str) {
        self.send(&message.to_string(), method, None);
        if message.get("id").is_some() || matches!(self.wire, Wire::Http { .. }) {
            self.receive();
        }
    }

    /// The body of the answer.
    pub(crate) fn ask(&mut self, task: &Task) -> &[u8] {
        self.next += 1;
        let message = task.message(self.next, self.handshake);
        self.send(&message, &task.method, task.name.as_deref());
        self.receive();
        &self.body
    }

    fn send(&mut self, message: &str, method: &str, name: Option<&str>) {
        match &mut self.wire {
            Wire::Http { stream, head, session } => {
                let mut request = head.clone();
                if self.handshake {
                    if let Some(session) = session {
                        request +=
                            &format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
                    }
                } else {
                    request += &format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
                    if let Some(name) = name {
                        request += &format!("Mcp-Name: {name}\r\n");
                    }
                }
                request += &format!("Content-Length: {}\r\n\r\n{message}", message.len());
                stream.get_mut().write_all(request.as_bytes()).expect("it is read");
            }
            Wire::Stdio { stdin, .. } => {
                stdin.write_all(format!("{message}\n").as_bytes()).expect("it is read")
            }
        }
    }

    fn receive(&mut self) {
        self.body.clear();
        match &mut self.wire {
            Wire::Http { stream, session, .. } => {
                let mut line = String::new();
                let (mut length, mut chunked) = (0, false);
                stream.read_line(&mut line).expect("an answer");
                assert!(line.starts_with("HTTP/1.1 20"), "{line}");
                loop {
                    line.clear();
                    stream.read_line(&mut line).expect("an answer");
                    let Some((name, value)) = line.trim_end().split_once(": ") else { break };
                    match name.to_ascii_lowercase().as_str() {
                        "content-length" => length = value.parse().expect("a length"),
                        "transfer-encoding" => chunked = value == "chunked",
                        "mcp-session-id" => *session = Some(value.to_owned()),
                        _ => {}
                    }
                }
                if !chunked {
                    self.body.resize(length, 0);
                    return stream.read_exact(&mut self.body).expect("an answer");
                }
                loop {
                    line.clear();
                    stream.read_line(&mut line).expect("a chunk");
                    let size = usize::from_str_radix(line.trim_end(), 16).expect("a chunk's size");
                    let from = self.body.len();
                    self.body.resize(from + size, 0);
                    stream.read_exact(&mut self.body[from..]).expect("a chunk");
                    line.clear();
                    stream.read_line(&mut line).expect("a chunk's end");
                    if size == 0 {
                        return;
                    }
                }
            }
            Wire::Stdio { stdout, .. } => {
                stdout.read_until(b'\n', &mut self.body).expect("an answer");
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Wire::Stdio { child, .. } = &mut self.wire {
            drop(child.kill());
            drop(child.wait());
        }
    }
}
