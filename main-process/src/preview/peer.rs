//! The process of a session, from main's side: what waits to be sent, what it said, whether it answers. Nothing here waits,
//! and nothing it says is passed on before it was checked.

use super::{scene::Sent, spawner::Spawned};
use frame_memory::{Channel, ChannelError, FrameMemory};
use processes::{ExitReason, ProcessGroup, cpu_ticks};
use shared_protocol::{
    frame::{FrameError, decode_json, encode_json},
    preview::{
        Conversation, FromPreview, InputEvent, MAX_EVENTS, MAX_FROM_PREVIEW, MAX_TO_PREVIEW, Screen,
        ToPreview, Violation,
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

/// Bytes that may wait for a preview; one that takes less than it is sent is ended.
const MAX_WAITING: usize = 96 << 20;
/// Messages taken in one turn, so that one preview cannot keep the others waiting.
const MAX_TURN: usize = 64;
/// From the start of the process to its hello.
const HELLO_LIMIT: Duration = Duration::from_secs(10);
/// From a question to its answer, of a process that works all the while …
pub(super) const BUSY_LIMIT: Duration = Duration::from_secs(2);
/// … which is one that ran at least this long meanwhile, in hundredths of a second …
const BUSY_TICKS: u64 = 80;
/// … and of one that a loaded machine does not let run, or that does nothing.
const STUCK_LIMIT: Duration = Duration::from_secs(6);
/// How often one that has nothing to do is asked whether it is there.
const BEAT: Duration = Duration::from_secs(5);
/// Bytes of its last words.
const MAX_WORDS: usize = 8 << 10;
/// Times that one process is looked up fonts for. Each character is told once, so that an honest one asks now and then.
const MAX_FONT_REQUESTS: usize = 64;
/// Pointer and keys that may wait for it.
const MAX_INPUT: usize = 2 * MAX_EVENTS;

/// Why a peer is over.
#[derive(Debug)]
pub(super) enum Over {
    /// The process ended by itself, or was ended by the system.
    Exited(ExitReason),
    /// It did not answer in time.
    Silent,
    /// It said what cannot be.
    Broke(Violation),
    Garbage(String),
}

impl std::fmt::Display for Over {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(reason) => write!(f, "the preview {reason}"),
            Self::Silent => write!(f, "the preview {}", ExitReason::Timeout),
            Self::Broke(violation) => write!(f, "{violation}, so it was ended"),
            Self::Garbage(what) => write!(f, "the preview sent what is no message ({what}), so it was ended"),
        }
    }
}

/// Part of a message that is on its way.
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    /// What goes with its first byte.
    descriptor: Option<Arc<dyn AsFd + Send + Sync>>,
}

/// A question that is not answered yet.
#[derive(Debug, Clone, Copy)]
struct Asked {
    at: Instant,
    /// What the process had run by then.
    ran: u64,
}

pub(super) struct Peer {
    child: Option<ProcessGroup>,
    channel: Channel,
    conversation: Conversation,
    waiting: VecDeque<Outgoing>,
    waiting_bytes: usize,
    stderr: Option<ChildStderr>,
    words: Vec<u8>,
    started: Instant,
    pub(super) greeted: bool,
    pub(super) sent: Sent,
    pings: u64,
    asked: Option<Asked>,
    quiet_since: Instant,
    pub(super) generation: u32,
    pub(super) memory: Option<Arc<FrameMemory>>,
    input: Vec<InputEvent>,
    fonts: BTreeSet<FontFile>,
    font_requests: usize,
    /// The last turn ended before all that came was heard.
    has_more: bool,
}

impl Peer {
    pub(super) fn new(spawned: Spawned, build: String, now: Instant) -> Self {
        let Spawned { channel, stderr, child } = spawned;
        if let Some(stderr) = &stderr {
            // Without it a process that says nothing would be waited for.
            if let Err(error) = rustix::io::ioctl_fionbio(stderr, true) {
                tracing::warn!(%error, "the last words of a preview may be lost");
            }
        }
        Self {
            child,
            channel: Channel::new(channel, MAX_FROM_PREVIEW),
            conversation: Conversation::new(build),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            stderr,
            words: Vec::new(),
            started: now,
            greeted: false,
            sent: Sent::default(),
            pings: 0,
            asked: None,
            quiet_since: now,
            generation: 0,
            memory: None,
            input: Vec::new(),
            fonts: BTreeSet::new(),
            font_requests: 0,
            has_more: false,
        }
    }

    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    // ---- saying -------------------------------------------------------------------------------------------------------

    /// Queues a message; what is too large for one is told to the caller and not sent.
    pub(super) fn say(
        &mut self,
        message: &ToPreview,
        memory: Option<&Arc<FrameMemory>>,
    ) -> Result<(), String> {
        self.say_with(message, memory.map(|memory| Arc::clone(memory) as Arc<dyn AsFd + Send + Sync>))
    }

    fn say_with(
        &mut self,
        message: &ToPreview,
        descriptor: Option<Arc<dyn AsFd + Send + Sync>>,
    ) -> Result<(), String> {
        let bytes = encode_json(message, MAX_TO_PREVIEW).map_err(|error| error.to_string())?;
        self.conversation.sending(message);
        self.waiting_bytes += bytes.len();
        self.waiting.push_back(Outgoing { bytes, sent: 0, descriptor });
        Ok(())
    }

    /// A frame memory of this size, from now on.
    pub(super) fn give_screen(&mut self, screen: Screen) -> Result<(), String> {
        let [width, height] = screen.pixels();
        let memory = Arc::new(FrameMemory::new(width, height).map_err(|error| error.to_string())?);
        self.generation += 1;
        self.say(&ToPreview::Screen { generation: self.generation, screen }, Some(&memory))?;
        self.memory = Some(memory);
        Ok(())
    }

    /// Hands over fonts that were found for it, each once and no more than a process holds. Gives the number of the question
    /// whose answer says that they are there; none if there was nothing to hand over.
    pub(super) fn give_fonts(&mut self, fonts: Vec<FontFile>, now: Instant) -> Option<u64> {
        let mut is_other = false;
        for font in fonts {
            if self.fonts.len() >= MAX_FONTS || self.fonts.contains(&font) {
                continue;
            }
            // One that cannot be opened leaves its characters as boxes.
            let Ok(file) = font.open() else { continue };
            let message = ToPreview::Font { name: font.name.clone(), index: font.index };
            is_other |= self.say_with(&message, Some(Arc::new(file))).is_ok();
            self.fonts.insert(font);
        }
        is_other.then(|| {
            self.ask(now);
            self.pings
        })
    }

    /// The newest question that was answered.
    pub(super) fn answered(&self) -> u64 {
        self.conversation.last_pong()
    }

    /// Whether it may ask for fonts once more.
    pub(super) fn may_ask_for_fonts(&mut self) -> bool {
        self.font_requests += 1;
        self.font_requests <= MAX_FONT_REQUESTS
    }

    /// Asks it to answer once it has done what was said before. It is busy until then.
    pub(super) fn ask(&mut self, now: Instant) {
        self.pings += 1;
        // A number is never too large.
        let _ = self.say(&ToPreview::Ping { number: self.pings }, None);
        let asked = Asked { at: now, ran: self.ran() };
        self.asked.get_or_insert(asked);
    }

    pub(super) fn is_busy(&self) -> bool {
        self.asked.is_some()
    }

    /// Pointer and keys, sent when it has time for them. Of several movements in a row the last counts.
    pub(super) fn input(&mut self, events: Vec<InputEvent>) {
        for event in events {
            let is_move = |event: &InputEvent| matches!(event, InputEvent::Move { .. });
            if is_move(&event) && self.input.last().is_some_and(is_move) {
                self.input.pop();
            }
            if self.input.len() < MAX_INPUT {
                self.input.push(event);
            }
        }
    }

    pub(super) fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    pub(super) fn say_input(&mut self) {
        let rest = self.input.split_off(self.input.len().min(MAX_EVENTS));
        let events = std::mem::replace(&mut self.input, rest);
        if let Err(error) = self.say(&ToPreview::Input { events }, None) {
            tracing::debug!(%error, "input for a preview was lost");
        }
    }

    /// Sends what it takes without waiting.
    pub(super) fn flush(&mut self) -> Result<(), Over> {
        while let Some(outgoing) = self.waiting.front_mut() {
            let descriptor = outgoing.descriptor.as_deref().map(AsFd::as_fd).filter(|_| outgoing.sent == 0);
            let rest = outgoing.bytes.get(outgoing.sent..).unwrap_or_default();
            match self.channel.try_send(rest, descriptor) {
                Ok(0) => break,
                Ok(sent) => {
                    outgoing.sent += sent;
                    self.waiting_bytes = self.waiting_bytes.saturating_sub(sent);
                    if outgoing.sent >= outgoing.bytes.len() {
                        self.waiting.pop_front();
                    }
                }
                Err(error) => return Err(self.lost(error)),
            }
        }
        if self.waiting_bytes > MAX_WAITING { Err(Over::Silent) } else { Ok(()) }
    }

    // ---- hearing ------------------------------------------------------------------------------------------------------

    /// What it said, checked; a few messages at a time.
    pub(super) fn hear(&mut self, now: Instant) -> Result<Vec<FromPreview>, Over> {
        let mut heard = Vec::new();
        self.has_more = true;
        while heard.len() < MAX_TURN {
            let frame = match self.channel.try_receive() {
                Ok(Some(frame)) => frame,
                Ok(None) => {
                    self.has_more = false;
                    break;
                }
                Err(error) => {
                    // What came before it counts, and the end is met again in the next turn.
                    if heard.is_empty() {
                        return Err(self.lost(error));
                    }
                    break;
                }
            };
            let message: FromPreview =
                decode_json(&frame).map_err(|error: FrameError| Over::Garbage(error.to_string()))?;
            self.conversation.received(&message).map_err(Over::Broke)?;
            match &message {
                FromPreview::Hello { .. } => self.greeted = true,
                FromPreview::Pong { .. } if self.conversation.last_pong() == self.pings => {
                    self.asked = None;
                    self.quiet_since = now;
                }
                _ => {}
            }
            heard.push(message);
        }
        Ok(heard)
    }

    /// The channel is over: why is told by how the process ended.
    fn lost(&mut self, error: ChannelError) -> Over {
        match error {
            ChannelError::Ended => Over::Exited(self.reason()),
            other => Over::Garbage(other.to_string()),
        }
    }

    fn reason(&mut self) -> ExitReason {
        self.hear_words();
        let words = String::from_utf8_lossy(&self.words).into_owned();
        let Some(child) = &mut self.child else { return ExitReason::Clean };
        // It has closed its side, so it is about to be gone.
        let status = match child.wait(Some(Duration::from_millis(100))) {
            Ok(Some(status)) => Some(status),
            _ => None,
        };
        match status {
            Some(status) => ExitReason::from(status).with_last_words(&words),
            None => {
                child.send_kill();
                ExitReason::Killed
            }
        }
    }

    pub(super) fn hear_words(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        let mut bytes = [0; 4096];
        loop {
            match stderr.read(&mut bytes) {
                Ok(0) => {
                    self.stderr = None;
                    return;
                }
                Ok(count) => {
                    self.words.extend_from_slice(bytes.get(..count).unwrap_or_default());
                    let more = self.words.len().saturating_sub(MAX_WORDS);
                    self.words.drain(..more);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Its last lines.
    pub(super) fn last_words(&mut self) -> Vec<String> {
        self.hear_words();
        let words = String::from_utf8_lossy(&self.words);
        let lines: Vec<&str> = words.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(12));
        last.map(|line| components::visible(line, 400)).collect()
    }

    /// It has ended, whatever the channel says.
    pub(super) fn has_ended(&mut self) -> Option<Over> {
        let child = self.child.as_mut()?;
        match child.wait(Some(Duration::ZERO)) {
            Ok(None) => None,
            Ok(Some(status)) => {
                self.hear_words();
                let words = String::from_utf8_lossy(&self.words).into_owned();
                Some(Over::Exited(ExitReason::from(status).with_last_words(&words)))
            }
            Err(error) => Some(Over::Garbage(error.to_string())),
        }
    }

    // ---- time ---------------------------------------------------------------------------------------------------------

    fn ran(&self) -> u64 {
        self.child.as_ref().and_then(|child| cpu_ticks(child.pid())).unwrap_or_default()
    }

    /// Whether it has taken too long for something.
    pub(super) fn is_late(&self, now: Instant) -> bool {
        if !self.greeted {
            return now.saturating_duration_since(self.started) > HELLO_LIMIT;
        }
        let Some(asked) = self.asked else { return false };
        let waited = now.saturating_duration_since(asked.at);
        let worked = || self.child.is_none() || self.ran().saturating_sub(asked.ran) >= BUSY_TICKS;
        waited > STUCK_LIMIT || (waited > BUSY_LIMIT && worked())
    }

    /// Asks after one that has been quiet for a while.
    pub(super) fn beat(&mut self, now: Instant) {
        if self.greeted && self.asked.is_none() && now.saturating_duration_since(self.quiet_since) >= BEAT {
            self.ask(now);
        }
    }

    /// When to look again, whatever happens meanwhile.
    pub(super) fn deadline(&self, now: Instant) -> Instant {
        let step = Duration::from_millis(100);
        match self.asked {
            _ if !self.greeted => self.started + HELLO_LIMIT + step,
            // Once it is late, what it runs is looked at again and again.
            Some(asked) => (asked.at + BUSY_LIMIT + step).max(now + step),
            None => self.quiet_since + BEAT,
        }
    }

    // ---- descriptors --------------------------------------------------------------------------------------------------

    pub(super) fn channel(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }

    pub(super) fn process(&self) -> Option<BorrowedFd<'_>> {
        self.child.as_ref().map(AsFd::as_fd)
    }

    pub(super) fn words(&self) -> Option<BorrowedFd<'_>> {
        self.stderr.as_ref().map(AsFd::as_fd)
    }

    pub(super) fn wants_to_send(&self) -> bool {
        !self.waiting.is_empty()
    }
}
