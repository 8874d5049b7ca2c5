//! The loop of the supervisor thread and the states of its children.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvError, Sender, TryRecvError, TrySendError, select};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::{ChildEvent, ChildEventKind, ChildId, ChildSpec, DROP_STOP_LIMIT, SupervisorCommand};
use crate::exit_reason::ExitReason;
use crate::readiness::timespec;
use crate::restart::RestartDecision;
use crate::role::{RoleProcess, spawn_role};

/// The pause after a failed `poll`, which would otherwise repeat at full speed.
const POLL_ERROR_PAUSE: Duration = Duration::from_millis(50);

pub(super) struct SupervisorThread {
    commands: Receiver<SupervisorCommand>,
    events: Sender<ChildEvent>,
    closing: Receiver<Duration>,
    is_closing: bool,
    wake: Arc<OwnedFd>,
    children: BTreeMap<ChildId, SupervisedChild>,
}

struct SupervisedChild {
    name: Arc<str>,
    spec: ChildSpec,
    state: ChildState,
}

enum ChildState {
    Running { child: RoleProcess, since: Instant, end: StopState },
    WaitingToStart { at: Instant },
}

/// The stop of a running child.
enum StopState {
    NotRequested,
    Requested {
        kill_at: Instant,
    },
    /// Killed by the supervisor for this reason; `last` when it is not restarted.
    Killed {
        reason: ExitReason,
        last: bool,
    },
}

impl SupervisorThread {
    pub(super) fn new(
        commands: Receiver<SupervisorCommand>,
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
            self.handle_deadlines();
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
                // Nothing would stop it any more.
                SupervisorCommand::Start { .. } if self.is_closing => {}
                SupervisorCommand::Start { id, spec } => self.admit(id, *spec),
                SupervisorCommand::Stop { id, limit } => self.request_stop(id, limit),
                SupervisorCommand::Kill { id, reason } => self.kill(id, reason),
            }
        }
    }

    fn admit(&mut self, id: ChildId, spec: ChildSpec) {
        let name = Arc::from(spec.name.as_str());
        self.children.insert(
            id,
            SupervisedChild { name, spec, state: ChildState::WaitingToStart { at: Instant::now() } },
        );
    }

    fn request_stop(&mut self, id: ChildId, limit: Duration) {
        let Some(supervised) = self.children.get_mut(&id) else { return };
        match &mut supervised.state {
            ChildState::WaitingToStart { .. } => {
                self.emit(id, ChildEventKind::Stopped);
                self.children.remove(&id);
            }
            ChildState::Running { child, end, .. } => {
                // Only our direction, so that the child's last messages can still be read.
                // Fails only when the child has closed its side already.
                let _ = child.channel.shutdown(Shutdown::Write);
                let kill_at = Instant::now() + limit.min(Duration::from_secs(3600));
                *end = match end {
                    StopState::NotRequested => StopState::Requested { kill_at },
                    StopState::Requested { kill_at: earlier } => {
                        StopState::Requested { kill_at: kill_at.min(*earlier) }
                    }
                    StopState::Killed { reason, .. } => StopState::Killed { reason: *reason, last: true },
                };
            }
        }
    }

    fn kill(&mut self, id: ChildId, reason: ExitReason) {
        if let Some(SupervisedChild { state: ChildState::Running { child, end, .. }, .. }) =
            self.children.get_mut(&id)
        {
            child.process.send_kill();
            *end = match end {
                StopState::NotRequested => StopState::Killed { reason, last: false },
                StopState::Requested { .. } => StopState::Killed { reason, last: true },
                StopState::Killed { reason, last } => StopState::Killed { reason: *reason, last: *last },
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

    /// Without a limit, the handle was dropped before it sent one.
    fn begin_closing(&mut self, limit: Result<Duration, RecvError>) {
        if self.is_closing {
            return;
        }
        self.is_closing = true;
        let ids: Vec<ChildId> = self.children.keys().copied().collect();
        for id in ids {
            self.request_stop(id, limit.unwrap_or(DROP_STOP_LIMIT));
        }
    }

    fn handle_deadlines(&mut self) {
        let now = Instant::now();
        let mut due = Vec::new();
        for (id, supervised) in &mut self.children {
            match &mut supervised.state {
                ChildState::WaitingToStart { at } if *at <= now => due.push(*id),
                ChildState::Running { child, end: end @ StopState::Requested { .. }, .. } => {
                    if matches!(end, StopState::Requested { kill_at } if *kill_at <= now) {
                        child.process.send_kill();
                        *end = StopState::Killed { reason: ExitReason::Timeout, last: true };
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
        // The copy of the channel is for the receiver of the event; the supervisor ends its own when the child
        // must stop.
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
                supervised.state = ChildState::Running { child, since, end: StopState::NotRequested };
                self.emit(id, ChildEventKind::Started { pid, channel, stderr });
            }
            Err(error) => {
                tracing::error!(child = %supervised.name, %error, "not started");
                self.emit(id, ChildEventKind::StartFailed { error });
                self.restart_or_give_up(id, ExitReason::NotStarted);
            }
        }
    }

    /// Sleeps until there is work. Returns the children that ended.
    fn wait(&self) -> Vec<ChildId> {
        let mut ids = Vec::new();
        let mut descriptors = vec![PollFd::new(&self.wake, PollFlags::IN)];
        let mut next_deadline: Option<Instant> = None;
        for (id, supervised) in &self.children {
            let deadline = match &supervised.state {
                ChildState::WaitingToStart { at } => Some(*at),
                ChildState::Running { child, end, .. } => {
                    ids.push(*id);
                    descriptors.push(PollFd::from_borrowed_fd(child.process.as_fd(), PollFlags::IN));
                    if let StopState::Requested { kill_at } = end { Some(*kill_at) } else { None }
                }
            };
            next_deadline = next_deadline.into_iter().chain(deadline).min();
        }
        let limit = next_deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match poll(&mut descriptors, timespec(limit).as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Vec::new(),
            Err(error) => {
                tracing::error!(%error, "poll for children failed");
                std::thread::sleep(POLL_ERROR_PAUSE);
                return Vec::new();
            }
        }
        // Resets the counter of wake-ups.
        let _ = rustix::io::read(&self.wake, &mut [0_u8; 8]);
        let ended = ids.into_iter().zip(descriptors.iter().skip(1));
        ended.filter(|(_, descriptor)| !descriptor.revents().is_empty()).map(|(id, _)| id).collect()
    }

    fn child_ended(&mut self, id: ChildId) {
        let Some(supervised) = self.children.get_mut(&id) else { return };
        let ChildState::Running { child, since, end } = &mut supervised.state else { return };
        let reason = match child.process.wait(Some(Duration::ZERO)) {
            Ok(Some(status)) => ExitReason::from(status),
            Ok(None) => return,
            Err(error) => {
                // Another wait took the status; the child is gone.
                tracing::error!(child = %supervised.name, %error, "exit status lost");
                ExitReason::Killed
            }
        };
        let (reason, last) = match end {
            StopState::NotRequested => (reason, reason == ExitReason::Clean),
            StopState::Requested { .. } => (reason, true),
            // It may have ended by itself just before the kill.
            StopState::Killed { reason: ours, last } => (
                if reason == ExitReason::Killed { *ours } else { reason },
                *last || reason == ExitReason::Clean,
            ),
        };
        let uptime = since.elapsed();
        tracing::info!(child = %supervised.name, %reason, ?uptime, "exited");
        // Drops the child and our end of the channel.
        supervised.state = ChildState::WaitingToStart { at: Instant::now() };
        self.emit(id, ChildEventKind::Exited { reason, uptime });
        if last {
            self.emit(id, ChildEventKind::Stopped);
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
                supervised.state = ChildState::WaitingToStart { at: now + after };
                self.emit(id, ChildEventKind::Restarting { after });
            }
            RestartDecision::GiveUp => {
                tracing::error!(child = %supervised.name, %reason, "given up");
                self.emit(id, ChildEventKind::GaveUp { reason });
                self.children.remove(&id);
            }
        }
    }

    /// Waits for room, except while closing: the reader of the events may be waiting for this thread then.
    fn emit(&mut self, id: ChildId, kind: ChildEventKind) {
        let Some(supervised) = self.children.get(&id) else { return };
        let event = ChildEvent { id, name: Arc::clone(&supervised.name), kind };
        let event = match self.events.try_send(event) {
            Err(TrySendError::Full(event)) if !self.is_closing => event,
            // Sent, or the receiver is gone: the children go on.
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
