//! Programs that are not ours: Terraform, MCP servers and the like. One description of what to start, one trait that starts
//! it, one handle to what runs.
//!
//! ```text
//! ProgramLaunch ──▶ ProgramSpawner ─┬─ WardenCommandLine        main: no process outlives main
//!                                   └─ ProcessGroupSpawner  tests: ends when dropped, not when we are killed
//!                        │
//!                        ▼
//!                  RunningProgram: streams, wait, request_stop, kill
//! ```

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use super::child_setup::{ChildDetachment, ChildSetup};
use super::environment::Environment;
use super::process_group::{ProcessGroup, SpawnError, StdStream};
use super::warden::{DEFAULT_GRACE_PERIOD, GuardError, GuardedProgram, WardenCommandLine, spawn_guarded};

/// An external program and how to run it. It gets no descriptor of ours but the standard streams chosen here.
#[derive(Debug, Clone)]
pub struct ProgramLaunch {
    /// A path, or a name that is looked up on the child's `PATH`.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Environment,
    pub folder: Option<PathBuf>,
    pub stdin: StdStream,
    pub stdout: StdStream,
    pub stderr: StdStream,
    /// How long its warden lets it run after main is gone or dropped it. The processes that it leaves behind get as long
    /// once more, but at most a second; then all are killed.
    pub grace_period: Duration,
}

impl ProgramLaunch {
    /// With a clean environment, no streams and three seconds of grace.
    pub fn new<Argument: Into<OsString>>(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = Argument>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Environment::clean(),
            folder: None,
            stdin: StdStream::Null,
            stdout: StdStream::Null,
            stderr: StdStream::Null,
            grace_period: DEFAULT_GRACE_PERIOD,
        }
    }

    /// `command` with the arguments, environment, folder and streams of this launch.
    pub(crate) fn complete(&self, mut command: Command) -> Command {
        command.args(&self.arguments).stdin(self.stdin).stdout(self.stdout).stderr(self.stderr);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        self.environment.apply(&mut command);
        command
    }
}

/// Starts programs. Main starts them under a warden each; tests start them in a process group each.
pub trait ProgramSpawner: Send + Sync {
    /// May block until the program runs.
    fn spawn(&self, launch: &ProgramLaunch) -> io::Result<RunningProgram>;
}

impl ProgramSpawner for WardenCommandLine {
    fn spawn(&self, launch: &ProgramLaunch) -> io::Result<RunningProgram> {
        match spawn_guarded(self, launch) {
            Ok(program) => Ok(RunningProgram::Guarded(program)),
            Err(GuardError::Program { source, .. }) => Err(source),
            Err(other) => Err(io::Error::other(other)),
        }
    }
}

/// Starts programs in a process group each. They do not end when this process is killed.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessGroupSpawner;

impl ProgramSpawner for ProcessGroupSpawner {
    fn spawn(&self, launch: &ProgramLaunch) -> io::Result<RunningProgram> {
        let mut command = launch.complete(Command::new(&launch.program));
        ChildSetup { detachment: ChildDetachment::Group, death_signal: None, channel: None }
            .install(&mut command);
        match ProcessGroup::start(command) {
            Ok(group) => Ok(RunningProgram::Grouped(group)),
            Err(SpawnError::Start { source, .. }) => Err(source),
            Err(other) => Err(io::Error::other(other)),
        }
    }
}

/// A running program with the processes that it started. Dropping it ends them all.
#[derive(Debug)]
pub enum RunningProgram {
    Guarded(GuardedProgram),
    Grouped(ProcessGroup),
}

impl RunningProgram {
    /// Present once, if asked for with [`StdStream::Pipe`]; so are the other two.
    pub fn take_stdin(&mut self) -> Option<OwnedFd> {
        match self {
            Self::Guarded(program) => program.take_stdin().map(Into::into),
            Self::Grouped(group) => group.take_stdin().map(Into::into),
        }
    }

    pub fn take_stdout(&mut self) -> Option<OwnedFd> {
        match self {
            Self::Guarded(program) => program.take_stdout().map(Into::into),
            Self::Grouped(group) => group.take_stdout().map(Into::into),
        }
    }

    pub fn take_stderr(&mut self) -> Option<OwnedFd> {
        match self {
            Self::Guarded(program) => program.take_stderr().map(Into::into),
            Self::Grouped(group) => group.take_stderr().map(Into::into),
        }
    }

    /// Waits at most `limit` (`None`: without end) until the program has ended and returns its status.
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<Option<ExitStatus>> {
        match self {
            Self::Guarded(program) => program.wait(limit),
            Self::Grouped(group) => group.wait(limit),
        }
    }

    /// Asks the program to end and returns at once. Starts no clock: the caller decides when to kill.
    pub fn request_stop(&mut self) {
        match self {
            Self::Guarded(program) => program.request_program_stop(),
            Self::Grouped(group) => group.request_stop(),
        }
    }

    /// Ends the program and the processes that it started at once, and waits for that.
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Guarded(program) => program.kill(),
            Self::Grouped(group) => group.kill(),
        }
    }
}

/// Readable once the program has ended.
impl AsFd for RunningProgram {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Guarded(program) => program.as_fd(),
            Self::Grouped(group) => group.as_fd(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ProcessGroupSpawner, ProgramLaunch, ProgramSpawner as _};
    use crate::{Environment, ExitReason, StdStream};
    use std::{fs::File, io::Read as _, time::Duration};

    const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));

    fn shell(script: &str) -> ProgramLaunch {
        let environment = Environment::inheriting(["PATH"]);
        ProgramLaunch { environment, stdout: StdStream::Pipe, ..ProgramLaunch::new("sh", ["-c", script]) }
    }

    #[test]
    fn a_group_stops_on_request_and_its_rest_is_killed() {
        let mut running = ProcessGroupSpawner.spawn(&shell("sleep 60 & echo up; wait")).unwrap();
        let mut output = File::from(running.take_stdout().unwrap());
        output.read_exact(&mut [0; 3]).unwrap();
        assert_eq!(running.wait(Some(Duration::ZERO)).unwrap(), None);
        running.request_stop();
        let status = running.wait(PATIENCE).unwrap().unwrap();
        assert_eq!(ExitReason::from(status), ExitReason::Killed);
        // The sleeper held the pipe open.
        assert_eq!(output.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn a_killed_group_has_a_status_and_a_missing_program_an_error() {
        let mut running = ProcessGroupSpawner.spawn(&shell("trap '' TERM; sleep 60")).unwrap();
        running.request_stop();
        assert_eq!(ExitReason::from(running.kill().unwrap()), ExitReason::Killed);
        let error = ProcessGroupSpawner.spawn(&ProgramLaunch::new("/nowhere/program", ["x"])).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    }
}
