//! The named local socket of an instance: the only place that makes or opens one.
//!
//! `interprocess` binds and connects. The results are streams of the standard library, because their users need peer
//! credentials, timeouts, `poll` and the runtime's own stream type.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use interprocess::local_socket::{GenericFilePath, Listener, ListenerOptions, Stream, prelude::*};
use interprocess::os::unix::local_socket::ListenerOptionsExt as _;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

/// Binds a socket that only our own user can connect to. The mode is set before the file exists. The caller removes the
/// file, because only it knows whether the file is still the one that it made.
pub(super) fn bind(path: &Path) -> io::Result<UnixListener> {
    let options = ListenerOptions::new().name(path.to_fs_name::<GenericFilePath>()?);
    let Listener::UdSocket(listener) = options.mode(0o600).reclaim_name(false).create_sync()?;
    Ok(OwnedFd::from(listener).into())
}

pub(super) fn connect(path: &Path) -> io::Result<UnixStream> {
    let Stream::UdSocket(stream) = Stream::connect(path.to_fs_name::<GenericFilePath>()?)?;
    Ok(OwnedFd::from(stream).into())
}

/// Returns true when a process listens there. Never blocks and sends nothing.
pub(super) fn is_listening(path: &Path) -> bool {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let attempt = || {
        let probe = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::connect(&probe, &SocketAddrUnix::new(path)?)
    };
    // AGAIN: the backlog of the listener is full.
    matches!(attempt(), Ok(()) | Err(Errno::AGAIN))
}
