//! Answers terminals. Each connection has a thread; there is a limit on how many.

use crate::{host::Host, mcp, renderer_link::user_name};
use processes::{
    Instance,
    instance::{Token, check_peer},
};
use rustix::event::{PollFd, PollFlags, poll};
use shared_protocol::{
    Actor, ActorKind, Code, Refusal,
    frame::{FrameReader, MAX_TERMINAL, decode_json, encode_json},
    messages::{Answer, FromTerminal, PROTOCOL_VERSION, ToTerminal, refuse_hello},
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
/// A terminal that says nothing whole for this long is let go, and so is one that takes no answer.
const IDLE_LIMIT: Duration = Duration::from_secs(60);
const ANSWER_LIMIT: Duration = Duration::from_secs(120);
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Connections are told apart: a code is for the one that asked.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Dropping it ends the listening thread, and the conversations at their next request: a terminal that speaks to one
/// workspace must not reach the one that takes its place.
pub(crate) struct Server {
    _stop: UnixStream,
    over: Arc<AtomicBool>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

/// What every conversation needs.
#[derive(Clone)]
struct Served {
    token: Token,
    host: Host,
    agents: mcp::Link,
    over: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn start(instance: &Instance, host: Host, agents: mcp::Link) -> io::Result<Self> {
        let listener = instance.listener().try_clone()?;
        listener.set_nonblocking(true)?;
        let (over, token) = (Arc::new(AtomicBool::new(false)), instance.record().token.clone());
        let served = Served { token, host, agents, over: Arc::clone(&over) };
        let (stop, stopped) = UnixStream::pair()?;
        std::thread::Builder::new()
            .name("terminals".to_owned())
            .spawn(move || listen(&listener, &stopped, &served))?;
        Ok(Self { _stop: stop, over })
    }
}

fn listen(listener: &UnixListener, stopped: &UnixStream, served: &Served) {
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let mut waits = [PollFd::new(listener, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        if let Err(error) = poll(&mut waits, None)
            && error != rustix::io::Errno::INTR
        {
            tracing::error!(%error, "terminals cannot reach this Draftboard any more");
            return;
        }
        if !waits[1].revents().is_empty() {
            return;
        }
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => {
                // Out of descriptors, say: asking again at once would only keep a processor busy.
                tracing::warn!(%error, "a terminal was not let in");
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            }
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let served = served.clone();
        let count = Arc::clone(&open);
        let serve = move || {
            if let Err(reason) = converse(stream, &served, IDLE_LIMIT) {
                tracing::info!(%reason, "a terminal's connection ended");
            }
            count.fetch_sub(1, Ordering::SeqCst);
        };
        if let Err(error) = std::thread::Builder::new().name("terminal".to_owned()).spawn(serve) {
            tracing::error!(%error, "no thread for a terminal");
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// One conversation; `Err` is why it was ended by us.
fn converse(mut stream: UnixStream, served: &Served, limit: Duration) -> Result<(), String> {
    let Served { token, host, agents, over } = served;
    check_peer(&stream).map_err(|error| error.to_string())?;
    stream.set_nonblocking(false).map_err(|error| error.to_string())?;
    stream.set_write_timeout(Some(limit)).map_err(|error| error.to_string())?;
    let mut reader = FrameReader::new(MAX_TERMINAL);
    let connection = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut greeted = false;
    while let Some(frame) = next_frame(&mut stream, &mut reader, limit)? {
        let message: FromTerminal = decode_json(&frame).map_err(|error| error.to_string())?;
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
            FromTerminal::Request(_) | FromTerminal::Review(_) | FromTerminal::Mcp if !greeted => {
                return Err("a request before the hello".to_owned());
            }
            FromTerminal::Request(_) | FromTerminal::Review(_) | FromTerminal::Mcp
                if over.load(Ordering::SeqCst) =>
            {
                let refusal = Refusal::new(Code::NoWorkspace, "the workspace was closed")
                    .hint("Connect again to reach the one that is open now.");
                send(&mut stream, &ToTerminal::Refused(refusal))?;
                return Err("its workspace was closed".to_owned());
            }
            FromTerminal::Request(request) => {
                let actor = Actor::new(ActorKind::Terminal, user_name());
                host.request(request, actor, ANSWER_LIMIT).into()
            }
            FromTerminal::Review(request) => {
                let asked = host.terminal_review((connection, user_name()), request, ANSWER_LIMIT);
                asked.map_or_else(ToTerminal::Refused, ToTerminal::Review)
            }
            FromTerminal::Mcp if reader.is_mid_frame() => {
                return Err("a bridge spoke before it was let in".to_owned());
            }
            FromTerminal::Mcp => match agents.admits_bridge() {
                Ok(()) => {
                    send(&mut stream, &ToTerminal::Answer(Answer::Done))?;
                    return agents.hand_over(stream).map_err(|refusal| refusal.message);
                }
                Err(refusal) => ToTerminal::Refused(refusal),
            },
        };
        send(&mut stream, &answer)?;
    }
    Ok(())
}

/// The limit is for the whole frame: a byte now and then does not hold a place for ever.
fn next_frame(
    stream: &mut UnixStream,
    reader: &mut FrameReader,
    limit: Duration,
) -> Result<Option<Vec<u8>>, String> {
    let mut bytes = [0; 16 * 1024];
    let deadline = Instant::now() + limit;
    loop {
        if let Some(frame) = reader.next_frame().map_err(|error| error.to_string())? {
            return Ok(Some(frame));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(format!("nothing whole was said within {limit:?}"));
        }
        stream.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        match stream.read(&mut bytes) {
            Ok(0) => return reader.finish().map(|()| None).map_err(|error| error.to_string()),
            Ok(count) => reader.push(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn send(stream: &mut UnixStream, message: &ToTerminal) -> Result<(), String> {
    let framed = encode_json(message, MAX_TERMINAL).or_else(|error| {
        let refusal = Refusal::new(Code::LimitExceeded, format!("the answer is too large: {error}"));
        encode_json(&ToTerminal::Refused(refusal), MAX_TERMINAL)
    });
    stream.write_all(&framed.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
