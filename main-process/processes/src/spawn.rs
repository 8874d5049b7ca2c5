//! Starting a role of this executable as a child with a private channel.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{PidfdFlags, Signal, kill_process_group, pidfd_open};
use thiserror::Error;

use super::child_setup::{Apart, ChildSetup, take_inherited_channel};
use super::process_tree::to_pid;
use super::readiness::readable_within;

/// Which of our environment variables a child sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EnvPolicy {
    /// All of them: for our own trusted roles, which need the display, the locale and so on.
    Inherit,
    /// None: for what runs content of others.
    #[default]
    Clean,
    /// Only these names, where set.
    Keep(Vec<OsString>),
}

/// The environment of a child: what it keeps of ours, and what is set for it. `Debug` shows no values,
/// because they may be secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    pub policy: EnvPolicy,
    pub set: Vec<(OsString, OsString)>,
}

impl Environment {
    pub fn inherit() -> Self {
        Self { policy: EnvPolicy::Inherit, set: Vec::new() }
    }

    pub fn clean() -> Self {
        Self::default()
    }

    pub fn keep<Name: Into<OsString>>(names: impl IntoIterator<Item = Name>) -> Self {
        Self { policy: EnvPolicy::Keep(names.into_iter().map(Into::into).collect()), set: Vec::new() }
    }

    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.push((name.into(), value.into()));
        self
    }

    pub(crate) fn apply(&self, command: &mut Command) {
        match &self.policy {
            EnvPolicy::Inherit => {}
            EnvPolicy::Clean => drop(command.env_clear()),
            EnvPolicy::Keep(names) => {
                let kept = names.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value)));
                command.env_clear().envs(kept);
            }
        }
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsStr> = self.set.iter().map(|(name, _)| name.as_os_str()).collect();
        f.debug_struct("Environment").field("policy", &self.policy).field("set", &names).finish()
    }
}

/// Where a standard stream of a child leads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StdStream {
    #[default]
    Null,
    /// To the same place as ours.
    Inherit,
    /// To us; somebody has to read it, or the child stands still once the pipe is full.
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

/// Why a child could not be started.
#[derive(Debug, Error)]
pub enum SpawnError {
    #[error(
        "a new process could not be given a channel: {0}; close programs or raise the limit of open files"
    )]
    Channel(#[source] io::Error),
    #[error("{exe} could not be started: {source}; check that it exists and may be executed")]
    Start { exe: PathBuf, source: io::Error },
    #[error("a new process could not be watched and was ended: {0}; Linux 5.11 or newer is needed")]
    Watch(#[source] io::Error),
}

/// Starts a program that goes on when we end: in a session of its own, with our environment and nothing else of ours. What
/// it says goes to the log.
pub fn start_apart(exe: &Path, args: &[&OsStr], log: File) -> Result<(), SpawnError> {
    let mut command = Command::new(exe);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    ChildSetup { apart: Apart::Session, death_signal: None, channel: None }.install(&mut command);
    let start = |source| SpawnError::Start { exe: exe.to_owned(), source };
    let mut child = command.spawn().map_err(start)?;
    // Somebody has to take note of its end while we are there.
    std::thread::Builder::new()
        .name("started".to_owned())
        .spawn(move || child.wait())
        .map(drop)
        .map_err(start)
}

/// A running role. Dropping it kills it together with its process group, so none is ever forgotten.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    pidfd: OwnedFd,
    channel: UnixStream,
    status: Option<ExitStatus>,
}

/// Starts `exe` as a child in a session of its own with a channel to us as its descriptor 3, no standard
/// input or output, and no other descriptor of ours.
///
/// Call it from a thread that lives as long as main (the [supervisor](super::supervisor) does): the kernel
/// ends the child when the *thread* that started it ends, not only when the process does.
pub fn spawn_role(
    exe: &Path,
    args: &[OsString],
    environment: &Environment,
    stderr: StdStream,
) -> Result<Child, SpawnError> {
    let (ours, theirs) = UnixStream::pair().map_err(SpawnError::Channel)?;
    let mut command = Command::new(exe);
    // Standard output stays closed to roles: in some of main's modes it carries a protocol.
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    environment.apply(&mut command);
    ChildSetup { apart: Apart::Session, death_signal: Some(Signal::KILL), channel: Some(theirs.into()) }
        .install(&mut command);
    let (process, pidfd) = start_watched(command)?;
    Ok(Child { process, pidfd, channel: ours, status: None })
}

/// Starts `command` and pins the new process, so that waiting and signalling can never meet another one.
pub(crate) fn start_watched(mut command: Command) -> Result<(std::process::Child, OwnedFd), SpawnError> {
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

impl Child {
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    pub fn channel(&self) -> &UnixStream {
        &self.channel
    }

    /// Present once, if the child was started with [`StdStream::Pipe`].
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.process.stderr.take()
    }

    /// Waits until the child has ended, at most `limit`; `None` waits without end. What the child left behind
    /// in its process group is killed before its number can be used again.
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() && readable_within(&self.pidfd, limit)? {
            self.kill_group();
            self.status = Some(self.process.wait()?);
        }
        Ok(self.status)
    }

    /// Ends the child and everything in its process group at once. Does nothing once the child was waited
    /// for.
    pub fn kill_group(&self) {
        if self.status.is_none()
            && let Some(group) = to_pid(self.pid())
        {
            // Fails only when the group is empty, which is what is wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Readable once the child has ended.
impl AsFd for Child {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.kill_group();
            // Fails only when there is nothing to wait for.
            let _ = self.process.wait();
        }
    }
}

/// For the child: the channel to main that it was started with. Works once per process; fails in a process
/// that was not started by [`spawn_role`]. End of file on it means that main is gone or wants this process to
/// end.
pub fn inherited_channel() -> io::Result<UnixStream> {
    take_inherited_channel()
}

#[cfg(test)]
mod tests {
    use super::{EnvPolicy, Environment};
    use std::ffi::OsStr;
    use std::process::Command;

    #[test]
    fn debug_output_shows_no_values() {
        let environment = Environment::keep(["PATH"]).with("API_KEY", "s3cret");
        let shown = format!("{environment:?}");
        assert!(shown.contains("API_KEY") && shown.contains("PATH"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn only_kept_and_set_names_arrive() {
        let mut command = Command::new("/usr/bin/env");
        Environment::keep(["PATH", "NOT_SET_ANYWHERE"]).with("ADDED", "1").apply(&mut command);
        let mut names: Vec<&OsStr> = command.get_envs().map(|(name, _)| name).collect();
        names.sort();
        assert_eq!(names, ["ADDED", "PATH"]);
        assert_eq!(Environment::default().policy, EnvPolicy::Clean);
    }
}
