//! The connection to a running Draftboard.

use processes::DiscoveryRecord;
use serde::de::DeserializeOwned;
use shared_protocol::{
    Refusal, RefusalCode,
    decisions::{ConfirmationCodePlace, PersonDecision, SubmitDecision},
    framing::{FrameDecoder, FramingError, MAX_TERMINAL_FRAME_BYTES, decode_json, encode_json},
    messages::{FromTerminal, PROTOCOL_VERSION, ToTerminal},
    request::Request,
};
use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

const RESPONSE_LIMIT: Duration = Duration::from_secs(150);
/// A running Draftboard greets at once; one that does not is stopped or hangs.
const HELLO_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum TerminalClientError {
    #[error("the running Draftboard (pid {pid}) cannot be reached: {source}; stop it and start again")]
    Unreachable { pid: u32, source: io::Error },
    #[error("the running Draftboard sent a malformed message: {0}")]
    Garbled(#[from] FramingError),
    #[error(
        "the running Draftboard sent the response to another request; use the same version on both sides"
    )]
    Unexpected,
    #[error("the running Draftboard closed the connection")]
    Ended,
    #[error("{0}")]
    Refused(Refusal),
}

impl From<TerminalClientError> for Refusal {
    fn from(error: TerminalClientError) -> Self {
        match error {
            TerminalClientError::Refused(refusal) => refusal,
            other => Self::new(RefusalCode::Timeout, other.to_string()),
        }
    }
}

pub struct TerminalClient {
    stream: UnixStream,
    reader: FrameDecoder,
    pid: u32,
}

impl TerminalClient {
    pub fn connect(record: &DiscoveryRecord) -> Result<Self, TerminalClientError> {
        let pid = record.pid;
        let unreachable = |source| TerminalClientError::Unreachable { pid, source };
        let stream = record.connect().map_err(unreachable)?;
        stream.set_read_timeout(Some(HELLO_LIMIT)).map_err(unreachable)?;
        stream.set_write_timeout(Some(RESPONSE_LIMIT)).map_err(unreachable)?;
        let mut client = Self { stream, reader: FrameDecoder::new(MAX_TERMINAL_FRAME_BYTES), pid };
        let hello =
            FromTerminal::Hello { protocol: PROTOCOL_VERSION, token: record.token.reveal().to_owned() };
        match client.exchange(&hello)? {
            ToTerminal::Welcome { .. } => {
                client.stream.set_read_timeout(Some(RESPONSE_LIMIT)).map_err(unreachable)?;
                Ok(client)
            }
            ToTerminal::Refused(refusal) => Err(TerminalClientError::Refused(refusal)),
            ToTerminal::Response(_) => Err(TerminalClientError::Unexpected),
        }
    }

    pub fn request<R: Request>(&mut self, request: R) -> Result<R::Response, TerminalClientError>
    where
        FromTerminal: From<R::Frame>,
    {
        self.exchange_typed(&R::Frame::from(request).into())
    }

    /// Submits a decision, has the person type the code that Draftboard shows elsewhere, and confirms it.
    pub fn decide<D: Request>(
        &mut self,
        decision: D,
        type_code: impl FnOnce(&str) -> Result<String, Refusal>,
    ) -> Result<D::Response, TerminalClientError>
    where
        PersonDecision: From<D::Frame>,
    {
        let decision = D::Frame::from(decision).into();
        let ConfirmationCodePlace { place } = self.request(SubmitDecision { decision })?;
        let code = type_code(&place).map_err(TerminalClientError::Refused)?;
        self.exchange_typed(&FromTerminal::Confirm { code })
    }

    fn exchange_typed<T: DeserializeOwned>(
        &mut self,
        message: &FromTerminal,
    ) -> Result<T, TerminalClientError> {
        let response = self.respond(message)?;
        serde_json::from_value(response).map_err(|_| TerminalClientError::Unexpected)
    }

    /// The connection itself, which carries lines of MCP from now on.
    pub fn into_mcp(mut self) -> Result<UnixStream, TerminalClientError> {
        self.respond(&FromTerminal::Mcp).map(|_| self.stream)
    }

    fn respond(&mut self, message: &FromTerminal) -> Result<serde_json::Value, TerminalClientError> {
        match self.exchange(message)? {
            ToTerminal::Response(response) => Ok(response),
            ToTerminal::Refused(refusal) => Err(TerminalClientError::Refused(refusal)),
            ToTerminal::Welcome { .. } => Err(TerminalClientError::Unexpected),
        }
    }

    fn exchange(&mut self, message: &FromTerminal) -> Result<ToTerminal, TerminalClientError> {
        let pid = self.pid;
        let unreachable = |source| TerminalClientError::Unreachable { pid, source };
        self.stream.write_all(&encode_json(message, MAX_TERMINAL_FRAME_BYTES)?).map_err(unreachable)?;
        let mut bytes = vec![0; 64 * 1024];
        loop {
            if let Some(frame) = self.reader.next_frame()? {
                return Ok(decode_json(&frame)?);
            }
            match self.stream.read(&mut bytes).map_err(unreachable)? {
                0 => return Err(TerminalClientError::Ended),
                count => self.reader.push(&bytes[..count]),
            }
        }
    }
}
