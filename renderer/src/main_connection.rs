//! The connection to the main process. Two named threads read and write message frames; bounded channels connect them to
//! the UI thread, which never blocks on either. The shared memory of a preview arrives as a file descriptor and is
//! validated before the window uses it.

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use frame_memory::{DescriptorChannel, DescriptorChannelError, FrameMemory};
use shared_protocol::{
    Refusal, RefusalCode,
    decisions::WindowRequest,
    framing::{FramingError, MAX_FROM_RENDERER_BYTES, MAX_TO_RENDERER_BYTES, decode, encode},
    messages::{ChildHello, FromRenderer, PROTOCOL_VERSION, Presence, ProcessRole, ToRenderer},
    preview_sessions::{PreviewGesture, PreviewId},
    preview_wire::PreviewScreen,
};
use std::{
    collections::VecDeque,
    io::{self, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    thread::{self, JoinHandle},
    time::Duration,
};

/// Capacity of the queue to the UI thread. When it is full, the reader blocks and back-pressure reaches main's socket.
const INCOMING_QUEUE_LEN: usize = 256;
/// Capacity of the queue to the socket.
const OUTGOING_QUEUE_LEN: usize = 1024;
/// Delay of a repaint request. Zero would paint two frames instead of one.
const REPAINT_DELAY: Duration = Duration::from_millis(2);
/// Main always reads its socket. A write that takes longer means that main is gone or stuck, and the window closes.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub enum MainConnectionEvent {
    Message(ToRenderer),
    /// The shared memory that holds the preview frames from now on.
    Frames {
        session: PreviewId,
        generation: u32,
        screen: PreviewScreen,
        memory: FrameMemory,
    },
    /// A request was not sent, because it is too large or the queue is full.
    NotSent {
        request: u64,
        refusal: Refusal,
    },
    /// The connection ended because main exited or violated the protocol.
    Closed {
        why: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MainConnectionError {
    #[error("Draftboard is busy and did not accept the request")]
    Busy,
    #[error("the connection to Draftboard is closed")]
    Closed,
}

/// The window side of the connection. Each request has a number, which its answer repeats.
#[derive(Debug)]
pub struct MainConnection {
    outgoing: Option<Sender<FromRenderer>>,
    incoming: Receiver<MainConnectionEvent>,
    next_request: u64,
    not_sent: VecDeque<MainConnectionEvent>,
    threads: Option<MainConnectionThreads>,
}

#[derive(Debug)]
struct MainConnectionThreads {
    writer: JoinHandle<()>,
    socket: UnixStream,
}

impl MainConnection {
    /// Starts the threads on an open socket. Incoming data requests a repaint of `context`.
    pub fn on_stream(stream: UnixStream, context: egui::Context) -> io::Result<Self> {
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let (reading, socket) = (stream.try_clone()?, stream.try_clone()?);
        let (to_window, incoming) = bounded(INCOMING_QUEUE_LEN);
        let (outgoing, to_main) = bounded(OUTGOING_QUEUE_LEN);
        let hello = outgoing.clone();
        let notify = WindowNotifier { window: to_window.clone(), context: context.clone() };
        thread::Builder::new().name("link-reader".into()).spawn(move || read(reading, hello, &notify))?;
        let notify = WindowNotifier { window: to_window, context };
        let writer = thread::Builder::new()
            .name("link-writer".into())
            .spawn(move || write(stream, &to_main, &notify))?;
        Ok(Self {
            outgoing: Some(outgoing),
            incoming,
            next_request: 1,
            not_sent: VecDeque::new(),
            threads: Some(MainConnectionThreads { writer, socket }),
        })
    }

    /// Creates a connection for tests, without a socket.
    pub fn from_channels(outgoing: Sender<FromRenderer>, incoming: Receiver<MainConnectionEvent>) -> Self {
        Self { outgoing: Some(outgoing), incoming, next_request: 1, not_sent: VecDeque::new(), threads: None }
    }

    pub fn next_event(&mut self) -> Option<MainConnectionEvent> {
        self.not_sent.pop_front().or_else(|| self.incoming.try_recv().ok())
    }

    /// Returns whether a request was not sent and its sender does not know yet.
    pub fn has_unsent(&self) -> bool {
        !self.not_sent.is_empty()
    }

    /// Sends a request to main and returns its number. The window receives its response, or [`MainConnectionEvent::NotSent`].
    pub fn request(&mut self, request: impl Into<WindowRequest>) -> u64 {
        let id = self.next_request;
        self.next_request += 1;
        if let Err(error) = self.send(FromRenderer::Request { id, request: request.into() }) {
            let refusal = Refusal::new(RefusalCode::Timeout, error.to_string())
                .hint("Nothing was changed or decided. Try again in a moment.");
            self.not_sent.push_back(MainConnectionEvent::NotSent { request: id, refusal });
        }
        id
    }

    pub fn presence(&self, presence: Presence) -> Result<(), MainConnectionError> {
        self.send(FromRenderer::Presence(presence))
    }

    /// Sends a gesture to a preview. There is no answer.
    pub fn preview(&self, session: PreviewId, gesture: PreviewGesture) -> Result<(), MainConnectionError> {
        self.send(FromRenderer::Preview { session, gesture })
    }

    pub fn resync(&self) -> Result<(), MainConnectionError> {
        self.send(FromRenderer::Resync)
    }

    fn send(&self, message: FromRenderer) -> Result<(), MainConnectionError> {
        let outgoing = self.outgoing.as_ref().ok_or(MainConnectionError::Closed)?;
        outgoing.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => MainConnectionError::Busy,
            TrySendError::Disconnected(_) => MainConnectionError::Closed,
        })
    }
}

impl Drop for MainConnection {
    /// Flushes the last messages (presence, intentional close) to main: the writer thread ends after it has written the
    /// queue of the dropped sender. The write timeout bounds the wait.
    fn drop(&mut self) {
        self.outgoing = None;
        let Some(MainConnectionThreads { writer, socket }) = self.threads.take() else { return };
        if let Err(error) = socket.shutdown(Shutdown::Read) {
            tracing::debug!(%error, "the socket is already closed");
        }
        if writer.join().is_err() {
            tracing::error!("the thread link-writer panicked");
        }
    }
}

struct WindowNotifier {
    window: Sender<MainConnectionEvent>,
    context: egui::Context,
}

impl WindowNotifier {
    /// Returns `false` when the window has closed.
    fn notify(&self, incoming: MainConnectionEvent) -> bool {
        let is_open = self.window.send(incoming).is_ok();
        self.context.request_repaint_after(REPAINT_DELAY);
        is_open
    }
}

fn read(stream: UnixStream, outgoing: Sender<FromRenderer>, notify: &WindowNotifier) {
    let mut channel = DescriptorChannel::new(stream, MAX_TO_RENDERER_BYTES);
    let greeted = answer_challenge(&mut channel, &outgoing);
    // From here on only the window holds a sender, so the writer thread ends with the window.
    drop(outgoing);
    let why = match greeted.and_then(|()| read_messages(channel, notify)) {
        Ok(()) => None,
        Err(error) => {
            tracing::error!(%error, "the connection to the main process failed");
            Some(error.to_string())
        }
    };
    notify.notify(MainConnectionEvent::Closed { why });
}

#[derive(Debug, thiserror::Error)]
enum MainConnectionReadError {
    #[error(transparent)]
    Channel(#[from] DescriptorChannelError),
    #[error(transparent)]
    Frame(#[from] FramingError),
    #[error("the main process did not open with a challenge of protocol {PROTOCOL_VERSION}")]
    NoChallenge,
    #[error("the outgoing queue is closed")]
    NoQueue,
}

/// Receives the challenge, which must be the first message, and answers it before any other message is sent.
fn answer_challenge(
    channel: &mut DescriptorChannel,
    outgoing: &Sender<FromRenderer>,
) -> Result<(), MainConnectionReadError> {
    let first = match channel.receive() {
        Err(DescriptorChannelError::Ended) => return Err(MainConnectionReadError::NoChallenge),
        received => received?,
    };
    match decode(&first)? {
        ToRenderer::Challenge { protocol: PROTOCOL_VERSION, token } => {
            let build = env!("CARGO_PKG_VERSION").to_owned();
            let hello = ChildHello { protocol: PROTOCOL_VERSION, build, role: ProcessRole::Renderer, token };
            outgoing.send(FromRenderer::Hello(hello)).map_err(|_| MainConnectionReadError::NoQueue)
        }
        _ => Err(MainConnectionReadError::NoChallenge),
    }
}

fn read_messages(
    mut channel: DescriptorChannel,
    notify: &WindowNotifier,
) -> Result<(), MainConnectionReadError> {
    loop {
        let frame = match channel.receive() {
            Err(DescriptorChannelError::Ended) => return Ok(()),
            received => received?,
        };
        let incoming = match decode(&frame)? {
            ToRenderer::PreviewMemory { session, generation, screen } => {
                match memory(channel.take_descriptor(), screen) {
                    Ok(memory) => MainConnectionEvent::Frames { session, generation, screen, memory },
                    Err(why) => {
                        tracing::error!(%session, why, "cannot show the frames of a preview");
                        continue;
                    }
                }
            }
            message => MainConnectionEvent::Message(message),
        };
        if !notify.notify(incoming) {
            return Ok(());
        }
    }
}

/// Adopts the shared memory that came with a message. Fails when it does not match the announced screen.
fn memory(descriptor: Option<OwnedFd>, screen: PreviewScreen) -> Result<FrameMemory, String> {
    let descriptor = descriptor.ok_or("the message carries no memory descriptor")?;
    if !screen.is_valid() {
        return Err("the screen size is not valid".to_owned());
    }
    let [width, height] = screen.pixels();
    FrameMemory::adopt(descriptor, width, height).map_err(|error| error.to_string())
}

fn write(mut stream: UnixStream, messages: &Receiver<FromRenderer>, notify: &WindowNotifier) {
    for message in messages {
        let frame = match encode(&message, MAX_FROM_RENDERER_BYTES) {
            Ok(frame) => frame,
            Err(error) => {
                match message {
                    FromRenderer::Request { id, .. } => {
                        let message = "the message is too large to send";
                        let refusal =
                            Refusal::new(RefusalCode::LimitExceeded, message).hint(format!("{error}."));
                        notify.notify(MainConnectionEvent::NotSent { request: id, refusal });
                    }
                    _ => tracing::error!(%error, "a message to the main process was not sent"),
                }
                continue;
            }
        };
        if let Err(error) = stream.write_all(&frame) {
            tracing::error!(%error, "cannot write to the main process");
            notify.notify(MainConnectionEvent::Closed { why: Some(error.to_string()) });
            return;
        }
    }
}
