//! The connection to main: two named threads move frames, bounded channels lead to the UI thread, and the UI thread
//! never waits for either. The memory in which a preview's frames lie comes along as a descriptor, and is checked before
//! the window sees it.

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use frame_memory::{Channel, ChannelError, FrameMemory};
use shared_protocol::{
    frame::{FrameError, MAX_FROM_RENDERER, MAX_TO_RENDERER, decode, encode},
    messages::{FromRenderer, Hello, PROTOCOL_VERSION, Presence, Request, Role, ToRenderer},
    preview::Screen,
    previews::{PreviewGesture, SessionId},
    review::ReviewRequest,
    upstreams::UpstreamDecision,
};
use std::{
    io::{self, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    thread::{self, JoinHandle},
    time::Duration,
};

/// Messages that wait for the UI thread; when it is full the reader waits, and main's socket fills up instead.
const INCOMING: usize = 256;
/// Messages that wait for the socket.
const OUTGOING: usize = 1024;
/// Not zero: an immediate request paints two frames, a later one paints one.
const SOON: Duration = Duration::from_millis(2);
/// Main reads all the time; if it does not, this window is of no use any more.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// What the threads tell the window.
#[derive(Debug)]
pub enum Incoming {
    Message(ToRenderer),
    /// Where the frames of a preview lie from now on.
    Frames {
        session: SessionId,
        generation: u32,
        screen: Screen,
        memory: FrameMemory,
    },
    /// A request was too large to send; nothing else is wrong.
    NotSent {
        request: Option<u64>,
        why: String,
    },
    /// The end: main is gone, or said something that is not this protocol.
    Closed {
        why: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("the workbench is busy: this was not sent")]
    Busy,
    #[error("the connection to the workbench has ended")]
    Closed,
}

/// One end of the connection. Requests are numbered, and answered by that number.
#[derive(Debug)]
pub struct Link {
    outgoing: Option<Sender<FromRenderer>>,
    incoming: Receiver<Incoming>,
    next_request: u64,
    threads: Option<Threads>,
}

#[derive(Debug)]
struct Threads {
    writer: JoinHandle<()>,
    socket: UnixStream,
}

impl Link {
    /// Starts the threads over an open socket. Arriving data wakes `context` up.
    pub fn over(stream: UnixStream, context: egui::Context) -> io::Result<Self> {
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let (reading, socket) = (stream.try_clone()?, stream.try_clone()?);
        let (to_window, incoming) = bounded(INCOMING);
        let (outgoing, to_main) = bounded(OUTGOING);
        let hello = outgoing.clone();
        let notify = Notify { window: to_window.clone(), context: context.clone() };
        thread::Builder::new().name("link-reader".into()).spawn(move || read(reading, hello, &notify))?;
        let notify = Notify { window: to_window, context };
        let writer = thread::Builder::new()
            .name("link-writer".into())
            .spawn(move || write(stream, &to_main, &notify))?;
        Ok(Self {
            outgoing: Some(outgoing),
            incoming,
            next_request: 1,
            threads: Some(Threads { writer, socket }),
        })
    }

    /// A link whose other end is a test.
    pub fn from_channels(outgoing: Sender<FromRenderer>, incoming: Receiver<Incoming>) -> Self {
        Self { outgoing: Some(outgoing), incoming, next_request: 1, threads: None }
    }

    /// The next thing that arrived, without waiting.
    pub fn next(&self) -> Option<Incoming> {
        self.incoming.try_recv().ok()
    }

    /// Asks main for something; the answer carries the number that is given back.
    pub fn request(&mut self, request: Request) -> Result<u64, LinkError> {
        let id = self.next_request;
        self.send(FromRenderer::Request { id, request })?;
        self.next_request += 1;
        Ok(id)
    }

    /// Asks for what only the window may ask; answered as a request is.
    pub fn review(&mut self, request: ReviewRequest) -> Result<u64, LinkError> {
        let id = self.next_request;
        self.send(FromRenderer::Review { id, request })?;
        self.next_request += 1;
        Ok(id)
    }

    /// What only a person may decide about managed servers; answered as a request is.
    pub fn upstream(&mut self, decision: UpstreamDecision) -> Result<u64, LinkError> {
        let id = self.next_request;
        self.send(FromRenderer::Upstream { id, decision })?;
        self.next_request += 1;
        Ok(id)
    }

    pub fn presence(&self, presence: Presence) -> Result<(), LinkError> {
        self.send(FromRenderer::Presence(presence))
    }

    /// What somebody does in a preview; not answered.
    pub fn preview(&self, session: SessionId, gesture: PreviewGesture) -> Result<(), LinkError> {
        self.send(FromRenderer::Preview { session, gesture })
    }

    pub fn resync(&self) -> Result<(), LinkError> {
        self.send(FromRenderer::Resync)
    }

    fn send(&self, message: FromRenderer) -> Result<(), LinkError> {
        let outgoing = self.outgoing.as_ref().ok_or(LinkError::Closed)?;
        outgoing.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => LinkError::Busy,
            TrySendError::Disconnected(_) => LinkError::Closed,
        })
    }
}

impl Drop for Link {
    /// Lets the last words (where the designer was, that the window was closed on purpose) reach main: the writer ends
    /// when nobody can send any more, having written what was there. The write timeout bounds the wait.
    fn drop(&mut self) {
        self.outgoing = None;
        let Some(Threads { writer, socket }) = self.threads.take() else { return };
        if let Err(error) = socket.shutdown(Shutdown::Read) {
            tracing::debug!(%error, "the socket was closed already");
        }
        if writer.join().is_err() {
            tracing::error!("the writer thread of the link panicked");
        }
    }
}

struct Notify {
    window: Sender<Incoming>,
    context: egui::Context,
}

impl Notify {
    /// `false` when the window is gone.
    fn tell(&self, incoming: Incoming) -> bool {
        let told = self.window.send(incoming).is_ok();
        self.context.request_repaint_after(SOON);
        told
    }
}

fn read(stream: UnixStream, outgoing: Sender<FromRenderer>, notify: &Notify) {
    let mut channel = Channel::new(stream, MAX_TO_RENDERER);
    let greeted = shake_hands(&mut channel, &outgoing);
    // Only the window sends from here on; the writer ends with it.
    drop(outgoing);
    let why = match greeted.and_then(|()| pass_on(channel, notify)) {
        Ok(()) => None,
        Err(error) => {
            tracing::error!(%error, "the link to main ended");
            Some(error.to_string())
        }
    };
    notify.tell(Incoming::Closed { why });
}

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Channel(#[from] ChannelError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("main did not begin with a challenge of protocol {PROTOCOL_VERSION}")]
    NoChallenge,
    #[error("the outgoing queue is gone")]
    NoQueue,
}

/// The first message is the challenge; it is answered before anything else is said.
fn shake_hands(channel: &mut Channel, outgoing: &Sender<FromRenderer>) -> Result<(), ReadError> {
    let first = match channel.receive() {
        Err(ChannelError::Ended) => return Err(ReadError::NoChallenge),
        received => received?,
    };
    match decode(&first)? {
        ToRenderer::Challenge { protocol: PROTOCOL_VERSION, token } => {
            let build = env!("CARGO_PKG_VERSION").to_owned();
            let hello = Hello { protocol: PROTOCOL_VERSION, build, role: Role::Renderer, token };
            outgoing.send(FromRenderer::Hello(hello)).map_err(|_| ReadError::NoQueue)
        }
        _ => Err(ReadError::NoChallenge),
    }
}

fn pass_on(mut channel: Channel, notify: &Notify) -> Result<(), ReadError> {
    loop {
        let frame = match channel.receive() {
            Err(ChannelError::Ended) => return Ok(()),
            received => received?,
        };
        let incoming = match decode(&frame)? {
            ToRenderer::PreviewMemory { session, generation, screen } => {
                match memory(channel.take_descriptor(), screen) {
                    Ok(memory) => Incoming::Frames { session, generation, screen, memory },
                    Err(why) => {
                        tracing::error!(%session, why, "the frames of a preview cannot be shown");
                        continue;
                    }
                }
            }
            message => Incoming::Message(message),
        };
        if !notify.tell(incoming) {
            return Ok(());
        }
    }
}

/// The memory that came with a message, if it is what the message says.
fn memory(descriptor: Option<OwnedFd>, screen: Screen) -> Result<FrameMemory, String> {
    let descriptor = descriptor.ok_or("no memory came with it")?;
    if !screen.is_valid() {
        return Err("there cannot be such a screen".to_owned());
    }
    let [width, height] = screen.pixels();
    FrameMemory::adopt(descriptor, width, height).map_err(|error| error.to_string())
}

fn write(mut stream: UnixStream, messages: &Receiver<FromRenderer>, notify: &Notify) {
    for message in messages {
        let frame = match encode(&message, MAX_FROM_RENDERER) {
            Ok(frame) => frame,
            Err(error) => {
                let request = match message {
                    FromRenderer::Request { id, .. } | FromRenderer::Review { id, .. } => Some(id),
                    _ => None,
                };
                notify.tell(Incoming::NotSent { request, why: error.to_string() });
                continue;
            }
        };
        if let Err(error) = stream.write_all(&frame) {
            tracing::error!(%error, "main does not read any more");
            notify.tell(Incoming::Closed { why: Some(error.to_string()) });
            return;
        }
    }
}
