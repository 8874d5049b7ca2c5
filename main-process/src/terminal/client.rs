//! Talks to a running Draftboard.

use processes::DiscoveryRecord;
use shared_protocol::{
    Code, Refusal,
    frame::{FrameError, FrameReader, MAX_TERMINAL, decode_json, encode_json},
    messages::{Answer, FromTerminal, PROTOCOL_VERSION, Request, ToTerminal},
    review::{TerminalReview, TerminalReviewAnswer},
};
use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

const LIMIT: Duration = Duration::from_secs(150);
/// A running Draftboard greets at once; one that does not is stopped or stuck.
const HELLO_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("the running Draftboard (pid {pid}) cannot be reached: {source}; end it and start again")]
    Unreachable { pid: u32, source: io::Error },
    #[error("the running Draftboard answered something that is not understood: {0}")]
    Garbled(#[from] FrameError),
    #[error("the running Draftboard ended the connection")]
    Ended,
    #[error("{0}")]
    Refused(Refusal),
}

impl From<ClientError> for Refusal {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused(refusal) => refusal,
            other => Self::new(Code::Timeout, other.to_string()),
        }
    }
}

pub(crate) struct Client {
    stream: UnixStream,
    reader: FrameReader,
    pid: u32,
}

impl Client {
    pub(crate) fn connect(record: &DiscoveryRecord) -> Result<Self, ClientError> {
        let pid = record.pid;
        let unreachable = |source| ClientError::Unreachable { pid, source };
        let stream = record.connect().map_err(unreachable)?;
        stream.set_read_timeout(Some(HELLO_LIMIT)).map_err(unreachable)?;
        stream.set_write_timeout(Some(LIMIT)).map_err(unreachable)?;
        let mut client = Self { stream, reader: FrameReader::new(MAX_TERMINAL), pid };
        let hello =
            FromTerminal::Hello { protocol: PROTOCOL_VERSION, token: record.token.reveal().to_owned() };
        match client.exchange(&hello)? {
            ToTerminal::Welcome { .. } => {
                client.stream.set_read_timeout(Some(LIMIT)).map_err(unreachable)?;
                Ok(client)
            }
            ToTerminal::Refused(refusal) => Err(ClientError::Refused(refusal)),
            ToTerminal::Answer(_) | ToTerminal::Review(_) => Err(ClientError::Ended),
        }
    }

    pub(crate) fn request(&mut self, request: Request) -> Result<Answer, ClientError> {
        match self.exchange(&FromTerminal::Request(request))? {
            ToTerminal::Answer(answer) => Ok(answer),
            ToTerminal::Refused(refusal) => Err(ClientError::Refused(refusal)),
            ToTerminal::Welcome { .. } | ToTerminal::Review(_) => Err(ClientError::Ended),
        }
    }

    /// Looks at the review queue, or goes on with a decision.
    pub(crate) fn review(&mut self, request: TerminalReview) -> Result<TerminalReviewAnswer, ClientError> {
        match self.exchange(&FromTerminal::Review(request))? {
            ToTerminal::Review(answer) => Ok(answer),
            ToTerminal::Refused(refusal) => Err(ClientError::Refused(refusal)),
            ToTerminal::Answer(_) | ToTerminal::Welcome { .. } => Err(ClientError::Ended),
        }
    }

    /// The connection itself, which carries lines of MCP from now on.
    pub(crate) fn into_mcp(mut self) -> Result<UnixStream, ClientError> {
        match self.exchange(&FromTerminal::Mcp)? {
            ToTerminal::Answer(Answer::Done) => Ok(self.stream),
            ToTerminal::Refused(refusal) => Err(ClientError::Refused(refusal)),
            ToTerminal::Answer(_) | ToTerminal::Review(_) | ToTerminal::Welcome { .. } => {
                Err(ClientError::Ended)
            }
        }
    }

    fn exchange(&mut self, message: &FromTerminal) -> Result<ToTerminal, ClientError> {
        let pid = self.pid;
        let unreachable = |source| ClientError::Unreachable { pid, source };
        self.stream.write_all(&encode_json(message, MAX_TERMINAL)?).map_err(unreachable)?;
        let mut bytes = vec![0; 64 * 1024];
        loop {
            if let Some(frame) = self.reader.next_frame()? {
                return Ok(decode_json(&frame)?);
            }
            match self.stream.read(&mut bytes).map_err(unreachable)? {
                0 => return Err(ClientError::Ended),
                count => self.reader.push(&bytes[..count]),
            }
        }
    }
}
