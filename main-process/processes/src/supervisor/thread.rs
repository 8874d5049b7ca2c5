//! What the supervisor thread does.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvError, Sender, TryRecvError, TrySendError, select};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::{ChildEvent, ChildId, ChildSpec, Command, EventKind, STOP_LIMIT};
use crate::exit_reason::ExitReason;
use crate::readiness::timespec;
use crate::restart::RestartDecision;
use crate::role::{RoleProcess, spawn_role};

/// How long to rest when the kernel refuses to let us wait, instead of trying again at full speed.
const REST: Duration = Duration::from_millis(50);

pub(super) struct SupervisorThread {
    commands: Receiver<Command>,
    events: Sender<ChildEvent>,
    closing: Receiver<Duration>,
    is_closing: bool,
    wake: Arc<OwnedFd>,
    children: BTreeMap<ChildId, Supervised>,
}

struct Supervised {
    name: Arc<str>,
    spec: ChildSpec,
    state: State,
}

enum State {
    Running { child: RoleProcess, since: Instant, end: End },
    WaitingToStart { at: Instant },
}

/// Whether and how a running child is being ended.
enum End {
    NotWanted,
    Asked {
        kill_at: Instant,
    },
    /// Killed by us, for this reason; `last` if it shall not run again.
    Killed {
        reason: ExitReason,
        last: bool,
    },
}

impl SupervisorThread {
    pub(super) fn new(
        commands: Receiver<Command>,
        events: Sender<ChildEvent>,
        closing: Receiver<Duration>,
        wake: Arc<OwnedFd>,
    ) -> Self {
        Self { commands, events, closing, is_closing: false, wake, children: BTreeMap::new() }
    }

    pub(super) fn run(mut self) {
        loop {
            self.take_commands();
            self.notice_closing();
            self.meet_deadlines();
            if self.is_closing && self.children.is_empty() {
                return;
            }
            for id in self.wait() {
                self.child_ended(id);
            }
        }
    }

    fn take_commands(&mut self) {
        while let Ok(command) = self.commands.try_recv() {
            match command {
                // Nobody is left to stop it.
                Command::Start { .. } if self.is_closing => {}
                Command::Start { id, spec } => self.admit(id, *spec),
                Command::Stop { id, limit } => self.ask_to_stop(id, limit),
                Command::Kill { id, reason } => self.kill(id, reason),
            }
        }
    }

    fn admit(&mut self, id: ChildId, spec: ChildSpec) {
        let name = Arc::from(spec.name.as_str());
        self.children
            .insert(id, Supervised { name, spec, state: State::WaitingToStart { at: Instant::now() } });
    }

    fn ask_to_stop(&mut self, id: ChildId, limit: Duration) {
        let Some(supervised) = self.children.get_mut(&id) else { return };
        match &mut supervised.state {
            State::WaitingToStart { .. } => {
                self.emit(id, EventKind::Stopped);
                self.children.remove(&id);
            }
            State::Running { child, end, .. } => {
                // Only our direction: what the child still has to say can be read to its end.
                // Fails only when the child has closed its side already.
                let _ = child.channel.shutdown(Shutdown::Write);
                let kill_at = Instant::now() + limit.min(Duration::from_secs(3600));
                *end = match end {
                    End::NotWanted => End::Asked { kill_at },
                    End::Asked { kill_at: earlier } => End::Asked { kill_at: kill_at.min(*earlier) },
                    End::Killed { reason, .. } => End::Killed { reason: *reason, last: true },
                };
            }
        }
    }

    fn kill(&mut self, id: ChildId, reason: ExitReason) {
        if let Some(Supervised { state: State::Running { child, end, .. }, .. }) = self.children.get_mut(&id)
        {
            child.process.send_kill();
            *end = match end {
                End::NotWanted => End::Killed { reason, last: false },
                End::Asked { .. } => End::Killed { reason, last: true },
                End::Killed { reason, last } => End::Killed { reason: *reason, last: *last },
            };
        }
    }

    fn notice_closing(&mut self) {
        match self.closing.try_recv() {
            Ok(limit) => self.begin_closing(Ok(limit)),
            Err(TryRecvError::Disconnected) => self.begin_closing(Err(RecvError)),
            Err(TryRecvError::Empty) => {}
        }
    }

    /// A missing limit means that the handle went away without one.
    fn begin_closing(&mut self, limit: Result<Duration, RecvError>) {
        if self.is_closing {
            return;
        }
        self.is_closing = true;
        let ids: Vec<ChildId> = self.children.keys().copied().collect();
        for id in ids {
            self.ask_to_stop(id, limit.unwrap_or(STOP_LIMIT));
        }
    }

    fn meet_deadlines(&mut self) {
        let now = Instant::now();
        let mut due = Vec::new();
        for (id, supervised) in &mut self.children {
            match &mut supervised.state {
                State::WaitingToStart { at } if *at <= now => due.push(*id),
                State::Running { child, end: end @ End::Asked { .. }, .. } => {
                    if matches!(end, End::Asked { kill_at } if *kill_at <= now) {
                        child.process.send_kill();
                        *end = End::Killed { reason: ExitReason::Timeout, last: true };
                    }
                }
                _ => {}
            }
        }
        for id in due {
            self.start(id);
        }
    }

    fn start(&mut self, id: ChildId) {
        let Some(supervised) = self.children.get_mut(&id) else { return };
        let spec = &mut supervised.spec;
        // The copy of the channel is for the receiver of the event; ours can still end it when the child must
        // stop.
        let started = spawn_role(&spec.exe, &spec.args, &spec.env, spec.stderr)
            .map_err(|error| error.to_string())
            .and_then(|child| match child.channel.try_clone() {
                Ok(channel) => Ok((child, channel)),
                Err(error) => {
                    Err(format!("the channel could not be shared: {error}; raise the limit of open files"))
                }
            });
        match started {
            Ok((mut child, channel)) => {
                let since = Instant::now();
                spec.policy.record_start(since);
                let (pid, stderr) = (child.process.pid(), child.process.take_stderr());
                tracing::info!(child = %supervised.name, pid, "started");
                supervised.state = State::Running { child, since, end: End::NotWanted };
                self.emit(id, EventKind::Started { pid, channel, stderr });
            }
            Err(error) => {
                tracing::error!(child = %supervised.name, %error, "not started");
                self.emit(id, EventKind::StartFailed { error });
                self.restart_or_give_up(id, ExitReason::NotStarted);
            }
        }
    }

    /// Sleeps until something is to be done; the children that ended.
    fn wait(&self) -> Vec<ChildId> {
        let mut ids = Vec::new();
        let mut descriptors = vec![PollFd::new(&self.wake, PollFlags::IN)];
        let mut next_deadline: Option<Instant> = None;
        for (id, supervised) in &self.children {
            let deadline = match &supervised.state {
                State::WaitingToStart { at } => Some(*at),
                State::Running { child, end, .. } => {
                    ids.push(*id);
                    descriptors.push(PollFd::from_borrowed_fd(child.process.as_fd(), PollFlags::IN));
                    if let End::Asked { kill_at } = end { Some(*kill_at) } else { None }
                }
            };
            next_deadline = next_deadline.into_iter().chain(deadline).min();
        }
        let limit = next_deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match poll(&mut descriptors, timespec(limit).as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Vec::new(),
            Err(error) => {
                tracing::error!(%error, "children cannot be waited for");
                std::thread::sleep(REST);
                return Vec::new();
            }
        }
        // Takes the wake-ups off, however many there were.
        let _ = rustix::io::read(&self.wake, &mut [0_u8; 8]);
        let ended = ids.into_iter().zip(descriptors.iter().skip(1));
        ended.filter(|(_, descriptor)| !descriptor.revents().is_empty()).map(|(id, _)| id).collect()
    }

    fn child_ended(&mut self, id: ChildId) {
        let Some(supervised) = self.children.get_mut(&id) else { return };
        let State::Running { child, since, end } = &mut supervised.state else { return };
        let reason = match child.process.wait(Some(Duration::ZERO)) {
            Ok(Some(status)) => ExitReason::from(status),
            Ok(None) => return,
            Err(error) => {
                // Somebody else took the status; the child is gone all the same.
                tracing::error!(child = %supervised.name, %error, "exit status lost");
                ExitReason::Killed
            }
        };
        let (reason, last) = match end {
            End::NotWanted => (reason, reason == ExitReason::Clean),
            End::Asked { .. } => (reason, true),
            // It may have ended by itself just before.
            End::Killed { reason: ours, last } => (
                if reason == ExitReason::Killed { *ours } else { reason },
                *last || reason == ExitReason::Clean,
            ),
        };
        let uptime = since.elapsed();
        tracing::info!(child = %supervised.name, %reason, ?uptime, "exited");
        // Drops the child, and with it our end of the channel.
        supervised.state = State::WaitingToStart { at: Instant::now() };
        self.emit(id, EventKind::Exited { reason, uptime });
        if last {
            self.emit(id, EventKind::Stopped);
            self.children.remove(&id);
        } else {
            self.restart_or_give_up(id, reason);
        }
    }

    fn restart_or_give_up(&mut self, id: ChildId, reason: ExitReason) {
        let now = Instant::now();
        let Some(supervised) = self.children.get_mut(&id) else { return };
        match supervised.spec.policy.record_failure(now) {
            RestartDecision::RestartAfter { delay: after, .. } => {
                supervised.state = State::WaitingToStart { at: now + after };
                self.emit(id, EventKind::Restarting { after });
            }
            RestartDecision::GiveUp => {
                tracing::error!(child = %supervised.name, %reason, "given up");
                self.emit(id, EventKind::GaveUp { reason });
                self.children.remove(&id);
            }
        }
    }

    /// Waits for room, except while closing: then whoever would make room may be waiting for us.
    fn emit(&mut self, id: ChildId, kind: EventKind) {
        let Some(supervised) = self.children.get(&id) else { return };
        let event = ChildEvent { id, name: Arc::clone(&supervised.name), kind };
        let event = match self.events.try_send(event) {
            Err(TrySendError::Full(event)) if !self.is_closing => event,
            // Sent, or nobody listens any more: the children still have to be kept.
            _ => return,
        };
        let closed = select! {
            send(self.events, event) -> _ => None,
            recv(self.closing) -> limit => Some(limit),
        };
        if let Some(limit) = closed {
            self.begin_closing(limit);
        }
    }
}
