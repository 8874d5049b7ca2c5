//! Starting the program in a process group of its own. Who starts it is an argument: main guards its children so that they
//! die with it.

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

/// How often a child that is waited for with a limit is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// A program to start. It reads nothing and has two pipes to write to.
#[derive(Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub folder: PathBuf,
    /// All of it; nothing else is inherited.
    pub environment: Vec<(OsString, OsString)>,
}

pub trait Spawner: Send + Sync {
    fn spawn(&self, launch: &Launch) -> io::Result<Box<dyn Running>>;
}

/// A program that runs, with all that it has started.
pub trait Running: Send {
    /// Present once; so is the other.
    fn take_stdout(&mut self) -> Option<Box<dyn Read + Send>>;
    fn take_stderr(&mut self) -> Option<Box<dyn Read + Send>>;
    /// Waits at most `limit` and returns the exit code, if it has ended: `Some(None)` when a signal ended it.
    fn wait(&mut self, limit: Duration) -> io::Result<Option<Option<i32>>>;
    /// Asks it to end, without waiting.
    fn ask_to_end(&mut self) -> io::Result<()>;
    /// Ends it and all that it has started at once.
    fn kill(&mut self) -> io::Result<()>;
}

/// Starts programs in a group of their own, for the command line and for tests.
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
            // Nobody waits for it any more; a child that is left would be a surprise.
            let _ = self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Runs a program to its end and returns what it printed, up to `most` bytes, within `limit`.
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
            // The other pipe must not fill up; what is said there is of no use here.
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
        Err(_) => return Err(failed(io::Error::other("its output could not be read"))),
    };
    if bytes.len() as u64 > most {
        return Err(RunError::TooMuch { program: launch.program.clone(), most });
    }
    Ok((code == Some(Some(0)), bytes))
}
