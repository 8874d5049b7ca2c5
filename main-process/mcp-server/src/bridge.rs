//! One bridge connection: newline-delimited JSON-RPC on a stream that the caller has opened and authenticated.

use crate::{
    AgentHandler, AgentService,
    clients::{ClientActivity, ClientIdentity, ClientKey},
    handler::ClientChannel,
    splice::PreEncodedAnswers,
};
use bytes::Bytes;
use rmcp::{
    ErrorData, RoleServer, ServiceExt,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use shared_protocol::mcp::{AgentTransport, McpProtocolEra};
use std::{io, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadHalf, WriteHalf},
    sync::Mutex,
};

/// The maximum number of bytes per message. A longer message is refused and the connection stays open.
const MAX_MESSAGE_LINE_BYTES: usize = 4 << 20;
/// The time limit for the first message.
const MAX_FIRST_MESSAGE_TIME: Duration = Duration::from_secs(60);
/// The time limit for sending one message; a slower bridge is disconnected.
const MAX_SEND_TIME: Duration = Duration::from_secs(30);

pub(crate) async fn serve_bridge(
    service: &AgentService,
    number: u64,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) {
    let inner = &service.inner;
    let key = ClientKey::Bridge(number);
    let who = ClientIdentity::new(Some(key.clone()), None, AgentTransport::Bridge, McpProtocolEra::Modern);
    inner.clients.record_activity(&who, ClientActivity::List("connect"), inner.workbench.now());
    let end = inner.clients.disconnect_token(&key).unwrap_or_default();
    let agent = AgentHandler::new(service.clone(), ClientChannel::Bridge(number));
    let lines = LineTransport::new(stream, Arc::clone(&inner.splices));
    let stop = inner.stop.child_token();
    let started =
        tokio::time::timeout(MAX_FIRST_MESSAGE_TIME, agent.serve_with_ct(lines, stop.clone())).await;
    match started {
        Ok(Ok(running)) => {
            let ending = running.cancellation_token();
            tokio::select! {
                _ = running.waiting() => {}
                () = end.cancelled() => ending.cancel(),
            }
        }
        Ok(Err(error)) => tracing::debug!(%error, "a bridge failed to start its session"),
        Err(_) => tracing::debug!("a bridge sent no first message in time"),
    }
    stop.cancel();
    inner.notices.remove_session(&key);
    inner.clients.remove(&key);
}

struct LineTransport<S> {
    read: BufReader<ReadHalf<S>>,
    /// Kept between calls, because a read can be cancelled and resumed.
    line: Vec<u8>,
    /// Skips the rest of an overlong line.
    skipping: bool,
    write: Arc<Mutex<Option<WriteHalf<S>>>>,
    splices: Arc<PreEncodedAnswers>,
}

enum LineReadResult {
    Complete,
    TooLong,
    End,
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> LineTransport<S> {
    fn new(stream: S, splices: Arc<PreEncodedAnswers>) -> Self {
        let (read, write) = tokio::io::split(stream);
        Self {
            read: BufReader::with_capacity(16 * 1024, read),
            line: Vec::new(),
            skipping: false,
            write: Arc::new(Mutex::new(Some(write))),
            splices,
        }
    }

    /// Cancel-safe: bytes are consumed from the reader and stored in one step.
    async fn next_line(&mut self) -> io::Result<LineReadResult> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(LineReadResult::End);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let is_too_long = self.line.len() + taken > MAX_MESSAGE_LINE_BYTES;
            if !self.skipping && !is_too_long {
                self.line.extend_from_slice(available.get(..taken).unwrap_or_default());
            }
            self.read.consume(taken);
            if is_too_long {
                self.line.clear();
                self.skipping = true;
            }
            match (newline, self.skipping) {
                (Some(_), true) => {
                    self.skipping = false;
                    return Ok(LineReadResult::TooLong);
                }
                (Some(_), false) => return Ok(LineReadResult::Complete),
                (None, _) => {}
            }
        }
    }

    async fn refuse(&mut self, message: String) -> bool {
        let error = TxJsonRpcMessage::<RoleServer>::error(ErrorData::invalid_request(message, None), None);
        send(Arc::clone(&self.write), Arc::clone(&self.splices), error).await.is_ok()
    }
}

async fn send<S: AsyncRead + AsyncWrite + Send + Unpin>(
    write: Arc<Mutex<Option<WriteHalf<S>>>>,
    splices: Arc<PreEncodedAnswers>,
    message: TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut json = serde_json::to_vec(&message)?;
    json.push(b'\n');
    let pieces = splices.fill(Bytes::from(json));
    let mut write = write.lock().await;
    let Some(out) = write.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
    let all = async {
        for piece in pieces {
            out.write_all(&piece).await?;
        }
        out.flush().await
    };
    match tokio::time::timeout(MAX_SEND_TIME, all).await {
        Ok(sent) => sent,
        Err(_) => {
            // Part of the message may be sent, so the stream is unusable.
            *write = None;
            Err(io::ErrorKind::TimedOut.into())
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<S> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        send(Arc::clone(&self.write), Arc::clone(&self.splices), message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            match self.next_line().await {
                Ok(LineReadResult::Complete) => {}
                Ok(LineReadResult::TooLong) => {
                    if !self
                        .refuse(format!("The message is larger than {MAX_MESSAGE_LINE_BYTES} bytes"))
                        .await
                    {
                        return None;
                    }
                    continue;
                }
                Ok(LineReadResult::End) => return None,
                Err(error) => {
                    tracing::debug!(%error, "a bridge connection failed");
                    return None;
                }
            }
            let parsed = serde_json::from_slice(&self.line);
            let is_blank = self.line.iter().all(u8::is_ascii_whitespace);
            self.line.clear();
            match parsed {
                Ok(message) => return Some(message),
                Err(_) if is_blank => {}
                // Not JSON. Not answered, because an answer could start an endless echo.
                Err(error) if error.is_syntax() || error.is_eof() => {
                    tracing::debug!(%error, "ignored a line that is not JSON");
                }
                Err(_) => {
                    if !self.refuse("The message is not an MCP message".to_owned()).await {
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        *self.write.lock().await = None;
        Ok(())
    }
}
