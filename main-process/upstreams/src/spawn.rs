//! Starts programs so that they and all their child processes can be ended. The spawner is provided by the caller:
//! the main process guards its children so that they die with it.

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde::Serialize;
use std::{
    ffi::OsString,
    io,
    os::{
        fd::OwnedFd,
        unix::process::{CommandExt as _, ExitStatusExt as _},
    },
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
};

/// A program to start, with pipes for its three standard streams.
#[derive(Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub folder: PathBuf,
    /// The complete environment; nothing else is inherited. May hold secrets, so a launch is never displayed in full.
    pub environment: Vec<(OsString, OsString)>,
}

pub trait Spawner: Send + Sync {
    fn spawn(&self, launch: &Launch) -> io::Result<Box<dyn Running>>;
}

/// A running program with all its child processes. Dropping it kills them without waiting.
pub trait Running: Send + Sync {
    /// Each stream can be taken once.
    fn take_stdin(&mut self) -> Option<OwnedFd>;
    fn take_stdout(&mut self) -> Option<OwnedFd>;
    fn take_stderr(&mut self) -> Option<OwnedFd>;
    /// Becomes readable when the program ends.
    fn end_signal(&self) -> io::Result<OwnedFd>;
    /// Requests termination without waiting.
    fn ask_to_end(&mut self);
    /// Kills the program and all its child processes, and returns the exit. May block briefly.
    fn finish(&mut self) -> io::Result<Exit>;
}

/// The exit of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        Self { code: status.code(), signal: status.signal() }
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(formatter, "exited with code {code}"),
            (None, Some(signal)) => write!(formatter, "was terminated by signal {signal}"),
            (None, None) => write!(formatter, "exited"),
        }
    }
}

/// Starts programs in their own process group, for the command line and tests. They survive when this process is
/// killed.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnGroup;

impl Spawner for OwnGroup {
    fn spawn(&self, launch: &Launch) -> io::Result<Box<dyn Running>> {
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .current_dir(&launch.folder)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        Ok(Box::new(Group { child: command.spawn()?, exit: None }))
    }
}

struct Group {
    child: Child,
    exit: Option<Exit>,
}

impl Group {
    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Signals only before the leader is reaped: until then its process id and group id are not reused.
    fn signal(&self, signal: Signal) {
        if let (None, Some(group)) = (self.exit, self.pid()) {
            // Fails when no process is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Running for Group {
    fn take_stdin(&mut self) -> Option<OwnedFd> {
        self.child.stdin.take().map(Into::into)
    }

    fn take_stdout(&mut self) -> Option<OwnedFd> {
        self.child.stdout.take().map(Into::into)
    }

    fn take_stderr(&mut self) -> Option<OwnedFd> {
        self.child.stderr.take().map(Into::into)
    }

    fn end_signal(&self) -> io::Result<OwnedFd> {
        let pid = self.pid().ok_or_else(|| io::Error::other("the process has no id"))?;
        Ok(pidfd_open(pid, PidfdFlags::NONBLOCK)?)
    }

    fn ask_to_end(&mut self) {
        self.signal(Signal::TERM);
    }

    fn finish(&mut self) -> io::Result<Exit> {
        self.signal(Signal::KILL);
        let exit = match self.exit {
            Some(exit) => exit,
            None => self.child.wait()?.into(),
        };
        self.exit = Some(exit);
        Ok(exit)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Reaps the child, which ends immediately after the kill.
        let _ = self.finish();
    }
}
