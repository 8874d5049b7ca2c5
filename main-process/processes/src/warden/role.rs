//! The warden process.

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

use super::report::{WardenMessage, WardenMessageReader};
use crate::child_setup::{ChildDetachment, ChildSetup, redirect_standard_streams, take_inherited_channel};
use crate::process_tree::{STOP_SIGNALS, signal_descendants, to_pid};
use crate::readiness::timespec;

/// The time that the program gets to end after a stop request, unless main sends another.
pub(crate) const DEFAULT_GRACE_PERIOD: Duration = Duration::from_secs(3);
/// The upper limit for the processes that the program left behind; never longer than the program's own time.
pub(super) const MAX_REST_GRACE_PERIOD: Duration = Duration::from_secs(1);
/// The pause between two rounds of killing.
const KILL_INTERVAL: Duration = Duration::from_millis(20);
/// A process that survives this long belongs to another user or hangs inside the kernel: waiting longer would only make
/// the warden hang as well.
pub(super) const KILLING_LIMIT: Duration = Duration::from_secs(10);

/// As shells do.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
const WARDEN_FAILED: u8 = 125;
const ENDED_BY_SIGNAL: i32 = 128;

#[derive(Debug, Error)]
enum WardenError {
    #[error("No program to run. Usage: draftboard --role warden -- <program> <arguments>")]
    NoProgram,
    #[error("{0}")]
    NoChannel(#[source] io::Error),
    #[error("The warden cannot watch processes here: {0}. The program was not started.")]
    CannotWatch(#[source] io::Error),
    #[error("{} could not be started: {source}. Check its name, its permissions and PATH.", .program.display())]
    NotStarted { program: OsString, source: io::Error },
}

/// Runs `argv` (the program and its arguments, after `--`) until it has ended and none of its processes is
/// left. Returns the program's exit code, or 128 plus the signal that ended it.
///
/// Call it early in a process that does nothing else, from its main thread: it reaps every child of the
/// process and gives up the standard streams to the program.
pub fn run_warden(argv: &[OsString]) -> u8 {
    let argv = argv.strip_prefix(&[OsString::from("--")]).unwrap_or(argv);
    match Warden::begin(argv) {
        Ok(mut warden) => warden.watch(),
        Err(error) => {
            // Standard error is the last resort.
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
    messages: WardenMessageReader,
    /// Readable when a child of the warden has ended.
    child_signals: UnixStream,
    /// Readable after a signal that requests the warden to end.
    end_signals: UnixStream,
    program: u32,
    program_status: Option<i32>,
    grace_period: Duration,
    phase: WardenStopPhase,
}

/// The progress of the stop. Each step signals only processes that got no signal before: to many programs, Terraform
/// among them, a second signal means an immediate end.
#[derive(Debug, Clone, Copy)]
enum WardenStopPhase {
    Running,
    /// The program alone got the stop signals, because it knows in which order to stop the processes that it started.
    StoppingProgram {
        until: Instant,
    },
    StoppingRest {
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
        // Both before the program exists, so that no event is missed.
        set_child_subreaper(Some(getpid())).map_err(|error| WardenError::CannotWatch(error.into()))?;
        let child_signals = signals_as_bytes(&[SIGCHLD]).map_err(WardenError::CannotWatch)?;
        let end_signals = signals_as_bytes(&[SIGTERM, SIGINT, SIGHUP]).map_err(WardenError::CannotWatch)?;

        let mut command = Command::new(program);
        command.args(args);
        ChildSetup { detachment: ChildDetachment::Group, death_signal: Some(Signal::KILL), channel: None }
            .install(&mut command);
        let started = match command.spawn() {
            Ok(started) => started,
            Err(source) => {
                let error_number = source.raw_os_error().unwrap_or(libc::EINVAL);
                send(&mut channel, WardenMessage::NotStarted(error_number));
                return Err(WardenError::NotStarted { program: program.clone(), source });
            }
        };
        let mut warden = Self {
            channel,
            messages: WardenMessageReader::default(),
            child_signals,
            end_signals,
            program: started.id(),
            program_status: None,
            grace_period: DEFAULT_GRACE_PERIOD,
            phase: WardenStopPhase::Running,
        };
        // With open copies here, main would never see the end of the program's output.
        if let Err(error) = redirect_standard_streams() {
            tracing::warn!(%error, "standard streams stay open");
        }
        send(&mut warden.channel, WardenMessage::Started(warden.program.cast_signed()));
        Ok(warden)
    }

    fn watch(&mut self) -> u8 {
        let mut must_end = false;
        loop {
            if self.reap() == RemainingChildren::Nobody {
                break;
            }
            self.advance(must_end);
            if let WardenStopPhase::Killing { until } = self.phase {
                if until <= Instant::now() {
                    break;
                }
                signal_descendants(std::process::id(), &[Signal::KILL], None);
            }
            must_end |= self.wait();
        }
        self.report()
    }

    /// Enters the next phase when the present one timed out or reached its purpose.
    fn advance(&mut self, must_end: bool) {
        let now = Instant::now();
        let program_ended = self.program_status.is_some();
        self.phase = match self.phase {
            WardenStopPhase::Running if program_ended => self.stop_rest(now),
            WardenStopPhase::Running if must_end => self.stop_program(now),
            WardenStopPhase::StoppingProgram { until } if program_ended || until <= now => {
                self.stop_rest(now)
            }
            WardenStopPhase::StoppingRest { until } if until <= now => {
                WardenStopPhase::Killing { until: now + KILLING_LIMIT }
            }
            unchanged => unchanged,
        }
    }

    fn stop_program(&self, now: Instant) -> WardenStopPhase {
        // A child that is not reaped keeps its number.
        if let Some(program) = to_pid(self.program) {
            for signal in STOP_SIGNALS {
                let _ = kill_process(program, signal);
            }
        }
        WardenStopPhase::StoppingProgram { until: now + self.grace_period }
    }

    fn stop_rest(&self, now: Instant) -> WardenStopPhase {
        signal_descendants(std::process::id(), &STOP_SIGNALS, Some(self.program));
        WardenStopPhase::StoppingRest { until: now + MAX_REST_GRACE_PERIOD.min(self.grace_period) }
    }

    /// Reaps every child that has ended. Orphans of the whole tree become children of the warden, so without a child no
    /// process is left anywhere.
    fn reap(&mut self) -> RemainingChildren {
        loop {
            match wait_for_any_child(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if is_pid(pid, self.program) => {
                    self.program_status = Some(status.as_raw())
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return RemainingChildren::Some,
                Err(_) => return RemainingChildren::Nobody,
            }
        }
    }

    /// Sleeps until a child ends, a stop is requested or a phase times out. Returns true when the warden must end.
    fn wait(&mut self) -> bool {
        let now = Instant::now();
        let limit = match self.phase {
            WardenStopPhase::Running => None,
            WardenStopPhase::StoppingProgram { until } | WardenStopPhase::StoppingRest { until } => {
                Some(until.saturating_duration_since(now))
            }
            WardenStopPhase::Killing { .. } => Some(KILL_INTERVAL),
        };
        let mut watched: Vec<BorrowedFd<'_>> = vec![self.child_signals.as_fd()];
        if limit.is_none() {
            // Once stopping, neither matters, and a closed channel is always readable.
            watched.extend([self.channel.as_fd(), self.end_signals.as_fd()]);
        }
        let mut descriptors: Vec<PollFd<'_>> =
            watched.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut descriptors, timespec(limit).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // A warden that cannot watch the program must end it.
            Err(_) => {
                std::thread::sleep(KILL_INTERVAL);
                return true;
            }
        }
        drain(&mut self.child_signals);
        let stop_signalled = drain(&mut self.end_signals);
        let main_is_gone = self.receive();
        stop_signalled || main_is_gone
    }

    /// Reads the messages of main. Returns true when main has closed the channel, or is gone.
    fn receive(&mut self) -> bool {
        let mut bytes = [0_u8; 256];
        loop {
            match self.channel.read(&mut bytes) {
                Ok(0) => return true,
                Ok(count) => {
                    for word in self.messages.push(bytes.get(..count).unwrap_or_default()) {
                        if let WardenMessage::GracePeriod(milliseconds) = word {
                            self.grace_period = Duration::from_millis(milliseconds.unsigned_abs().into());
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
        send(&mut self.channel, WardenMessage::Ended(status));
        let code = if libc::WIFSIGNALED(status) {
            ENDED_BY_SIGNAL + libc::WTERMSIG(status)
        } else {
            libc::WEXITSTATUS(status)
        };
        u8::try_from(code).unwrap_or(WARDEN_FAILED)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum RemainingChildren {
    Some,
    Nobody,
}

fn is_pid(pid: Pid, number: u32) -> bool {
    to_pid(number) == Some(pid)
}

/// Fails only when main is gone.
fn send(channel: &mut UnixStream, word: WardenMessage) {
    let _ = channel.write_all(&word.to_bytes());
}

/// Returns a stream that becomes readable when one of the signals arrives.
fn signals_as_bytes(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

/// Returns true if there was anything to read.
fn drain(signals: &mut UnixStream) -> bool {
    let mut bytes = [0_u8; 64];
    let mut any = false;
    while signals.read(&mut bytes).is_ok_and(|count| count > 0) {
        any = true;
    }
    any
}
