//! Keeps the children running: one thread that starts them, waits for them and starts them again.
//!
//! It is one thread for the whole life of main because the kernel ties a child's parent-death signal to the
//! *thread* that started it. It never polls: it sleeps until a child ends, a command arrives or a deadline
//! comes.

mod thread;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ChildStderr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rustix::event::{EventfdFlags, eventfd};
use thiserror::Error;

use super::environment::Environment;
use super::exit_reason::ExitReason;
use super::process_group::StdStream;
use super::restart::RestartPolicy;
use thread::SupervisorThread;

const MAX_QUEUED_COMMANDS: usize = 64;
const MAX_QUEUED_EVENTS: usize = 256;
/// The time that children get to stop when the supervisor is dropped.
const DROP_STOP_LIMIT: Duration = Duration::from_secs(2);

/// A child to start, with its restart policy.
#[derive(Debug, Clone)]
pub struct ChildSpec {
    /// For logs and events; not necessarily unique.
    pub name: String,
    pub exe: PathBuf,
    pub args: Vec<OsString>,
    pub env: Environment,
    /// With [`StdStream::Pipe`], the reading end comes with [`ChildEventKind::Started`].
    pub stderr: StdStream,
    pub policy: RestartPolicy,
}

/// One child across its restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildId(u64);

/// A change in the state of a child.
#[derive(Debug)]
pub struct ChildEvent {
    pub id: ChildId,
    pub name: Arc<str>,
    pub kind: ChildEventKind,
}

/// After [`Supervisor::start`] a child has any number of runs, each `Started` then `Exited` or a
/// `StartFailed`, and at the end exactly one `Stopped` or `GaveUp`.
#[derive(Debug)]
pub enum ChildEventKind {
    Started {
        pid: u32,
        channel: UnixStream,
        stderr: Option<ChildStderr>,
    },
    StartFailed {
        error: String,
    },
    Exited {
        reason: ExitReason,
        uptime: Duration,
    },
    Restarting {
        after: Duration,
    },
    /// It crashed too often and is not restarted.
    GaveUp {
        reason: ExitReason,
    },
    /// It ended on request, or by itself without an error.
    Stopped,
}

/// The reason why a command was not accepted.
#[derive(Debug, Error)]
pub enum SupervisorError {
    #[error("Too many commands are waiting for the supervisor. Read its events, then try again.")]
    Busy,
    #[error("The supervisor has ended. Restart Draftboard.")]
    Ended,
}

#[derive(Debug)]
enum SupervisorCommand {
    Start { id: ChildId, spec: Box<ChildSpec> },
    Stop { id: ChildId, limit: Duration },
    Kill { id: ChildId, reason: ExitReason },
}

/// The handle to the supervisor thread. Dropping it stops every child and then the thread.
#[derive(Debug)]
pub struct Supervisor {
    commands: Sender<SupervisorCommand>,
    wake: Arc<OwnedFd>,
    next_id: AtomicU64,
    /// A channel of its own, so that closing works when the queue of commands is full.
    closing: Option<Sender<Duration>>,
    thread: Option<JoinHandle<()>>,
}

impl Supervisor {
    /// Starts the thread. The caller must read the events: the supervisor waits while their queue is full, so that a
    /// child that keeps crashing cannot fill the memory.
    pub fn launch() -> io::Result<(Self, Receiver<ChildEvent>)> {
        let (commands, command_queue) = bounded(MAX_QUEUED_COMMANDS);
        let (event_queue, events) = bounded(MAX_QUEUED_EVENTS);
        let (closing, closing_signal) = bounded(1);
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let supervised = SupervisorThread::new(command_queue, event_queue, closing_signal, Arc::clone(&wake));
        let thread = std::thread::Builder::new().name("supervisor".into()).spawn(move || supervised.run())?;
        let supervisor =
            Self { commands, wake, next_id: AtomicU64::new(1), closing: Some(closing), thread: Some(thread) };
        Ok((supervisor, events))
    }

    /// Returns at once; the outcome comes as an event.
    pub fn start(&self, spec: ChildSpec) -> Result<ChildId, SupervisorError> {
        let id = ChildId(self.next_id.fetch_add(1, Ordering::Relaxed));
        self.send(SupervisorCommand::Start { id, spec: Box::new(spec) })?;
        Ok(id)
    }

    /// Closes the child's channel, which requests a stop, and kills its process group after `limit`.
    /// Cancels a pending restart. Does nothing to a child that is gone.
    pub fn stop(&self, id: ChildId, limit: Duration) -> Result<(), SupervisorError> {
        self.send(SupervisorCommand::Stop { id, limit })
    }

    /// Kills the child at once and counts that as a crash for `reason`: for one that does not answer or violates its
    /// protocol.
    pub fn kill(&self, id: ChildId, reason: ExitReason) -> Result<(), SupervisorError> {
        self.send(SupervisorCommand::Kill { id, reason })
    }

    /// Stops every child as [`stop`](Self::stop) does, all at once, and returns when they are gone.
    pub fn shutdown(mut self, limit: Duration) {
        self.close(limit);
    }

    fn send(&self, command: SupervisorCommand) -> Result<(), SupervisorError> {
        self.commands.try_send(command).map_err(|error| match error {
            TrySendError::Full(_) => SupervisorError::Busy,
            TrySendError::Disconnected(_) => SupervisorError::Ended,
        })?;
        self.wake();
        Ok(())
    }

    fn wake(&self) {
        // Fails only when the counter is full, and then the thread is awake anyway.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    fn close(&mut self, limit: Duration) {
        if let Some(closing) = self.closing.take() {
            // The channel has room for one message, and this is the only one.
            let _ = closing.try_send(limit);
        }
        self.wake();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("supervisor thread panicked; its children ended with it");
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.close(DROP_STOP_LIMIT);
    }
}
