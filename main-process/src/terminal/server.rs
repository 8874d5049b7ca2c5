//! Serves terminals: one thread per connection, up to a limit.

use crate::{
    local_user::user_name,
    responses::{JsonResponder, wait_for},
    router::RequestRouter,
    writer::{ProcessHandle, ServeTerminals, Services, TerminalReviewer},
};
use processes::{
    PublishedInstance,
    instance::{InstanceToken, check_peer},
};
use rustix::event::{PollFd, PollFlags, poll};
use shared_protocol::{
    Actor, ActorKind, Refusal, RefusalCode,
    framing::{FrameDecoder, FramingError, MAX_TERMINAL_FRAME_BYTES, decode_json, encode_json},
    messages::{FromTerminal, PROTOCOL_VERSION, ToTerminal, refuse_hello},
};
use std::{
    io::{self, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const MAX_CONNECTIONS: usize = 64;
/// A terminal that sends no whole message for this long is disconnected, and so is one that takes no response.
const IDLE_LIMIT: Duration = Duration::from_secs(60);
const RESPONSE_LIMIT: Duration = Duration::from_secs(120);
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Numbers connections: a code belongs to the one that asked.
static NEXT_CONNECTION: AtomicU64 = AtomicU64::new(1);

/// Dropping it ends the listening thread, and each connection at its next request: a terminal of one workspace must not reach
/// the workspace that replaces it.
pub(crate) struct TerminalServer {
    _stop: UnixStream,
    is_closed: Arc<AtomicBool>,
}

impl Drop for TerminalServer {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }
}

/// Shared by all connections.
#[derive(Clone)]
struct TerminalContext {
    token: InstanceToken,
    router: RequestRouter,
    /// The workspace was closed.
    is_closed: Arc<AtomicBool>,
}

impl TerminalServer {
    /// Starts a server for each workspace that the writer opens.
    pub(crate) fn server_factory(services: Services, process: ProcessHandle) -> ServeTerminals {
        Arc::new(move |instance, writer| {
            let (writer, services, process) = (writer.clone(), services.clone(), process.clone());
            Ok(Box::new(Self::start(instance, RequestRouter { writer, services, process })?))
        })
    }

    fn start(instance: &PublishedInstance, mut router: RequestRouter) -> io::Result<Self> {
        let listener = instance.listener().try_clone()?;
        listener.set_nonblocking(true)?;
        let (over, token) = (Arc::new(AtomicBool::new(false)), instance.record().token.clone());
        // Requests that wait for the writer while another workspace is opened are refused as well.
        router.writer = router.writer.bound_to(Arc::clone(&over));
        let context = TerminalContext { token, router, is_closed: Arc::clone(&over) };
        let (stop, stopped) = UnixStream::pair()?;
        std::thread::Builder::new()
            .name("terminals".to_owned())
            .spawn(move || listen(&listener, &stopped, &context))?;
        Ok(Self { _stop: stop, is_closed: over })
    }
}

fn listen(listener: &UnixListener, stopped: &UnixStream, context: &TerminalContext) {
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let mut waits = [PollFd::new(listener, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        if let Err(error) = poll(&mut waits, None)
            && error != rustix::io::Errno::INTR
        {
            tracing::error!(%error, "terminals can no longer connect");
            return;
        }
        if !waits[1].revents().is_empty() {
            return;
        }
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => {
                // Out of descriptors, for example: trying again at once would only keep a processor busy.
                tracing::warn!(%error, "a terminal was not accepted");
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            }
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let context = context.clone();
        let count = Arc::clone(&open);
        let serve = move || {
            if let Err(reason) = serve_connection(stream, &context, IDLE_LIMIT) {
                tracing::info!(%reason, "a terminal's connection ended");
            }
            count.fetch_sub(1, Ordering::SeqCst);
        };
        if let Err(error) = std::thread::Builder::new().name("terminal".to_owned()).spawn(serve) {
            tracing::error!(%error, "the thread for a terminal did not start");
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Serves one connection; `Err` is the reason why this side ended it.
fn serve_connection(
    mut stream: UnixStream,
    context: &TerminalContext,
    limit: Duration,
) -> Result<(), String> {
    let TerminalContext { token, router, is_closed: over } = context;
    check_peer(&stream).map_err(|error| error.to_string())?;
    stream.set_nonblocking(false).map_err(|error| error.to_string())?;
    stream.set_write_timeout(Some(limit)).map_err(|error| error.to_string())?;
    let mut reader = FrameDecoder::new(MAX_TERMINAL_FRAME_BYTES);
    let connection = NEXT_CONNECTION.fetch_add(1, Ordering::Relaxed);
    let mut greeted = false;
    loop {
        let frame = match next_frame(&mut stream, &mut reader, limit) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(()),
            Err(ReadError::Framing(error)) => {
                // The start of the next message is unknown, so this connection cannot go on.
                send(&mut stream, &ToTerminal::Refused(malformed_message_refusal(&error)))?;
                return Err(error.to_string());
            }
            Err(ReadError::Connection(reason)) => return Err(reason),
        };
        let message: FromTerminal = match decode_json(&frame) {
            Ok(message) => message,
            Err(error) => {
                send(&mut stream, &ToTerminal::Refused(malformed_message_refusal(&error)))?;
                if greeted {
                    continue;
                }
                return Err(error.to_string());
            }
        };
        let answer = match message {
            FromTerminal::Hello { protocol, token: shown } => {
                match refuse_hello(protocol, token.matches(&shown)) {
                    Some(refusal) => {
                        let reason = refusal.message.clone();
                        send(&mut stream, &ToTerminal::Refused(refusal))?;
                        return Err(reason);
                    }
                    None => {
                        greeted = true;
                        ToTerminal::Welcome {
                            protocol: PROTOCOL_VERSION,
                            version: env!("CARGO_PKG_VERSION").to_owned(),
                        }
                    }
                }
            }
            _ if !greeted => {
                let refusal =
                    Refusal::new(RefusalCode::BadRequest, "the first message must be a hello with the token")
                        .hint("The token is in the instance's discovery record.");
                send(&mut stream, &ToTerminal::Refused(refusal))?;
                return Err("a request before the hello".to_owned());
            }
            _ if over.load(Ordering::SeqCst) => {
                let refusal = crate::writer::workspace_closed();
                send(&mut stream, &ToTerminal::Refused(refusal))?;
                return Err("the workspace was closed".to_owned());
            }
            FromTerminal::Request(request) => {
                let actor = Actor::new(ActorKind::Terminal, user_name());
                let response = wait_for(RESPONSE_LIMIT, |responder| {
                    router.route(request, actor, JsonResponder(responder));
                });
                response.into()
            }
            FromTerminal::Review(request) => {
                let reviewer = TerminalReviewer { connection, name: user_name() };
                let response = wait_for(RESPONSE_LIMIT, |responder| {
                    router.writer.terminal_review(request, reviewer, JsonResponder(responder));
                });
                response.into()
            }
            FromTerminal::Confirm { code } => {
                let reviewer = TerminalReviewer { connection, name: user_name() };
                let response = wait_for(RESPONSE_LIMIT, |responder| {
                    router.writer.confirm(code, reviewer, JsonResponder(responder));
                });
                response.into()
            }
            FromTerminal::Mcp if reader.is_mid_frame() => {
                return Err("a bridge sent a message before it was admitted".to_owned());
            }
            FromTerminal::Mcp => match router.services.agents.admit_bridge() {
                Ok(()) => {
                    send(&mut stream, &ToTerminal::Response(serde_json::Value::Null))?;
                    return router.services.agents.serve_bridge(stream).map_err(|refusal| refusal.message);
                }
                Err(refusal) => ToTerminal::Refused(refusal),
            },
        };
        send(&mut stream, &answer)?;
    }
}

fn malformed_message_refusal(error: &FramingError) -> Refusal {
    Refusal::new(RefusalCode::BadRequest, error.to_string()).hint(
        "A message has four bytes of length (big-endian), then JSON. Use the same version on both sides.",
    )
}

enum ReadError {
    /// The bytes are not a frame.
    Framing(FramingError),
    /// The connection broke or was too slow.
    Connection(String),
}

/// The limit is for the whole frame: a byte now and then does not keep a connection open.
fn next_frame(
    stream: &mut UnixStream,
    reader: &mut FrameDecoder,
    limit: Duration,
) -> Result<Option<Vec<u8>>, ReadError> {
    let failed = |error: io::Error| ReadError::Connection(error.to_string());
    let mut bytes = [0; 16 * 1024];
    let deadline = Instant::now() + limit;
    loop {
        if let Some(frame) = reader.next_frame().map_err(ReadError::Framing)? {
            return Ok(Some(frame));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ReadError::Connection(format!("no whole message within {limit:?}")));
        }
        stream.set_read_timeout(Some(left)).map_err(failed)?;
        match stream.read(&mut bytes) {
            Ok(0) => return reader.finish().map(|()| None).map_err(ReadError::Framing),
            Ok(count) => reader.push(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

fn send(stream: &mut UnixStream, message: &ToTerminal) -> Result<(), String> {
    let framed = encode_json(message, MAX_TERMINAL_FRAME_BYTES).or_else(|error| {
        let refusal = Refusal::new(RefusalCode::LimitExceeded, format!("the response is too large: {error}"));
        encode_json(&ToTerminal::Refused(refusal), MAX_TERMINAL_FRAME_BYTES)
    });
    stream.write_all(&framed.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
