//! One column of the table: sets up what can be attacked, then starts a preview for each attempt, as main does.

use frame_memory::{DescriptorChannel, DescriptorChannelError};
use preview_runtime::probe;
use processes::{Environment, StdStream, spawn_role};
use serde_json::{Value, json};
use shared_protocol::{
    framing::{decode_json, encode_json},
    preview_wire::{
        FromPreview, LandlockLevel, MAX_FROM_PREVIEW_BYTES, MAX_TO_PREVIEW_BYTES, PREVIEW_PROTOCOL_VERSION,
        ToPreview,
    },
};
use std::{
    ffi::OsString,
    net::{TcpListener, UdpSocket},
    os::{
        fd::AsRawFd,
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram, UnixListener},
        unix::process::ExitStatusExt,
    },
    path::Path,
    time::Duration,
};

/// For a process to be gone once its channel has ended.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn run(sandbox: &str, exe: &str, mcp: &str) {
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
    let order = json!({
        "sandbox": sandbox,
        "tcp": tcp.local_addr().unwrap().to_string(),
        "udp": udp.local_addr().unwrap().to_string(),
        "path": path,
        "name": name,
        "leaked": leaked.as_raw_fd().to_string(),
        "secret": (secret.as_ptr() as usize).to_string(),
        "folder": folder,
        "mcp": mcp,
        // Nobody ends it without the sandbox; with it the deadline does, however long that takes on a busy machine.
        "seconds": if sandbox == "open" { "4" } else { "60" },
    });
    // Signals to everybody must not end the column itself.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    for (attempt, _) in probe::ESCAPE_ATTEMPTS {
        let mut order = order.clone();
        order["attempt"] = json!(attempt);
        println!("{}", one(Path::new(exe), sandbox, &order));
    }
    let _ = std::fs::remove_dir_all(&folder);
}

fn one(exe: &Path, sandbox: &str, order: &Value) -> String {
    let arguments = ["--role", "preview", probe::PROBE_MARK].map(OsString::from);
    let mut child = spawn_role(exe, &arguments, &Environment::clean(), StdStream::Null).unwrap();
    let mut channel = DescriptorChannel::new(child.channel.try_clone().unwrap(), MAX_FROM_PREVIEW_BYTES);
    let order = ToPreview::Welcome { session: order.to_string() };
    channel.send(&encode_json(&order, MAX_TO_PREVIEW_BYTES).unwrap(), None).unwrap();
    let hello: FromPreview = decode_json(&channel.receive().unwrap()).unwrap();
    let FromPreview::Hello { protocol: PREVIEW_PROTOCOL_VERSION, sandbox: report, .. } = hello else {
        panic!("{hello:?}")
    };
    // The report says what is so; whether this kernel has Landlock at all is not for us to say.
    let all = report.no_new_privileges && report.not_dumpable && report.limits && report.system_calls;
    assert_eq!(all, sandbox != "open", "{report:?}");
    assert!(sandbox == "locked" || report.landlock == LandlockLevel::None, "{report:?}");
    let answer = match channel.receive() {
        Ok(frame) => match decode_json(&frame).unwrap() {
            FromPreview::Log { message, .. } => Some(message),
            other => panic!("{other:?}"),
        },
        Err(DescriptorChannelError::Ended) => None,
        Err(error) => panic!("{error}"),
    };
    let status = child.process.wait(Some(PATIENCE)).unwrap().unwrap();
    match (status.signal(), answer) {
        (Some(libc::SIGSYS), _) => "ended (SIGSYS)".to_owned(),
        (Some(libc::SIGPROF), _) => "ended after 2 s (SIGPROF)".to_owned(),
        (Some(libc::SIGABRT), _) => "ended (SIGABRT)".to_owned(),
        (Some(libc::SIGXFSZ), _) => "ended (SIGXFSZ)".to_owned(),
        (Some(signal), _) => format!("ended (signal {signal})"),
        (None, Some(answer)) => answer,
        // A probe always answers; what does not is another program by now.
        (None, None) if status.success() => "WORKED".to_owned(),
        (None, None) => format!("no answer ({status})"),
    }
}
