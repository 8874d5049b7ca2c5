//! Starting a role of this executable as a child with a private channel.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::child_setup::{ChildDetachment, ChildSetup, take_inherited_channel};
use super::environment::Environment;
use super::process_group::{ProcessGroup, SpawnError, StdStream};

/// A running role: its processes and the channel to it.
#[derive(Debug)]
pub struct RoleProcess {
    pub process: ProcessGroup,
    pub channel: UnixStream,
}

/// Starts `exe` as a child in a session of its own with a channel to this process as its descriptor 3, no standard
/// input or output, and no other descriptor.
///
/// Call it from a thread that lives as long as main (the [supervisor](super::supervisor) does): the kernel
/// ends the child when the *thread* that started it ends, not only when the process does.
pub fn spawn_role(
    exe: &Path,
    args: &[OsString],
    environment: &Environment,
    stderr: StdStream,
) -> Result<RoleProcess, SpawnError> {
    let (channel, theirs) = UnixStream::pair().map_err(SpawnError::Channel)?;
    let mut command = Command::new(exe);
    // Standard output stays closed to roles: in some of main's modes it carries a protocol.
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    environment.apply(&mut command);
    ChildSetup {
        detachment: ChildDetachment::Session,
        death_signal: Some(Signal::KILL),
        channel: Some(theirs.into()),
    }
    .install(&mut command);
    Ok(RoleProcess { process: ProcessGroup::start(command)?, channel })
}

/// Starts a program that outlives this process: in a session of its own, with our environment and no descriptor but `log`
/// as its standard error.
pub fn spawn_detached(exe: &Path, args: &[&OsStr], log: File) -> Result<(), SpawnError> {
    let mut command = Command::new(exe);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    ChildSetup { detachment: ChildDetachment::Session, death_signal: None, channel: None }
        .install(&mut command);
    let failed = |source| SpawnError::Start { exe: exe.to_owned(), source };
    let mut child = command.spawn().map_err(failed)?;
    // Reaps it when it ends before this process does.
    std::thread::Builder::new()
        .name("started".to_owned())
        .spawn(move || child.wait())
        .map(drop)
        .map_err(failed)
}

/// For the child: the channel to main that it was started with. Works once per process; fails in a process
/// that was not started by [`spawn_role`]. End of file on it means that main is gone or wants this process to
/// end.
pub fn inherited_channel() -> io::Result<UnixStream> {
    take_inherited_channel()
}
