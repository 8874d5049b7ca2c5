//! Starting the process of a session.

use processes::{Environment, ProcessGroup, SpawnError, StdStream, spawn_role};
use std::{ffi::OsString, os::unix::net::UnixStream, path::PathBuf};

/// A started process and the channel to it.
pub struct PreviewProcess {
    pub channel: UnixStream,
    /// `None` where a test plays the process.
    pub process: Option<ProcessGroup>,
}

type StartPreviewFn = Box<dyn Fn() -> Result<PreviewProcess, SpawnError> + Send>;

/// Starts preview processes, on the sessions' thread: the kernel ends a child with the thread that started it.
pub struct PreviewLauncher {
    /// The build that each process must report.
    pub(crate) build: String,
    pub(crate) start: StartPreviewFn,
}

impl PreviewLauncher {
    pub fn new(build: &str, start: impl Fn() -> Result<PreviewProcess, SpawnError> + Send + 'static) -> Self {
        Self { build: build.to_owned(), start: Box::new(start) }
    }

    /// The preview role of an executable: no environment, no descriptor but its channel and a pipe for standard error.
    pub fn of_role(exe: PathBuf) -> Self {
        Self::new(env!("CARGO_PKG_VERSION"), move || {
            let arguments = [OsString::from("--role"), OsString::from("preview")];
            let role = spawn_role(&exe, &arguments, &Environment::clean(), StdStream::Pipe)?;
            Ok(PreviewProcess { channel: role.channel, process: Some(role.process) })
        })
    }
}
