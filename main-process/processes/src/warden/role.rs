//! The warden itself.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait as wait_for_any_child,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use thiserror::Error;

use super::report::{Word, Words};
use crate::child_setup::{ChildSetup, Detachment, let_go_of_standard_streams, take_inherited_channel};
use crate::process_tree::{STOP_SIGNALS, signal_descendants, to_pid};
use crate::readiness::timespec;

/// How long the program may take to end by itself, unless main says otherwise.
pub(crate) const DEFAULT_GRACE_PERIOD: Duration = Duration::from_secs(3);
/// How long what the program left behind may take at most; never longer than the program itself.
pub(super) const MAX_REST_GRACE_PERIOD: Duration = Duration::from_secs(1);
/// Between two rounds of killing, if nothing dies in the meantime.
const NEXT_ROUND: Duration = Duration::from_millis(20);
/// A process that survives this much killing belongs to another user or hangs inside the kernel: waiting
/// longer would only make the warden hang as well.
pub(super) const KILLING_LIMIT: Duration = Duration::from_secs(10);

/// As shells do.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
const WARDEN_FAILED: u8 = 125;
const ENDED_BY_SIGNAL: i32 = 128;

#[derive(Debug, Error)]
enum WardenError {
    #[error("no program to run; usage: draftboard --role warden -- <program> <arguments>")]
    NoProgram,
    #[error("{0}")]
    NoChannel(#[source] io::Error),
    #[error("the warden cannot watch over processes here: {0}; the program was not started")]
    CannotWatch(#[source] io::Error),
    #[error("{} could not be started: {source}; check its name, its rights and PATH", .program.display())]
    NotStarted { program: OsString, source: io::Error },
}

/// Runs `argv` (the program and its arguments, what follows `--`) until it has ended and nothing of it is
/// left. Returns the program's exit code, or 128 and the signal that ended it.
///
/// Call it early in a process that does nothing else, from its main thread: it reaps every child of the
/// process and gives up the standard streams to the program.
pub fn run_warden(argv: &[OsString]) -> u8 {
    let argv = argv.strip_prefix(&[OsString::from("--")]).unwrap_or(argv);
    match Warden::begin(argv) {
        Ok(mut warden) => warden.watch(),
        Err(error) => {
            // Nobody is left to tell when even this fails.
            let _ = writeln!(io::stderr(), "draftboard: {error}");
            match error {
                WardenError::NotStarted { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                    NOT_FOUND
                }
                WardenError::NotStarted { .. } => NOT_EXECUTABLE,
                _ => WARDEN_FAILED,
            }
        }
    }
}

struct Warden {
    channel: UnixStream,
    words: Words,
    /// Readable when a child of ours has ended.
    child_signals: UnixStream,
    /// Readable when somebody asked us to end by a signal.
    end_signals: UnixStream,
    program: u32,
    program_status: Option<i32>,
    grace: Duration,
    phase: Phase,
}

/// How far the end has come. Each step asks only those that were not asked before: to many programs,
/// Terraform among them, a second signal means "drop everything now".
#[derive(Debug, Clone, Copy)]
enum Phase {
    Running,
    /// The program alone was asked, because it knows best in which order to stop what it has started.
    ProgramAsked {
        until: Instant,
    },
    RestAsked {
        until: Instant,
    },
    Killing {
        until: Instant,
    },
}

impl Warden {
    fn begin(argv: &[OsString]) -> Result<Self, WardenError> {
        let (program, args) = argv.split_first().ok_or(WardenError::NoProgram)?;
        let mut channel = take_inherited_channel().map_err(WardenError::NoChannel)?;
        channel.set_nonblocking(true).map_err(WardenError::CannotWatch)?;
        // Both before the program exists, so that nothing it does can be missed.
        set_child_subreaper(Some(getpid())).map_err(|error| WardenError::CannotWatch(error.into()))?;
        let child_signals = signals_as_bytes(&[SIGCHLD]).map_err(WardenError::CannotWatch)?;
        let end_signals = signals_as_bytes(&[SIGTERM, SIGINT, SIGHUP]).map_err(WardenError::CannotWatch)?;

        let mut command = Command::new(program);
        command.args(args);
        ChildSetup { detachment: Detachment::Group, death_signal: Some(Signal::KILL), channel: None }
            .install(&mut command);
        let started = match command.spawn() {
            Ok(started) => started,
            Err(source) => {
                let error_number = source.raw_os_error().unwrap_or(libc::EINVAL);
                tell(&mut channel, Word::NotStarted(error_number));
                return Err(WardenError::NotStarted { program: program.clone(), source });
            }
        };
        let mut warden = Self {
            channel,
            words: Words::default(),
            child_signals,
            end_signals,
            program: started.id(),
            program_status: None,
            grace: DEFAULT_GRACE_PERIOD,
            phase: Phase::Running,
        };
        // If we kept them, main would never see the program close its output.
        if let Err(error) = let_go_of_standard_streams() {
            tracing::warn!(%error, "standard streams kept");
        }
        tell(&mut warden.channel, Word::Started(warden.program.cast_signed()));
        Ok(warden)
    }

    fn watch(&mut self) -> u8 {
        let mut must_end = false;
        loop {
            if self.reap() == Left::Nobody {
                break;
            }
            self.advance(must_end);
            if let Phase::Killing { until } = self.phase {
                if until <= Instant::now() {
                    break;
                }
                signal_descendants(std::process::id(), &[Signal::KILL], None);
            }
            must_end |= self.wait();
        }
        self.report()
    }

    /// Moves on when the time of a phase is over or its purpose is reached.
    fn advance(&mut self, must_end: bool) {
        let now = Instant::now();
        let program_ended = self.program_status.is_some();
        self.phase = match self.phase {
            Phase::Running if program_ended => self.ask_the_rest(now),
            Phase::Running if must_end => self.ask_the_program(now),
            Phase::ProgramAsked { until } if program_ended || until <= now => self.ask_the_rest(now),
            Phase::RestAsked { until } if until <= now => Phase::Killing { until: now + KILLING_LIMIT },
            unchanged => unchanged,
        }
    }

    fn ask_the_program(&self, now: Instant) -> Phase {
        // It is our child and not reaped yet, so its number is still its own.
        if let Some(program) = to_pid(self.program) {
            for signal in STOP_SIGNALS {
                let _ = kill_process(program, signal);
            }
        }
        Phase::ProgramAsked { until: now + self.grace }
    }

    fn ask_the_rest(&self, now: Instant) -> Phase {
        signal_descendants(std::process::id(), &STOP_SIGNALS, Some(self.program));
        Phase::RestAsked { until: now + MAX_REST_GRACE_PERIOD.min(self.grace) }
    }

    /// Takes note of everybody who has ended. Orphans of the whole tree become our children, so when we have
    /// none, nothing is left anywhere.
    fn reap(&mut self) -> Left {
        loop {
            match wait_for_any_child(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if is(pid, self.program) => {
                    self.program_status = Some(status.as_raw())
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Left::Some,
                Err(_) => return Left::Nobody,
            }
        }
    }

    /// Sleeps until a child ends, somebody wants us to end, or a phase is over. True if we are to end.
    fn wait(&mut self) -> bool {
        let now = Instant::now();
        let limit = match self.phase {
            Phase::Running => None,
            Phase::ProgramAsked { until } | Phase::RestAsked { until } => {
                Some(until.saturating_duration_since(now))
            }
            Phase::Killing { .. } => Some(NEXT_ROUND),
        };
        let mut watched: Vec<BorrowedFd<'_>> = vec![self.child_signals.as_fd()];
        if limit.is_none() {
            // Later on they have nothing new to say, and an ended channel would never let us sleep.
            watched.extend([self.channel.as_fd(), self.end_signals.as_fd()]);
        }
        let mut descriptors: Vec<PollFd<'_>> =
            watched.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut descriptors, timespec(limit).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Never seen; but going blind must end the program, not leave it running unwatched.
            Err(_) => {
                std::thread::sleep(NEXT_ROUND);
                return true;
            }
        }
        drain(&mut self.child_signals);
        let asked_by_signal = drain(&mut self.end_signals);
        let main_is_gone = self.listen();
        asked_by_signal || main_is_gone
    }

    /// Takes in what main says. True when main has closed the channel, or is gone.
    fn listen(&mut self) -> bool {
        let mut bytes = [0_u8; 256];
        loop {
            match self.channel.read(&mut bytes) {
                Ok(0) => return true,
                Ok(count) => {
                    for word in self.words.push(bytes.get(..count).unwrap_or_default()) {
                        if let Word::Grace(milliseconds) = word {
                            self.grace = Duration::from_millis(milliseconds.unsigned_abs().into());
                        }
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
            }
        }
    }

    fn report(&mut self) -> u8 {
        let Some(status) = self.program_status else { return WARDEN_FAILED };
        tell(&mut self.channel, Word::Ended(status));
        let code = if libc::WIFSIGNALED(status) {
            ENDED_BY_SIGNAL + libc::WTERMSIG(status)
        } else {
            libc::WEXITSTATUS(status)
        };
        u8::try_from(code).unwrap_or(WARDEN_FAILED)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Left {
    Some,
    Nobody,
}

fn is(pid: Pid, number: u32) -> bool {
    to_pid(number) == Some(pid)
}

/// Main may be gone, and then there is nobody to tell.
fn tell(channel: &mut UnixStream, word: Word) {
    let _ = channel.write_all(&word.to_bytes());
}

/// Turns signals into bytes that `poll` can wait for.
fn signals_as_bytes(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

/// True if there was anything.
fn drain(signals: &mut UnixStream) -> bool {
    let mut bytes = [0_u8; 64];
    let mut any = false;
    while signals.read(&mut bytes).is_ok_and(|count| count > 0) {
        any = true;
    }
    any
}
