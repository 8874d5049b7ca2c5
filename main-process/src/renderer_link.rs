//! The connection to a renderer: a challenge, a hello, then everything and patches one way, requests the other. Whatever is
//! malformed ends the connection with a logged reason; the supervisor starts another renderer.

use crate::{
    host::{Host, Job, MAX_QUEUED, Reply},
    preview::{self, ToWindow},
};
use crossbeam_channel::{Receiver, Sender, bounded, select};
use frame_memory::{Channel, ChannelError};
use processes::instance::constant_time_eq;
use shared_protocol::{
    Actor, ActorKind, Refusal,
    frame::{FrameError, FrameReader, MAX_FROM_RENDERER, MAX_TO_RENDERER, decode, encode},
    messages::{Answer, FromRenderer, Hello, PROTOCOL_VERSION, Role, ToRenderer, Token, refuse_hello},
};
use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::{fd::AsFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

/// Requests of a renderer that are not answered, or whose answer it has not taken. It is not read further meanwhile: the
/// writer never waits for a renderer, and every answer has a place in the queue.
const MAX_UNANSWERED: usize = 256;
const LIMITS: Limits = Limits { hello: Duration::from_secs(10), frame: Duration::from_secs(10) };
const POLL: Duration = Duration::from_millis(250);

/// How long a renderer may take.
#[derive(Debug, Clone, Copy)]
struct Limits {
    hello: Duration,
    /// From the first byte of a frame to its last.
    frame: Duration,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("no hello within {0:?}")]
    NoHello(Duration),
    #[error("it ended before its hello")]
    EndedEarly,
    #[error("a message before the hello")]
    HelloMissing,
    #[error("{0}")]
    Refused(Refusal),
    #[error("a frame was not finished within {0:?}")]
    Stalled(Duration),
    #[error("{0}")]
    Frame(#[from] FrameError),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Channel(#[from] ChannelError),
    #[error("Draftboard is closing")]
    Closing,
}

/// Serves one renderer until its connection ends. Runs on a thread of its own.
pub(crate) fn serve(channel: UnixStream, host: &Host) -> Result<(), LinkError> {
    serve_within(LIMITS, &channel, host)
}

fn serve_within(limits: Limits, channel: &UnixStream, host: &Host) -> Result<(), LinkError> {
    let result = Link::new(channel, limits)?.serve(host);
    // Also ends the writing thread and tells the renderer.
    drop(channel.shutdown(Shutdown::Both));
    result
}

struct Link {
    stream: UnixStream,
    reader: FrameReader,
    mid_frame_since: Option<Instant>,
    limits: Limits,
}

impl Link {
    fn new(channel: &UnixStream, limits: Limits) -> Result<Self, LinkError> {
        let stream = channel.try_clone()?;
        stream.set_read_timeout(Some(POLL))?;
        Ok(Self { stream, reader: FrameReader::new(MAX_FROM_RENDERER), mid_frame_since: None, limits })
    }

    fn serve(mut self, host: &Host) -> Result<(), LinkError> {
        self.shake_hands()?;
        let (queue, queued) = bounded(MAX_QUEUED + MAX_UNANSWERED);
        let (unanswered, answered) = bounded(MAX_UNANSWERED);
        let out = self.stream.try_clone()?;
        let (previews, frames) = bounded(preview::MAX_QUEUED);
        std::thread::Builder::new()
            .name("renderer-out".to_owned())
            .spawn(move || write_all(out, &queued, &frames, &answered))?;
        host.send(Job::Attach(queue.clone())).map_err(LinkError::Refused)?;
        host.previews.attach(previews);
        while let Some(frame) = self.next_frame(None)? {
            take(decode(&frame)?, host, &queue, &unanswered)?;
        }
        Ok(())
    }

    fn shake_hands(&mut self) -> Result<(), LinkError> {
        let mut token: Token = [0; 32];
        getrandom::fill(&mut token).map_err(io::Error::other)?;
        let challenge = ToRenderer::Challenge { protocol: PROTOCOL_VERSION, token };
        self.stream.write_all(&encode(&challenge, MAX_TO_RENDERER)?)?;
        let deadline = Instant::now() + self.limits.hello;
        let frame = self.next_frame(Some(deadline))?.ok_or(LinkError::EndedEarly)?;
        let FromRenderer::Hello(Hello { protocol, build, role, token: answer }) = decode(&frame)? else {
            return Err(LinkError::HelloMissing);
        };
        let fits =
            constant_time_eq(&token, &answer) && role == Role::Renderer && build == env!("CARGO_PKG_VERSION");
        match refuse_hello(protocol, fits) {
            Some(refusal) => Err(LinkError::Refused(refusal)),
            None => Ok(()),
        }
    }

    /// The next frame; none when the other side has closed between frames.
    fn next_frame(&mut self, deadline: Option<Instant>) -> Result<Option<Vec<u8>>, LinkError> {
        let mut bytes = [0; 64 * 1024];
        loop {
            if let Some(frame) = self.reader.next_frame()? {
                self.mid_frame_since = self.reader.is_mid_frame().then(Instant::now);
                return Ok(Some(frame));
            }
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(LinkError::NoHello(self.limits.hello));
            }
            if self.mid_frame_since.is_some_and(|since| since.elapsed() > self.limits.frame) {
                return Err(LinkError::Stalled(self.limits.frame));
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return self.reader.finish().map(|()| None).map_err(LinkError::Frame),
                Ok(count) => {
                    self.reader.push(&bytes[..count]);
                    self.mid_frame_since.get_or_insert_with(Instant::now);
                }
                Err(error) if is_quiet(&error) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn is_quiet(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

fn take(
    message: FromRenderer,
    host: &Host,
    queue: &Sender<ToRenderer>,
    unanswered: &Sender<()>,
) -> Result<(), LinkError> {
    let job = match message {
        // A second hello is out of place.
        FromRenderer::Hello(_) => return Err(LinkError::HelloMissing),
        FromRenderer::Presence(presence) => Job::Presence(presence),
        FromRenderer::Resync => Job::Resync,
        FromRenderer::Preview { session, gesture } => {
            host.previews.gesture(session, gesture);
            return Ok(());
        }
        FromRenderer::Review { id, request } => {
            unanswered.send(()).map_err(|_| LinkError::Closing)?;
            let (answers, refusals) = (queue.clone(), queue.clone());
            let reply: Reply = Box::new(move |result| answer(&answers, id, result));
            return host.send(Job::Review { request, name: user_name(), reply }).or_else(|refusal| {
                answer(&refusals, id, Err(refusal));
                Ok(())
            });
        }
        FromRenderer::Upstream { id, decision } => {
            unanswered.send(()).map_err(|_| LinkError::Closing)?;
            let (answers, refusals) = (queue.clone(), queue.clone());
            let reply: Reply = Box::new(move |result| answer(&answers, id, result));
            return host.send(Job::Upstream { decision, name: user_name(), reply }).or_else(|refusal| {
                answer(&refusals, id, Err(refusal));
                Ok(())
            });
        }
        FromRenderer::Request { id, request } => {
            let actor = Actor::new(ActorKind::Window, user_name());
            unanswered.send(()).map_err(|_| LinkError::Closing)?;
            let (answers, refusals) = (queue.clone(), queue.clone());
            let reply: Reply = Box::new(move |result: Result<Answer, Refusal>| {
                answer(&answers, id, result);
            });
            return host.send(Job::Request { request, actor, reply }).or_else(|refusal| {
                answer(&refusals, id, Err(refusal));
                Ok(())
            });
        }
    };
    host.send(job).map_err(|_| LinkError::Closing)
}

/// There is always room, see [`MAX_UNANSWERED`]; it fails when the renderer is gone.
fn answer(queue: &Sender<ToRenderer>, request: u64, result: Result<Answer, Refusal>) {
    let message = ToRenderer::Answer { request, result };
    if queue.try_send(message).is_err() {
        tracing::debug!(request, "an answer for a renderer that is gone");
    }
}

pub(crate) fn user_name() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default()
}

/// Until both queues are over or the connection is. What previews have to say has a queue of its own, and descriptors.
fn write_all(
    stream: UnixStream,
    queued: &Receiver<ToRenderer>,
    previews: &Receiver<ToWindow>,
    answered: &Receiver<()>,
) {
    let channel = Channel::new(stream, 0);
    let mut previews = Some(previews);
    let never = crossbeam_channel::never();
    loop {
        let (message, memory) = select! {
            recv(queued) -> message => match message {
                Ok(message) => (message, None),
                Err(_) => return,
            },
            recv(previews.unwrap_or(&never)) -> sent => match sent {
                Ok(ToWindow { message, memory }) => (message, memory),
                Err(_) => {
                    previews = None;
                    continue;
                }
            },
        };
        let is_answer = matches!(message, ToRenderer::Answer { .. });
        let sent = encode(&message, MAX_TO_RENDERER)
            .map_err(LinkError::Frame)
            .and_then(|framed| Ok(channel.send(&framed, memory.as_deref().map(AsFd::as_fd))?));
        if let Err(error) = sent {
            tracing::debug!(%error, "the renderer's connection ended");
            // It has ended already, or ends now.
            let _ = rustix::net::shutdown(&channel, rustix::net::Shutdown::Both);
            return;
        }
        if is_answer {
            // Never empty: each answer was asked for.
            let _ = answered.try_recv();
        }
    }
}

#[cfg(test)]
mod tests;
