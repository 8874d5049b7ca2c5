//! Main's side of the conversation with the process of a session: messages to send, messages received, and whether the
//! process answers in time. Nothing here blocks, and no message is passed on before [`PreviewProtocolValidator`] accepted it.

use crate::{launcher::PreviewProcess, scene::LastSentScene};
use frame_memory::{DescriptorChannel, DescriptorChannelError, FrameMemory};
use processes::{ExitReason, ProcessGroup, cpu_ticks};
use shared_protocol::{
    framing::{FramingError, decode_json, encode_json},
    preview_wire::{
        FromPreview, MAX_FROM_PREVIEW_BYTES, MAX_INPUT_EVENTS, MAX_TO_PREVIEW_BYTES, PreviewInputEvent,
        PreviewProtocolValidator, PreviewProtocolViolation, PreviewScreen, ToPreview,
    },
};
use std::{
    collections::{BTreeSet, VecDeque},
    io::{ErrorKind, Read as _},
    os::fd::{AsFd, BorrowedFd},
    process::ChildStderr,
    sync::Arc,
    time::{Duration, Instant},
};
use system_fonts::{FontFile, MAX_FONTS};

/// Bytes queued for a preview; a process that reads more slowly than it is sent is ended.
const MAX_QUEUED_BYTES: usize = 96 << 20;
/// Messages handled in one turn, so that one preview does not hold up the others.
const MAX_TURN_MESSAGES: usize = 64;
/// From the start of the process to its hello.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// From a ping to its pong, for a process that keeps computing …
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
/// … which is one that used at least this much CPU time meanwhile, in hundredths of a second …
const BUSY_CPU_TICKS: u64 = 80;
/// … and for one that a loaded machine does not schedule, or that does nothing.
const STUCK_TIMEOUT: Duration = Duration::from_secs(6);
const IDLE_PING_INTERVAL: Duration = Duration::from_secs(5);
/// The end of standard error that is kept.
const MAX_STDERR_BYTES: usize = 8 << 10;
/// Font searches for one process. A process reports each character once, so an honest one needs few.
const MAX_FONT_REQUESTS: usize = 64;
const MAX_QUEUED_INPUT_EVENTS: usize = 2 * MAX_INPUT_EVENTS;

/// The reason why the conversation with a process is over.
#[derive(Debug)]
pub(crate) enum PreviewPeerFailure {
    /// The process ended by itself, or the system ended it.
    Exited(ExitReason),
    TimedOut,
    /// It broke a rule of the protocol.
    Violated(PreviewProtocolViolation),
    /// It sent bytes that are no message.
    Malformed(String),
}

impl std::fmt::Display for PreviewPeerFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(reason) => write!(f, "the preview {reason}"),
            Self::TimedOut => write!(f, "the preview {}", ExitReason::Timeout),
            Self::Violated(violation) => write!(f, "{violation}; it was stopped"),
            Self::Malformed(what) => {
                write!(f, "the preview sent an invalid message ({what}) and was stopped")
            }
        }
    }
}

/// A message that is sent in part or not at all.
struct OutgoingMessage {
    bytes: Vec<u8>,
    sent: usize,
    /// Travels with the first byte.
    descriptor: Option<Arc<dyn AsFd + Send + Sync>>,
}

/// The oldest ping without a pong.
#[derive(Debug, Clone, Copy)]
struct PendingPing {
    sent_at: Instant,
    /// The CPU time of the process at that moment.
    cpu_ticks: u64,
}

pub(crate) struct PreviewPeer {
    process: Option<ProcessGroup>,
    channel: DescriptorChannel,
    conversation: PreviewProtocolValidator,
    outgoing: VecDeque<OutgoingMessage>,
    queued_bytes: usize,
    stderr: Option<ChildStderr>,
    stderr_tail: Vec<u8>,
    started: Instant,
    is_greeted: bool,
    pub(crate) sent: LastSentScene,
    last_ping: u64,
    pending_ping: Option<PendingPing>,
    idle_since: Instant,
    pub(crate) generation: u32,
    pub(crate) memory: Option<Arc<FrameMemory>>,
    input: Vec<PreviewInputEvent>,
    fonts: BTreeSet<FontFile>,
    font_requests: usize,
    /// The last turn ended before every received message was handled.
    has_more: bool,
}

impl PreviewPeer {
    pub(crate) fn new(started: PreviewProcess, build: String, now: Instant) -> Self {
        let PreviewProcess { channel, mut process } = started;
        let stderr = process.as_mut().and_then(ProcessGroup::take_stderr);
        if let Some(stderr) = &stderr {
            // A blocking pipe would hold up the thread.
            if let Err(error) = rustix::io::ioctl_fionbio(stderr, true) {
                tracing::warn!(%error, "standard error of a preview may be lost");
            }
        }
        Self {
            process,
            channel: DescriptorChannel::new(channel, MAX_FROM_PREVIEW_BYTES),
            conversation: PreviewProtocolValidator::new(build),
            outgoing: VecDeque::new(),
            queued_bytes: 0,
            stderr,
            stderr_tail: Vec::new(),
            started: now,
            is_greeted: false,
            sent: LastSentScene::default(),
            last_ping: 0,
            pending_ping: None,
            idle_since: now,
            generation: 0,
            memory: None,
            input: Vec::new(),
            fonts: BTreeSet::new(),
            font_requests: 0,
            has_more: false,
        }
    }

    pub(crate) fn is_greeted(&self) -> bool {
        self.is_greeted
    }

    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }

    // ---- sending ------------------------------------------------------------------------------------------------------

    /// Queues a message. Returns an error for one that is too large, and does not send it.
    pub(crate) fn send(
        &mut self,
        message: &ToPreview,
        memory: Option<&Arc<FrameMemory>>,
    ) -> Result<(), String> {
        self.send_with(message, memory.map(|memory| Arc::clone(memory) as Arc<dyn AsFd + Send + Sync>))
    }

    fn send_with(
        &mut self,
        message: &ToPreview,
        descriptor: Option<Arc<dyn AsFd + Send + Sync>>,
    ) -> Result<(), String> {
        let bytes = encode_json(message, MAX_TO_PREVIEW_BYTES).map_err(|error| error.to_string())?;
        self.conversation.record_sent(message);
        self.queued_bytes += bytes.len();
        self.outgoing.push_back(OutgoingMessage { bytes, sent: 0, descriptor });
        Ok(())
    }

    /// Makes a frame memory of this size and sends it.
    pub(crate) fn send_screen(&mut self, screen: PreviewScreen) -> Result<(), String> {
        let [width, height] = screen.pixels();
        let memory = Arc::new(FrameMemory::new(width, height).map_err(|error| error.to_string())?);
        self.generation += 1;
        self.send(&ToPreview::Screen { generation: self.generation, screen }, Some(&memory))?;
        self.memory = Some(memory);
        Ok(())
    }

    /// Sends fonts, each once and no more than a process holds. Returns the number of the ping whose pong confirms them;
    /// `None` when there was nothing to send.
    pub(crate) fn send_fonts(&mut self, fonts: Vec<FontFile>, now: Instant) -> Option<u64> {
        let mut has_sent = false;
        for font in fonts {
            if self.fonts.len() >= MAX_FONTS || self.fonts.contains(&font) {
                continue;
            }
            // The characters of a font that cannot be opened stay boxes.
            let Ok(file) = font.open() else { continue };
            let message = ToPreview::Font { name: font.name.clone(), index: font.index };
            has_sent |= self.send_with(&message, Some(Arc::new(file))).is_ok();
            self.fonts.insert(font);
        }
        has_sent.then(|| {
            self.ping(now);
            self.last_ping
        })
    }

    /// The number of the newest pong.
    pub(crate) fn last_pong(&self) -> u64 {
        self.conversation.last_pong()
    }

    /// Counts a request for fonts. Returns false when there were too many.
    pub(crate) fn allow_font_request(&mut self) -> bool {
        self.font_requests += 1;
        self.font_requests <= MAX_FONT_REQUESTS
    }

    /// Sends a ping, which the process answers once it has handled every message before. It counts as busy until then.
    pub(crate) fn ping(&mut self, now: Instant) {
        self.last_ping += 1;
        // A number is never too large.
        let _ = self.send(&ToPreview::Ping { number: self.last_ping }, None);
        let ping = PendingPing { sent_at: now, cpu_ticks: self.cpu_ticks() };
        self.pending_ping.get_or_insert(ping);
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.pending_ping.is_some()
    }

    /// Queues pointer and key events until the process is not busy. Keeps the last of several movements in a row.
    pub(crate) fn queue_input(&mut self, events: Vec<PreviewInputEvent>) {
        for event in events {
            let is_move = |event: &PreviewInputEvent| matches!(event, PreviewInputEvent::Move { .. });
            if is_move(&event) && self.input.last().is_some_and(is_move) {
                self.input.pop();
            }
            if self.input.len() < MAX_QUEUED_INPUT_EVENTS {
                self.input.push(event);
            }
        }
    }

    pub(crate) fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    pub(crate) fn send_input(&mut self) {
        let rest = self.input.split_off(self.input.len().min(MAX_INPUT_EVENTS));
        let events = std::mem::replace(&mut self.input, rest);
        if let Err(error) = self.send(&ToPreview::Input { events }, None) {
            tracing::debug!(%error, "input of a preview lost");
        }
    }

    /// Sends as much as the channel takes without blocking.
    pub(crate) fn flush(&mut self) -> Result<(), PreviewPeerFailure> {
        while let Some(outgoing) = self.outgoing.front_mut() {
            let descriptor = outgoing.descriptor.as_deref().map(AsFd::as_fd).filter(|_| outgoing.sent == 0);
            let rest = outgoing.bytes.get(outgoing.sent..).unwrap_or_default();
            match self.channel.try_send(rest, descriptor) {
                Ok(0) => break,
                Ok(sent) => {
                    outgoing.sent += sent;
                    self.queued_bytes = self.queued_bytes.saturating_sub(sent);
                    if outgoing.sent >= outgoing.bytes.len() {
                        self.outgoing.pop_front();
                    }
                }
                Err(error) => return Err(self.failure(error)),
            }
        }
        if self.queued_bytes > MAX_QUEUED_BYTES { Err(PreviewPeerFailure::TimedOut) } else { Ok(()) }
    }

    // ---- receiving ----------------------------------------------------------------------------------------------------

    /// Returns the next few messages, checked.
    pub(crate) fn receive(&mut self, now: Instant) -> Result<Vec<FromPreview>, PreviewPeerFailure> {
        let mut received = Vec::new();
        self.has_more = true;
        while received.len() < MAX_TURN_MESSAGES {
            let frame = match self.channel.try_receive() {
                Ok(Some(frame)) => frame,
                Ok(None) => {
                    self.has_more = false;
                    break;
                }
                Err(error) => {
                    // Earlier messages count; the next turn meets the error again.
                    if received.is_empty() {
                        return Err(self.failure(error));
                    }
                    break;
                }
            };
            let message: FromPreview = decode_json(&frame)
                .map_err(|error: FramingError| PreviewPeerFailure::Malformed(error.to_string()))?;
            self.conversation.check_received(&message).map_err(PreviewPeerFailure::Violated)?;
            match &message {
                FromPreview::Hello { .. } => self.is_greeted = true,
                FromPreview::Pong { .. } if self.conversation.last_pong() == self.last_ping => {
                    self.pending_ping = None;
                    self.idle_since = now;
                }
                _ => {}
            }
            received.push(message);
        }
        Ok(received)
    }

    /// A closed channel is explained by the exit of the process.
    fn failure(&mut self, error: DescriptorChannelError) -> PreviewPeerFailure {
        match error {
            DescriptorChannelError::Ended => PreviewPeerFailure::Exited(self.exit_reason()),
            other => PreviewPeerFailure::Malformed(other.to_string()),
        }
    }

    fn exit_reason(&mut self) -> ExitReason {
        self.read_stderr();
        let stderr = String::from_utf8_lossy(&self.stderr_tail).into_owned();
        let Some(process) = &mut self.process else { return ExitReason::Clean };
        // It closed its side, so it is about to exit.
        let status = match process.wait(Some(Duration::from_millis(100))) {
            Ok(Some(status)) => Some(status),
            _ => None,
        };
        match status {
            Some(status) => ExitReason::from(status).with_last_words(&stderr),
            None => {
                process.send_kill();
                ExitReason::Killed
            }
        }
    }

    pub(crate) fn read_stderr(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        let mut bytes = [0; 4096];
        loop {
            match stderr.read(&mut bytes) {
                Ok(0) => {
                    self.stderr = None;
                    return;
                }
                Ok(count) => {
                    self.stderr_tail.extend_from_slice(bytes.get(..count).unwrap_or_default());
                    let more = self.stderr_tail.len().saturating_sub(MAX_STDERR_BYTES);
                    self.stderr_tail.drain(..more);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// The last lines of its standard error.
    pub(crate) fn last_stderr_lines(&mut self) -> Vec<String> {
        self.read_stderr();
        let stderr = String::from_utf8_lossy(&self.stderr_tail);
        let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(12));
        last.map(|line| components::visible_text(line, 400)).collect()
    }

    /// Returns how the process ended, if it did, whatever the channel says.
    pub(crate) fn exit(&mut self) -> Option<PreviewPeerFailure> {
        let process = self.process.as_mut()?;
        match process.wait(Some(Duration::ZERO)) {
            Ok(None) => None,
            Ok(Some(status)) => {
                self.read_stderr();
                let stderr = String::from_utf8_lossy(&self.stderr_tail).into_owned();
                Some(PreviewPeerFailure::Exited(ExitReason::from(status).with_last_words(&stderr)))
            }
            Err(error) => Some(PreviewPeerFailure::Malformed(error.to_string())),
        }
    }

    // ---- time ---------------------------------------------------------------------------------------------------------

    fn cpu_ticks(&self) -> u64 {
        self.process.as_ref().and_then(|process| cpu_ticks(process.pid())).unwrap_or_default()
    }

    /// Returns true when the hello or a pong is overdue.
    pub(crate) fn is_late(&self, now: Instant) -> bool {
        if !self.is_greeted {
            return now.saturating_duration_since(self.started) > HELLO_TIMEOUT;
        }
        let Some(ping) = self.pending_ping else { return false };
        let waited = now.saturating_duration_since(ping.sent_at);
        let used = || self.cpu_ticks().saturating_sub(ping.cpu_ticks);
        let is_busy = || self.process.is_none() || used() >= BUSY_CPU_TICKS;
        waited > STUCK_TIMEOUT || (waited > BUSY_TIMEOUT && is_busy())
    }

    /// Sends a ping after a while without one.
    pub(crate) fn ping_if_idle(&mut self, now: Instant) {
        if self.is_greeted
            && self.pending_ping.is_none()
            && now.saturating_duration_since(self.idle_since) >= IDLE_PING_INTERVAL
        {
            self.ping(now);
        }
    }

    /// The moment of the next check.
    pub(crate) fn deadline(&self, now: Instant) -> Instant {
        let step = Duration::from_millis(100);
        match self.pending_ping {
            _ if !self.is_greeted => self.started + HELLO_TIMEOUT + step,
            // The CPU time of a late process is checked again and again.
            Some(ping) => (ping.sent_at + BUSY_TIMEOUT + step).max(now + step),
            None => self.idle_since + IDLE_PING_INTERVAL,
        }
    }

    // ---- descriptors --------------------------------------------------------------------------------------------------

    pub(crate) fn channel(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }

    pub(crate) fn process(&self) -> Option<BorrowedFd<'_>> {
        self.process.as_ref().map(AsFd::as_fd)
    }

    pub(crate) fn stderr(&self) -> Option<BorrowedFd<'_>> {
        self.stderr.as_ref().map(AsFd::as_fd)
    }

    pub(crate) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }
}
