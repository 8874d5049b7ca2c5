//! Starting a program so that it and all that it starts can be ended. Who starts it is an argument: main guards its
//! children so that they die with it.

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

/// A program to start, with pipes for all three of its standard streams.
#[derive(Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub folder: PathBuf,
    /// All of it; nothing else is inherited. May hold secrets, so a launch is never shown whole.
    pub environment: Vec<(OsString, OsString)>,
}

pub trait Spawner: Send + Sync {
    fn spawn(&self, launch: &Launch) -> io::Result<Box<dyn Running>>;
}

/// A program that runs, with all that it has started. Dropping it ends them, without waiting.
pub trait Running: Send + Sync {
    /// Each is present once.
    fn take_stdin(&mut self) -> Option<OwnedFd>;
    fn take_stdout(&mut self) -> Option<OwnedFd>;
    fn take_stderr(&mut self) -> Option<OwnedFd>;
    /// Readable once the program has ended.
    fn end_signal(&self) -> io::Result<OwnedFd>;
    /// Asks it to end, without waiting.
    fn ask_to_end(&mut self);
    /// Ends what is left of it and of all that it has started, and tells how the program ended. May block for a moment.
    fn finish(&mut self) -> io::Result<Exit>;
}

/// How a program ended.
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
            (Some(code), _) => write!(formatter, "ended with code {code}"),
            (None, Some(signal)) => write!(formatter, "was ended by signal {signal}"),
            (None, None) => write!(formatter, "ended"),
        }
    }
}

/// Starts programs in a group of their own, for the command line and for tests. They do not end with us when we are killed.
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

    /// Only before the leader is reaped: until then its number, and the group's, belong to nobody else.
    fn signal(&self, signal: Signal) {
        if let (None, Some(group)) = (self.exit, self.pid()) {
            // Fails when nobody is left, which is what is wanted.
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
        let pid = self.pid().ok_or_else(|| io::Error::other("the process has no number"))?;
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
        // A child that nobody waits for would be a surprise. What was killed ends at once.
        let _ = self.finish();
    }
}
