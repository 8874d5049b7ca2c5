//! Servers under a warden each, so that nothing of them outlives this process.

use processes::{
    Environment, GuardError, GuardedChild, GuardedProgram, StdStream, WardenCommand, spawn_guarded,
};
use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::PathBuf,
    time::Duration,
};
use upstreams::{Exit, Launch, Running, Spawner};

/// How long a server may take to end when this process is gone without having asked it. How long it may take otherwise, its
/// configuration says.
const LAST_GRACE: Duration = Duration::from_millis(300);

pub(super) struct Wardens {
    command: WardenCommand,
}

impl Wardens {
    /// `exe` is the executable that plays the warden.
    pub(super) fn new(exe: impl Into<PathBuf>) -> Self {
        Self { command: WardenCommand::new(exe) }
    }
}

impl Spawner for Wardens {
    fn spawn(&self, launch: &Launch) -> io::Result<Box<dyn Running>> {
        let environment = launch
            .environment
            .iter()
            .fold(Environment::clean(), |environment, (name, value)| environment.with(name, value));
        let program = GuardedProgram {
            env: environment,
            current_dir: Some(launch.folder.clone()),
            stdin: StdStream::Pipe,
            stdout: StdStream::Pipe,
            stderr: StdStream::Pipe,
            grace: LAST_GRACE,
            ..GuardedProgram::new(&launch.program, &launch.arguments)
        };
        match spawn_guarded(&self.command, &program) {
            Ok(child) => Ok(Box::new(Guarded(child))),
            Err(GuardError::Program { source, .. }) => Err(source),
            Err(other) => Err(io::Error::other(other)),
        }
    }
}

struct Guarded(GuardedChild);

impl Running for Guarded {
    fn take_stdin(&mut self) -> Option<OwnedFd> {
        self.0.take_stdin().map(Into::into)
    }

    fn take_stdout(&mut self) -> Option<OwnedFd> {
        self.0.take_stdout().map(Into::into)
    }

    fn take_stderr(&mut self) -> Option<OwnedFd> {
        self.0.take_stderr().map(Into::into)
    }

    fn end_signal(&self) -> io::Result<OwnedFd> {
        self.0.as_fd().try_clone_to_owned()
    }

    fn ask_to_end(&mut self) {
        self.0.ask_program();
    }

    fn finish(&mut self) -> io::Result<Exit> {
        self.0.kill().map(Exit::from)
    }
}
