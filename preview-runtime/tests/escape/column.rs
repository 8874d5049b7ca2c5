//! One column of the table: sets up what can be attacked, then starts a probe for each attempt.

use super::attempts;
use std::{
    io::Read,
    net::{TcpListener, UdpSocket},
    os::{
        fd::AsRawFd,
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream},
        unix::process::{CommandExt, ExitStatusExt},
    },
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// What main's watchdog allows at most.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn run(sandbox: &str) {
    let own = std::process::id();
    let folder = std::env::temp_dir().join(format!("column-{own}"));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("socket");
    let name = format!("draftboard-escape-{own}");
    let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
    let datagram_name = SocketAddr::from_abstract_name(format!("{name}-d")).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let _targets = (
        UnixListener::bind(&path).unwrap(),
        UnixListener::bind_addr(&abstract_name).unwrap(),
        UnixDatagram::bind_addr(&datagram_name).unwrap(),
    );
    // A descriptor that is left open by mistake.
    let leaked = std::fs::File::open("/proc/self/exe").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let secret = b"a secret of the parent".to_vec();
    let facts = [
        tcp.local_addr().unwrap().to_string(),
        udp.local_addr().unwrap().to_string(),
        path.to_string_lossy().into_owned(),
        name,
        leaked.as_raw_fd().to_string(),
        (secret.as_ptr() as usize).to_string(),
        folder.to_string_lossy().into_owned(),
    ];
    // Signals to everybody must not end the column itself.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    for (attempt, _) in attempts::ALL {
        println!("{}", one(attempt, sandbox, &facts));
    }
    let _ = std::fs::remove_dir_all(&folder);
}

fn one(attempt: &str, sandbox: &str, facts: &[String]) -> String {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let channel = theirs.as_raw_fd();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--probe", attempt, sandbox]).args(facts).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: system calls only, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::setsid();
            if libc::dup2(channel, 3) == 3 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        });
    }
    let mut child = command.spawn().unwrap();
    drop((command, theirs));
    let started = Instant::now();
    ours.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answer = String::new();
    let read = ours.read_to_string(&mut answer);
    if read.is_err() {
        child.kill().unwrap();
        child.wait().unwrap();
        return format!("WORKED for {} s", started.elapsed().as_secs());
    }
    let status = child.wait().unwrap();
    match status.signal() {
        Some(libc::SIGSYS) => "ended (SIGSYS)".to_owned(),
        Some(libc::SIGPROF) => "ended after 2 s (SIGPROF)".to_owned(),
        Some(libc::SIGABRT) => "ended (SIGABRT)".to_owned(),
        Some(libc::SIGXFSZ) => "ended (SIGXFSZ)".to_owned(),
        Some(signal) => format!("ended (signal {signal})"),
        // A probe always answers; what does not is another program by now.
        None if answer.is_empty() && status.success() => "WORKED".to_owned(),
        None if answer.is_empty() => format!("no answer ({status})"),
        None => answer.trim().to_owned(),
    }
}
