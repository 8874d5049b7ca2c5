//! Starts the program in its own process group. The spawner is an argument: main guards its children so that they
//! end with it.

use super::start::RunError;
use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    ffi::OsString,
    io::{self, Read},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The interval for polling a child with a time limit.
const GLANCE: Duration = Duration::from_millis(20);

/// A program to start, without stdin and with pipes for stdout and stderr.
#[derive(Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub folder: PathBuf,
    /// The complete environment; nothing else is inherited.
    pub environment: Vec<(OsString, OsString)>,
}

pub trait Spawner: Send + Sync {
    fn spawn(&self, launch: &Launch) -> io::Result<Box<dyn Running>>;
}

/// A running program with its child processes.
pub trait Running: Send {
    /// Returns the pipe on the first call only; `take_stderr` likewise.
    fn take_stdout(&mut self) -> Option<Box<dyn Read + Send>>;
    fn take_stderr(&mut self) -> Option<Box<dyn Read + Send>>;
    /// Waits up to `limit` and returns the exit code when the program has ended: `Some(None)` when a signal ended
    /// it.
    fn wait(&mut self, limit: Duration) -> io::Result<Option<Option<i32>>>;
    /// Requests the program to stop, without waiting.
    fn ask_to_end(&mut self) -> io::Result<()>;
    /// Kills the program and its child processes.
    fn kill(&mut self) -> io::Result<()>;
}

/// Starts programs in their own process group, for the command line and tests.
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
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        Ok(Box::new(Group { child: command.spawn()?, ended: None }))
    }
}

struct Group {
    child: Child,
    ended: Option<Option<i32>>,
}

impl Group {
    fn signal(&self, signal: Signal) -> io::Result<()> {
        if self.ended.is_some() {
            return Ok(());
        }
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        group.map_or(Ok(()), |group| kill_process_group(group, signal).map_err(io::Error::from))
    }
}

impl Running for Group {
    fn take_stdout(&mut self) -> Option<Box<dyn Read + Send>> {
        self.child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>)
    }

    fn take_stderr(&mut self) -> Option<Box<dyn Read + Send>> {
        self.child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>)
    }

    fn wait(&mut self, limit: Duration) -> io::Result<Option<Option<i32>>> {
        let start = Instant::now();
        while self.ended.is_none() {
            if let Some(status) = self.child.try_wait()? {
                self.ended = Some(status.code());
            } else if start.elapsed() >= limit {
                return Ok(None);
            } else {
                std::thread::sleep(GLANCE);
            }
        }
        Ok(self.ended)
    }

    fn ask_to_end(&mut self) -> io::Result<()> {
        self.signal(Signal::INT)
    }

    fn kill(&mut self) -> io::Result<()> {
        self.signal(Signal::KILL)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.ended.is_none() {
            // The child has no owner any more, so it is killed.
            let _ = self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Runs a program to completion and returns its stdout of at most `most` bytes, within `limit`.
pub(crate) fn capture(
    spawner: &dyn Spawner,
    launch: &Launch,
    most: u64,
    limit: Duration,
) -> Result<(bool, Vec<u8>), RunError> {
    let failed = |source| RunError::Start { program: launch.program.clone(), source };
    let mut running = spawner.spawn(launch).map_err(failed)?;
    let stdout = running.take_stdout();
    let stderr = running.take_stderr();
    let reading = std::thread::Builder::new()
        .name("terraform-capture".to_owned())
        .spawn(move || {
            // Drains stderr so that the pipe does not fill up; its content is not needed.
            let errors =
                std::thread::spawn(move || stderr.map(|mut pipe| io::copy(&mut pipe, &mut io::sink())));
            let mut bytes = Vec::new();
            let read = stdout.map(|pipe| pipe.take(most + 1).read_to_end(&mut bytes));
            drop(errors);
            read.transpose().map(|_| bytes)
        })
        .map_err(failed)?;
    let code = running.wait(limit).map_err(failed)?;
    if code.is_none() {
        running.kill().map_err(failed)?;
        let _ = running.wait(Duration::from_secs(5));
        return Err(RunError::TooSlow { program: launch.program.clone(), limit });
    }
    let bytes = match reading.join() {
        Ok(bytes) => bytes.map_err(failed)?,
        Err(_) => return Err(failed(io::Error::other("cannot read its output"))),
    };
    if bytes.len() as u64 > most {
        return Err(RunError::TooMuch { program: launch.program.clone(), most });
    }
    Ok((code == Some(Some(0)), bytes))
}
