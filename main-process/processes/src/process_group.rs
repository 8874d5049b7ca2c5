//! A child that leads a process group of its own, so that it and the processes that it started are signalled together.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use thiserror::Error;

use super::process_tree::{STOP_SIGNALS, to_pid};
use super::readiness::wait_readable;

/// The other end of a child's standard stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StdStream {
    #[default]
    Null,
    /// The same stream as this process has.
    Inherit,
    /// A pipe to this process. It must be read, or the child blocks once the pipe is full.
    Pipe,
}

impl From<StdStream> for Stdio {
    fn from(stream: StdStream) -> Self {
        match stream {
            StdStream::Null => Self::null(),
            StdStream::Inherit => Self::inherit(),
            StdStream::Pipe => Self::piped(),
        }
    }
}

/// The reason why a child did not start.
#[derive(Debug, Error)]
pub enum SpawnError {
    #[error("No channel for a new process: {0}. Close programs or raise the limit of open files.")]
    Channel(#[source] io::Error),
    #[error("{exe} could not be started: {source}. Check that it exists and may be executed.")]
    Start { exe: PathBuf, source: io::Error },
    #[error("A new process could not be watched and was stopped: {0}. Linux 5.11 or newer is needed.")]
    Watch(#[source] io::Error),
}

/// A running group. Dropping it kills every process in it, so that none is ever forgotten.
#[derive(Debug)]
pub struct ProcessGroup {
    leader: Child,
    pidfd: OwnedFd,
    status: Option<ExitStatus>,
}

impl ProcessGroup {
    /// `command` must make the child a group or session leader before it executes the program.
    pub(crate) fn start(command: Command) -> Result<Self, SpawnError> {
        let (leader, pidfd) = start_watched(command)?;
        Ok(Self { leader, pidfd, status: None })
    }

    pub fn pid(&self) -> u32 {
        self.leader.id()
    }

    /// Present once, if the child was started with [`StdStream::Pipe`]; so are the other two.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.leader.stdin.take()
    }

    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.leader.stdout.take()
    }

    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.leader.stderr.take()
    }

    /// Waits until the leader has ended, at most `limit`; `None` waits without end. Kills the rest of the group before the
    /// group's number can be used again.
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() && wait_readable(&self.pidfd, limit)? {
            self.send_kill();
            self.status = Some(self.leader.wait()?);
        }
        Ok(self.status)
    }

    /// Sends the stop signals to the leader alone: it knows in which order to stop the processes that it started.
    pub fn request_stop(&self) {
        if self.status.is_none() {
            for signal in STOP_SIGNALS {
                // Fails only when the leader is gone.
                let _ = pidfd_send_signal(&self.pidfd, signal);
            }
        }
    }

    /// Kills the whole group and waits for its leader.
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        self.send_kill();
        match self.status {
            Some(status) => Ok(status),
            None => Ok(*self.status.insert(self.leader.wait()?)),
        }
    }

    /// Kills the whole group without waiting. Does nothing once the leader was reaped, because another group may have its
    /// number then.
    pub fn send_kill(&self) {
        if self.status.is_none()
            && let Some(group) = to_pid(self.pid())
        {
            // Fails only when the group is empty.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Readable once the leader has ended.
impl AsFd for ProcessGroup {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // Fails only when there is nothing to wait for.
        let _ = self.kill();
    }
}

/// Starts `command` and pins the new process, so that waiting and signalling never reach another one.
pub(crate) fn start_watched(mut command: Command) -> Result<(Child, OwnedFd), SpawnError> {
    let spawned = command.spawn();
    let exe = PathBuf::from(command.get_program());
    let mut process = spawned.map_err(|source| SpawnError::Start { exe, source })?;
    let pinned = match to_pid(process.id()) {
        Some(pid) => pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from),
        None => Err(io::ErrorKind::InvalidData.into()),
    };
    match pinned {
        Ok(pidfd) => Ok((process, pidfd)),
        Err(error) => {
            // Both only fail when the process is gone already.
            let _ = process.kill();
            let _ = process.wait();
            Err(SpawnError::Watch(error))
        }
    }
}
