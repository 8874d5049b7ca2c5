//! The connection to a renderer: a challenge, a hello, then everything and patches one way, requests the other. A malformed
//! message ends the connection with a logged reason; the supervisor starts another renderer.

use crate::{
    local_user::user_name,
    responses::WindowResponder,
    router::RequestRouter,
    writer::{MAX_QUEUED, WriterMsg},
};
use crossbeam_channel::{Receiver, Sender, bounded, select};
use frame_memory::{DescriptorChannel, DescriptorChannelError};
use managed_servers::RequestOrigin;
use preview_sessions::PreviewWindowMessage;
use processes::instance::constant_time_eq;
use shared_protocol::{
    Actor, ActorKind, Refusal,
    decisions::{PersonDecision, WindowRequest},
    framing::{FrameDecoder, FramingError, MAX_FROM_RENDERER_BYTES, MAX_TO_RENDERER_BYTES, decode, encode},
    messages::{
        ChildHello, ConnectionToken, FromRenderer, PROTOCOL_VERSION, ProcessRole, ToRenderer, refuse_hello,
    },
    request::Responder,
};
use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::{fd::AsFd, unix::net::UnixStream},
    time::{Duration, Instant},
};
use workspace::Reviewer;

/// Requests of a renderer without a response that it has received. At the limit its connection is not read further: the
/// writer never waits for a renderer, and every response has a place in the queue.
const MAX_UNANSWERED: usize = 256;
const LIMITS: RendererLimits =
    RendererLimits { hello: Duration::from_secs(10), frame: Duration::from_secs(10) };
const POLL: Duration = Duration::from_millis(250);

/// The time that a renderer may take.
#[derive(Debug, Clone, Copy)]
struct RendererLimits {
    hello: Duration,
    /// From the first byte of a frame to its last.
    frame: Duration,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum RendererConnectionError {
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
    Frame(#[from] FramingError),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Channel(#[from] DescriptorChannelError),
    #[error("Draftboard is closing")]
    Closing,
}

/// Serves one renderer until its connection ends. Runs on a thread of its own.
pub(crate) fn serve(channel: UnixStream, router: &RequestRouter) -> Result<(), RendererConnectionError> {
    serve_within(LIMITS, &channel, router)
}

fn serve_within(
    limits: RendererLimits,
    channel: &UnixStream,
    router: &RequestRouter,
) -> Result<(), RendererConnectionError> {
    let result = RendererConnection::new(channel, limits)?.serve(router);
    // Also ends the writing thread, and the renderer.
    drop(channel.shutdown(Shutdown::Both));
    result
}

struct RendererConnection {
    stream: UnixStream,
    reader: FrameDecoder,
    mid_frame_since: Option<Instant>,
    limits: RendererLimits,
}

impl RendererConnection {
    fn new(channel: &UnixStream, limits: RendererLimits) -> Result<Self, RendererConnectionError> {
        let stream = channel.try_clone()?;
        stream.set_read_timeout(Some(POLL))?;
        Ok(Self { stream, reader: FrameDecoder::new(MAX_FROM_RENDERER_BYTES), mid_frame_since: None, limits })
    }

    fn serve(mut self, router: &RequestRouter) -> Result<(), RendererConnectionError> {
        self.perform_handshake()?;
        let (queue, queued) = bounded(MAX_QUEUED + MAX_UNANSWERED);
        let (unanswered, answered) = bounded(MAX_UNANSWERED);
        let out = self.stream.try_clone()?;
        let (previews, frames) = bounded(preview_sessions::MAX_QUEUED_WINDOW_MESSAGES);
        std::thread::Builder::new()
            .name("renderer-out".to_owned())
            .spawn(move || write_all(out, &queued, &frames, &answered))?;
        router.writer.send(WriterMsg::Attach(queue.clone())).map_err(RendererConnectionError::Refused)?;
        router.services.previews.attach(previews);
        while let Some(frame) = self.next_frame(None)? {
            take(decode(&frame)?, router, &queue, &unanswered)?;
        }
        Ok(())
    }

    fn perform_handshake(&mut self) -> Result<(), RendererConnectionError> {
        let mut token: ConnectionToken = [0; 32];
        getrandom::fill(&mut token).map_err(io::Error::other)?;
        let challenge = ToRenderer::Challenge { protocol: PROTOCOL_VERSION, token };
        self.stream.write_all(&encode(&challenge, MAX_TO_RENDERER_BYTES)?)?;
        let deadline = Instant::now() + self.limits.hello;
        let frame = self.next_frame(Some(deadline))?.ok_or(RendererConnectionError::EndedEarly)?;
        let FromRenderer::Hello(ChildHello { protocol, build, role, token: answer }) = decode(&frame)? else {
            return Err(RendererConnectionError::HelloMissing);
        };
        let fits = constant_time_eq(&token, &answer)
            && role == ProcessRole::Renderer
            && build == env!("CARGO_PKG_VERSION");
        match refuse_hello(protocol, fits) {
            Some(refusal) => Err(RendererConnectionError::Refused(refusal)),
            None => Ok(()),
        }
    }

    /// Returns the next frame, or `None` when the other side has closed between frames.
    fn next_frame(&mut self, deadline: Option<Instant>) -> Result<Option<Vec<u8>>, RendererConnectionError> {
        let mut bytes = [0; 64 * 1024];
        loop {
            if let Some(frame) = self.reader.next_frame()? {
                self.mid_frame_since = self.reader.is_mid_frame().then(Instant::now);
                return Ok(Some(frame));
            }
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(RendererConnectionError::NoHello(self.limits.hello));
            }
            if self.mid_frame_since.is_some_and(|since| since.elapsed() > self.limits.frame) {
                return Err(RendererConnectionError::Stalled(self.limits.frame));
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return self.reader.finish().map(|()| None).map_err(RendererConnectionError::Frame),
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
    router: &RequestRouter,
    queue: &Sender<ToRenderer>,
    unanswered: &Sender<()>,
) -> Result<(), RendererConnectionError> {
    match message {
        // A second hello is out of place.
        FromRenderer::Hello(_) => return Err(RendererConnectionError::HelloMissing),
        FromRenderer::Preview { session, gesture } => router.services.previews.gesture(session, gesture),
        FromRenderer::Request { id, request } => {
            unanswered.send(()).map_err(|_| RendererConnectionError::Closing)?;
            let queue = queue.clone();
            let channel = WindowResponder(Responder::new(move |result| {
                // There is always room, see `MAX_UNANSWERED`; sending fails when the renderer is gone.
                if queue.try_send(ToRenderer::Response { request: id, result }).is_err() {
                    tracing::debug!(request = id, "a response for a renderer that is gone");
                }
            }));
            match request {
                WindowRequest::Workbench(request) => {
                    router.route(request, Actor::new(ActorKind::Window, user_name()), channel);
                }
                WindowRequest::Review(request) => router.writer.review(request, user_name(), channel),
                WindowRequest::Decision(PersonDecision::Proposal(decision)) => {
                    router.writer.decide(decision, Reviewer::in_window(user_name()), channel);
                }
                WindowRequest::Decision(PersonDecision::Upstream(decision)) => {
                    let by = RequestOrigin { name: user_name(), channel: "window" };
                    router.services.managed_servers.decide(decision, by, channel);
                }
            }
        }
        FromRenderer::Presence(presence) => send(router, WriterMsg::Presence(presence))?,
        FromRenderer::Resync => send(router, WriterMsg::Resync)?,
    }
    Ok(())
}

fn send(router: &RequestRouter, message: WriterMsg) -> Result<(), RendererConnectionError> {
    router.writer.send(message).map_err(|_| RendererConnectionError::Closing)
}

/// Writes until both queues or the connection end. Messages of previews have a queue of their own and carry descriptors.
fn write_all(
    stream: UnixStream,
    queued: &Receiver<ToRenderer>,
    previews: &Receiver<PreviewWindowMessage>,
    answered: &Receiver<()>,
) {
    let channel = DescriptorChannel::new(stream, 0);
    let mut previews = Some(previews);
    let never = crossbeam_channel::never();
    loop {
        let (message, memory) = select! {
            recv(queued) -> message => match message {
                Ok(message) => (message, None),
                Err(_) => return,
            },
            recv(previews.unwrap_or(&never)) -> sent => match sent {
                Ok(PreviewWindowMessage { message, memory }) => (message, memory),
                Err(_) => {
                    previews = None;
                    continue;
                }
            },
        };
        let is_response = matches!(message, ToRenderer::Response { .. });
        let sent = encode(&message, MAX_TO_RENDERER_BYTES)
            .map_err(RendererConnectionError::Frame)
            .and_then(|framed| Ok(channel.send(&framed, memory.as_deref().map(AsFd::as_fd))?));
        if let Err(error) = sent {
            tracing::debug!(%error, "the renderer's connection ended");
            // The connection has ended already, or ends now.
            let _ = rustix::net::shutdown(&channel, rustix::net::Shutdown::Both);
            return;
        }
        if is_response {
            // Never empty: each response has its request.
            let _ = answered.try_recv();
        }
    }
}

#[cfg(test)]
mod tests;
