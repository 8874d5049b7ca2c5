//! Starting the process of a session.

use processes::{Environment, ProcessGroup, StdStream, spawn_role};
use std::{ffi::OsString, os::unix::net::UnixStream, path::PathBuf, process::ChildStderr};

/// A process that was started, and the one way to it.
pub(crate) struct Spawned {
    pub(crate) channel: UnixStream,
    pub(crate) stderr: Option<ChildStderr>,
    /// None where somebody else looks after it.
    pub(crate) child: Option<ProcessGroup>,
}

pub(crate) trait Spawner: Send {
    /// Called on the thread that lives as long as the process may: the kernel ends a child with the thread it came from.
    fn spawn(&self) -> Result<Spawned, String>;

    /// The build that the process must be of.
    fn build(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }
}

/// The preview role of an executable: no environment, no descriptor but its channel and a pipe for its last words.
pub(crate) struct Roles(pub(crate) PathBuf);

impl Spawner for Roles {
    fn spawn(&self) -> Result<Spawned, String> {
        let arguments = [OsString::from("--role"), OsString::from("preview")];
        let mut role = spawn_role(&self.0, &arguments, &Environment::clean(), StdStream::Pipe)
            .map_err(|error| error.to_string())?;
        let stderr = role.process.take_stderr();
        Ok(Spawned { channel: role.channel, stderr, child: Some(role.process) })
    }
}
