//! Main's side of a warden: starting a program under it, and ending it.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitOptions, pidfd_send_signal, waitpid};
use thiserror::Error;

use super::report::{WardenMessage, WardenMessageReader};
use super::role::{KILLING_LIMIT, MAX_REST_GRACE_PERIOD};
use crate::child_setup::{ChildDetachment, ChildSetup};
use crate::process_group::{SpawnError, start_watched};
use crate::process_tree::{request_child_stop, signal_descendants, signal_session, to_pid};
use crate::program::ProgramLaunch;
use crate::readiness::wait_readable;

/// The time that a warden gets to start the program.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The command that starts our executable as a warden; the program and its arguments are appended.
#[derive(Debug, Clone)]
pub struct WardenCommandLine {
    pub exe: PathBuf,
    pub args: Vec<OsString>,
}

impl WardenCommandLine {
    /// `<exe> --role warden -- …`
    pub fn new(exe: impl Into<PathBuf>) -> Self {
        Self { exe: exe.into(), args: ["--role", "warden", "--"].map(OsString::from).into() }
    }
}

/// The reason why a program did not start.
#[derive(Debug, Error)]
pub enum GuardError {
    #[error(transparent)]
    Warden(#[from] SpawnError),
    #[error("{} could not be started: {source}. Check that it is installed and on its PATH.", .program.display())]
    Program { program: PathBuf, source: io::Error },
    #[error("The warden of {} did not start it in time. See the log, then try again.", .program.display())]
    NoAnswer { program: PathBuf },
}

/// A running program with the processes that it started. Dropping it ends them all, without waiting for that.
#[derive(Debug)]
pub struct GuardedProgram {
    warden: std::process::Child,
    pidfd: OwnedFd,
    channel: UnixStream,
    messages: WardenMessageReader,
    program_pid: u32,
    grace_period: Duration,
    program_status: Option<ExitStatus>,
    warden_reaped: bool,
}

/// Starts a program under a warden and returns when it runs. Unlike roles it may be called from any thread:
/// the end of the channel ends the program, not the end of the thread.
pub fn spawn_guarded(
    warden: &WardenCommandLine,
    launch: &ProgramLaunch,
) -> Result<GuardedProgram, GuardError> {
    let (ours, theirs) = UnixStream::pair().map_err(SpawnError::Channel)?;
    let mut command = Command::new(&warden.exe);
    command.args(&warden.args).arg(&launch.program);
    let mut command = launch.complete(command);
    ChildSetup { detachment: ChildDetachment::Session, death_signal: None, channel: Some(theirs.into()) }
        .install(&mut command);
    let (process, pidfd) = start_watched(command)?;
    let mut program = GuardedProgram {
        warden: process,
        pidfd,
        channel: ours,
        messages: WardenMessageReader::default(),
        program_pid: 0,
        grace_period: launch.grace_period,
        program_status: None,
        warden_reaped: false,
    };
    program.wait_for_start(launch)?;
    Ok(program)
}

impl GuardedProgram {
    /// The pid of the program, for showing; it may be gone already.
    pub fn program_pid(&self) -> u32 {
        self.program_pid
    }

    /// The pid of its warden.
    pub fn warden_pid(&self) -> u32 {
        self.warden.id()
    }

    /// Present once, if asked for with `StdStream::Pipe`; so are the other two.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.warden.stdin.take()
    }

    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.warden.stdout.take()
    }

    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.warden.stderr.take()
    }

    /// Waits at most `limit` (`None`: without end) until the program *and the processes that it started* are
    /// gone, and returns the status of the program.
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<Option<ExitStatus>> {
        if !self.warden_reaped && wait_readable(&self.pidfd, limit)? {
            // A killed warden could not clean up. It keeps its session's number until it is reaped, just below, so the
            // signal reaches no other session.
            self.receive();
            if self.program_status.is_none() {
                signal_session(self.warden.id(), Signal::KILL);
            }
            let warden_status = self.warden.wait()?;
            self.warden_reaped = true;
            self.program_status.get_or_insert(warden_status);
        }
        Ok(self.program_status.filter(|_| self.warden_reaped))
    }

    /// Requests the program to end (by closing its input, unless that was taken, and by a signal) and returns
    /// once it and all its descendants are gone, killed after their grace period.
    pub fn stop(&mut self) -> io::Result<ExitStatus> {
        self.request_stop();
        if let Some(status) = self.wait(Some(self.max_stop_time()))? {
            return Ok(status);
        }
        self.kill()
    }

    /// Ends the program and all its descendants at once, without grace and without the help of the warden.
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        if !self.warden_reaped {
            kill_in_place_of_warden(self.warden.id(), &self.pidfd);
        }
        match self.wait(Some(KILLING_LIMIT))? {
            Some(status) => Ok(status),
            None => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("process {} cannot be stopped; inspect it with ps", self.warden.id()),
            )),
        }
    }

    /// Sends the stop signals to the program alone and starts no clock: the caller decides when to kill.
    pub fn request_program_stop(&mut self) {
        request_child_stop(self.warden.id(), self.program_pid);
    }

    /// Requests the end and returns at once. The warden kills after the grace period.
    pub fn request_stop(&mut self) {
        // Many programs end with their input.
        drop(self.warden.stdin.take());
        // Only our direction, so that the warden can still report. Fails only when it is gone.
        let _ = self.channel.shutdown(Shutdown::Write);
    }

    fn max_stop_time(&self) -> Duration {
        self.grace_period.saturating_add(MAX_REST_GRACE_PERIOD).saturating_add(KILLING_LIMIT)
    }

    /// Sends the grace period and waits until the program runs.
    fn wait_for_start(&mut self, launch: &ProgramLaunch) -> Result<(), GuardError> {
        let milliseconds = i32::try_from(launch.grace_period.as_millis()).unwrap_or(i32::MAX);
        // A warden that is gone already is noticed below.
        let _ = self.channel.write_all(&WardenMessage::GracePeriod(milliseconds).to_bytes());
        let no_answer = || GuardError::NoAnswer { program: launch.program.clone() };
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if !wait_readable(&self.channel, Some(left)).unwrap_or(false) {
                kill_in_place_of_warden(self.warden.id(), &self.pidfd);
                return Err(no_answer());
            }
            let mut bytes = [0_u8; 64];
            let count = self.channel.read(&mut bytes).unwrap_or(0);
            if count == 0 {
                return Err(no_answer());
            }
            for word in self.messages.push(bytes.get(..count).unwrap_or_default()) {
                match word {
                    WardenMessage::Started(pid) => self.program_pid = pid.unsigned_abs(),
                    WardenMessage::NotStarted(error) => {
                        // The warden ends at once; reaping it here spares the drop a thread.
                        let _ = self.wait(Some(START_TIMEOUT));
                        let source = io::Error::from_raw_os_error(error);
                        return Err(GuardError::Program { program: launch.program.clone(), source });
                    }
                    // A short program may have ended already.
                    WardenMessage::Ended(status) => self.program_status = Some(ExitStatus::from_raw(status)),
                    WardenMessage::GracePeriod(_) => {}
                }
            }
            if self.program_pid != 0 {
                return Ok(());
            }
        }
    }

    /// Reads the last messages of the warden.
    fn receive(&mut self) {
        let mut bytes = [0_u8; 64];
        if self.channel.set_nonblocking(true).is_err() {
            return;
        }
        while let Ok(count @ 1..) = self.channel.read(&mut bytes) {
            for word in self.messages.push(bytes.get(..count).unwrap_or_default()) {
                if let WardenMessage::Ended(status) = word {
                    self.program_status = Some(ExitStatus::from_raw(status));
                }
            }
        }
    }
}

/// Readable once the program and the processes that it started are gone.
impl AsFd for GuardedProgram {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for GuardedProgram {
    fn drop(&mut self) {
        self.request_stop();
        if self.wait(Some(Duration::ZERO)).is_err() || self.warden_reaped {
            return;
        }
        // A thread reaps the warden, or kills in its place, so that the drop does not block.
        let (pid, longest) = (self.warden.id(), self.max_stop_time());
        let outcome = self.pidfd.try_clone().and_then(|pidfd| {
            std::thread::Builder::new()
                .name("reap-warden".into())
                .spawn(move || finish_warden(pid, &pidfd, longest))
        });
        if let Err(error) = outcome {
            tracing::warn!(%error, pid, "a warden stays in the process table until Draftboard ends");
        }
    }
}

fn finish_warden(pid: u32, pidfd: &OwnedFd, longest: Duration) {
    if !wait_readable(pidfd, Some(longest)).unwrap_or(false) {
        kill_in_place_of_warden(pid, pidfd);
    }
    // Finds nothing when the warden cleaned up; the warden keeps its number because it is reaped only below.
    signal_session(pid, Signal::KILL);
    if let Some(pid) = to_pid(pid) {
        let _ = waitpid(Some(pid), WaitOptions::empty());
    }
}

/// For a warden that hangs, for example because it was stopped. It is killed last: while it exists, orphans stay below it,
/// where they can be found. The caller has not reaped it yet.
fn kill_in_place_of_warden(pid: u32, pidfd: &OwnedFd) {
    for _ in 0..100 {
        if signal_descendants(pid, &[Signal::KILL], None) == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // Fails only when it is gone.
    let _ = pidfd_send_signal(pidfd, Signal::KILL);
}
