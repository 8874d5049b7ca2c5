//! Binding to a free port.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener},
};

/// Ports tried after the requested one.
const MAX_FURTHER_PORTS: u16 = 20;

/// Binds to the requested port or to the next free one.
pub(crate) fn bind(address: IpAddr, port: u16) -> Result<TcpListener, String> {
    // 0 means any free port.
    let further = if port == 0 { 0 } else { MAX_FURTHER_PORTS };
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for port in port..=port.saturating_add(further) {
        match TcpListener::bind(SocketAddr::new(address, port)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    let until = port.saturating_add(further);
    Err(format!(
        "ports {port} to {until} of {address} cannot be used ({last}); choose another port in the settings"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_taken_port_leads_to_the_next() {
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let taken = bind(local, 0).unwrap();
        let port = taken.local_addr().unwrap().port();
        let next = bind(local, port).unwrap().local_addr().unwrap().port();
        assert!(next > port && next <= port.saturating_add(MAX_FURTHER_PORTS));
    }
}
