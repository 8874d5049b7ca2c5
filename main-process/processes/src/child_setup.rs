//! The only unsafe code for processes: the steps between `fork` and `exec`, and descriptor 3.
#![allow(unsafe_code, reason = "pre_exec, dup2 and taking over an inherited descriptor have no safe form")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_getfd, fcntl_setfd};
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setpgid, setsid};

/// The descriptor of a role's channel to main.
const CHANNEL_FD: RawFd = 3;

/// Separates a child from its parent, so that the child can be signalled as a whole and Ctrl-C in a terminal reaches the
/// parent alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildDetachment {
    Session,
    Group,
}

/// The steps of a child before it executes the new program.
pub(crate) struct ChildSetup {
    pub(crate) detachment: ChildDetachment,
    /// Sent by the kernel when the *thread* that started the child ends.
    pub(crate) death_signal: Option<Signal>,
    /// Becomes descriptor 3. No higher descriptor is inherited.
    pub(crate) channel: Option<OwnedFd>,
}

impl ChildSetup {
    /// The command owns the child's end of the channel afterwards: drop it after spawning, so that the child holds the
    /// only one and its death closes the channel.
    pub(crate) fn install(self, command: &mut Command) {
        if self.channel.is_some() {
            reserve_channel_fd();
        }
        let parent = getpid();
        let steps = move || {
            match self.detachment {
                ChildDetachment::Session => setsid().map(drop)?,
                ChildDetachment::Group => setpgid(None, None)?,
            }
            if let Some(signal) = self.death_signal {
                set_parent_process_death_signal(Some(signal))?;
                // The parent may have died before the line above: then the signal never comes.
                if getppid() != Some(parent) {
                    // SAFETY: `_exit` only ends the process; it runs no handlers and touches no memory.
                    unsafe { libc::_exit(1) }
                }
            }
            let mut first_unwanted = CHANNEL_FD;
            if let Some(channel) = &self.channel {
                place_channel(channel.as_raw_fd())?;
                first_unwanted += 1;
            }
            close_on_exec_from(first_unwanted)
        };
        // SAFETY: `steps` runs in the forked child, where only async-signal-safe calls are allowed because
        // other threads' locks (the allocator's above all) may be held for ever. It makes system calls only:
        // rustix's are direct, `dup2`, `fcntl`, `syscall` and `_exit` of libc are async-signal-safe. It
        // allocates nothing (errors are bare error numbers), takes no lock, and uses only values that were
        // moved into it before the fork.
        unsafe { command.pre_exec(steps) };
    }
}

fn place_channel(channel: RawFd) -> io::Result<()> {
    if channel == CHANNEL_FD {
        // `dup2` onto itself would leave close-on-exec set, and the child would find nothing.
        // SAFETY: `channel` is open, because the setup that owns it is alive while its closure runs.
        let channel = unsafe { BorrowedFd::borrow_raw(channel) };
        return Ok(fcntl_setfd(channel, FdFlags::empty())?);
    }
    // SAFETY: plain system call on numbers. In the child, whatever descriptor 3 was belongs to nobody: it is
    // either the placeholder of `reserve_channel_fd` or a copy of a parent's descriptor that would close at
    // exec anyway.
    if unsafe { libc::dup2(channel, CHANNEL_FD) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Marks the descriptors instead of closing them: the standard library needs its own pipe to report a failed exec.
fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    // SAFETY: plain system call on numbers. Called by number because the C library's wrapper is newer than
    // the kernel call, and the marked descriptors stay usable until exec.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Keeps descriptor 3 of this process occupied for good.
///
/// If it were free, the standard library's own report pipe could land on it, and placing the channel there in
/// the child would cut that pipe: a failed exec would then look like a success.
fn reserve_channel_fd() {
    static PLACEHOLDER: Mutex<Option<OwnedFd>> = Mutex::new(None);
    let Ok(mut placeholder) = PLACEHOLDER.lock() else { return };
    if placeholder.is_none()
        && let Ok(null) = std::fs::File::open("/dev/null")
        && let Ok(lowest) = fcntl_dupfd_cloexec(&null, CHANNEL_FD)
    {
        // `null` itself may have become 3; dropping it frees the number, which is taken again at once.
        drop(null);
        *placeholder = if lowest.as_raw_fd() == CHANNEL_FD {
            Some(lowest)
        } else {
            fcntl_dupfd_cloexec(&lowest, CHANNEL_FD).ok().filter(|fd| fd.as_raw_fd() == CHANNEL_FD)
        };
    }
}

/// Takes over the channel that main handed to this process as descriptor 3. Works once.
///
/// Only a descriptor that can have come from [`ChildSetup`] is accepted: a Unix stream socket *without*
/// close-on-exec. Everything Rust opens has close-on-exec set, so a process that was started by hand gets an
/// error, not somebody else's socket.
pub(crate) fn take_inherited_channel() -> io::Result<UnixStream> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "the channel to the main process was already taken; pass it on instead of asking twice",
        ));
    }
    let taken = check_and_take();
    TAKEN.store(taken.is_ok(), Ordering::SeqCst);
    taken
}

fn check_and_take() -> io::Result<UnixStream> {
    let no_channel = |_: rustix::io::Errno| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "there is no channel on descriptor 3; this role is started by `draftboard`, not by hand",
        )
    };
    // SAFETY: only used for the calls below, which fail cleanly if nothing is open there; nothing else in the
    // process closes an inherited descriptor that it does not know about.
    let descriptor = unsafe { BorrowedFd::borrow_raw(CHANNEL_FD) };
    let inherited = !fcntl_getfd(descriptor).map_err(no_channel)?.contains(FdFlags::CLOEXEC);
    let stream = sockopt::socket_type(descriptor).map_err(no_channel)? == SocketType::STREAM;
    let local = sockopt::socket_domain(descriptor).map_err(no_channel)? == AddressFamily::UNIX;
    if !(inherited && stream && local) {
        return Err(no_channel(rustix::io::Errno::NOTSOCK));
    }
    fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
    // SAFETY: descriptor 3 is open (checked above), was inherited rather than opened here, so no other value
    // owns it, and `TAKEN` together with close-on-exec makes sure that it is taken over once.
    Ok(UnixStream::from(unsafe { OwnedFd::from_raw_fd(CHANNEL_FD) }))
}

/// Points standard input, output and error of this process at `/dev/null`.
pub(crate) fn redirect_standard_streams() -> io::Result<()> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    for stream in 0..=2 {
        // SAFETY: plain system call on numbers; 0 to 2 stay open descriptors, which is all that std relies
        // on.
        if unsafe { libc::dup2(null.as_raw_fd(), stream) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
