//! The identity of the process at the other end of a connection.

use std::os::unix::net::UnixStream;

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use thiserror::Error;

/// The reason why a connection is refused.
#[derive(Debug, Error)]
pub enum PeerError {
    #[error("A process of another user (uid {uid}) connected. Only programs of the same user may.")]
    ForeignUser { uid: u32 },
    #[error("The peer credentials could not be read: {0}")]
    Unknown(#[source] std::io::Error),
}

/// Returns the pid of the peer, if it runs as our own user. The kernel recorded the user when the connection was made,
/// so the peer cannot claim another one.
pub fn check_peer(stream: &UnixStream) -> Result<u32, PeerError> {
    let peer = socket_peercred(stream).map_err(|error| PeerError::Unknown(error.into()))?;
    if peer.uid != geteuid() {
        return Err(PeerError::ForeignUser { uid: peer.uid.as_raw() });
    }
    Ok(peer.pid.as_raw_nonzero().get().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::check_peer;
    use std::os::unix::net::UnixStream;

    #[test]
    fn our_own_process_is_a_welcome_peer() {
        let (left, _right) = UnixStream::pair().unwrap();
        assert_eq!(check_peer(&left).unwrap(), std::process::id());
    }
}
