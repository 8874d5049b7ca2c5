//! Runs under a warden, so that nothing of a run outlives this process.

use processes::{
    Environment, GuardError, GuardedChild, GuardedProgram, StdStream, WardenCommand, spawn_guarded,
};
use std::{
    io::{self, Read},
    path::PathBuf,
    time::Duration,
};
use terraform::run::{Launch, Running, Spawner};

/// Terraform finishes what it is at and writes its state when it is asked to end; a cloud can be slow. This is also how
/// long it may take when this process is gone.
const GRACE: Duration = Duration::from_secs(120);

/// Starts each program under a warden of its own.
pub struct Wardens {
    command: WardenCommand,
}

impl Wardens {
    /// `exe` is the executable that plays the warden.
    pub fn new(exe: impl Into<PathBuf>) -> Self {
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
            stdout: StdStream::Pipe,
            stderr: StdStream::Pipe,
            grace: GRACE,
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
    fn take_stdout(&mut self) -> Option<Box<dyn Read + Send>> {
        self.0.take_stdout().map(|stream| Box::new(stream) as Box<dyn Read + Send>)
    }

    fn take_stderr(&mut self) -> Option<Box<dyn Read + Send>> {
        self.0.take_stderr().map(|stream| Box::new(stream) as Box<dyn Read + Send>)
    }

    fn wait(&mut self, limit: Duration) -> io::Result<Option<Option<i32>>> {
        Ok(self.0.wait(Some(limit))?.map(|status| status.code()))
    }

    fn ask_to_end(&mut self) -> io::Result<()> {
        self.0.ask_to_end();
        Ok(())
    }

    fn kill(&mut self) -> io::Result<()> {
        self.0.kill().map(drop)
    }
}
