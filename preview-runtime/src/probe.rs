//! Escape attempts for the sandbox test matrix, compiled only with the feature `probe`. The process starts, enters the
//! sandbox and sends its hello like every preview, then runs one attempt. Each attempt reports `WORKED` with its result,
//! or how it failed.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    unsafe_code,
    reason = "part of a test, which sees every failure here"
)]

use crate::sandbox::{self, SandboxError};
use frame_memory::DescriptorChannel;
use serde_json::Value;
use shared_protocol::{
    framing::decode_json,
    preview_wire::{LandlockLevel, SandboxReport, ToPreview},
};
use std::{
    collections::BTreeMap,
    fmt::Display,
    io::{self, Write},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram, UnixStream},
    },
};

/// A marker that occurs in an executable only if the probe is compiled in.
pub const PROBE_MARK: &str = "draftboard-escape-probe-7c1f";

/// The parameters of the probe's environment.
pub struct ProbeFacts {
    tcp: String,
    udp: String,
    path: String,
    name: String,
    leaked: i32,
    secret: usize,
    folder: String,
    mcp: String,
    /// The time in seconds after which a loop counts as endless.
    seconds: u64,
    parent: i32,
}

pub type EscapeAttempt = fn(&ProbeFacts) -> String;

pub const ESCAPE_ATTEMPTS: &[(&str, EscapeAttempt)] = &[
    ("open a file", |_| describe_result(std::fs::File::open("/etc/passwd"))),
    ("create a file", |f| {
        describe_result(
            std::fs::File::create(format!("{}/x", f.folder)).and_then(|mut file| file.write_all(b"x")),
        )
    }),
    ("stat a file", |_| describe_result(std::fs::metadata("/etc/passwd"))),
    ("list a folder", |_| describe_result(std::fs::read_dir("/").map(Iterator::count))),
    ("read a link", |_| describe_result(std::fs::read_link("/proc/self/exe"))),
    ("read the parent's environment", |f| {
        describe_result(std::fs::read(format!("/proc/{}/environ", f.parent)).map(|bytes| bytes.len()))
    }),
    ("open the parent's memory", |f| describe_result(std::fs::File::open(format!("/proc/{}/mem", f.parent)))),
    ("find something in the own environment", |_| match std::env::vars_os().next() {
        Some(_) => "WORKED".to_owned(),
        None => "nothing there".to_owned(),
    }),
    ("read a descriptor that was left open", |f| {
        call(unsafe { libc::pread(f.leaked, [0u8; 16].as_mut_ptr().cast(), 16, 0) } as i64)
    }),
    ("duplicate a descriptor that was left open", |f| {
        call(unsafe { libc::syscall(libc::SYS_dup, f.leaked) })
    }),
    ("TCP to a port of this machine", |f| describe_result(std::net::TcpStream::connect(&f.tcp))),
    ("TCP to the MCP port of a running Draftboard", |f| {
        describe_result(std::net::TcpStream::connect(&f.mcp))
    }),
    ("listen on a TCP port", |_| describe_result(std::net::TcpListener::bind("127.0.0.1:0"))),
    ("UDP to a port of this machine", |f| {
        describe_result(
            std::net::UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", &f.udp)),
        )
    }),
    ("Unix socket by path", |f| describe_result(UnixStream::connect(&f.path))),
    ("abstract Unix socket, stream", |f| {
        describe_result(
            SocketAddr::from_abstract_name(&f.name).and_then(|name| UnixStream::connect_addr(&name)),
        )
    }),
    ("abstract Unix socket, datagram", |f| {
        let name = SocketAddr::from_abstract_name(format!("{}-d", f.name)).unwrap();
        describe_result(UnixDatagram::unbound().and_then(|socket| socket.send_to_addr(b"x", &name)))
    }),
    ("send to an address over the channel", |_| {
        let address = libc::sockaddr { sa_family: libc::AF_UNIX as u16, sa_data: [0; 14] };
        let sent = unsafe { libc::sendto(3, b"x".as_ptr().cast(), 1, 0, &raw const address, 16) };
        call(sent as i64)
    }),
    ("netlink socket", |_| call(unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW, 0) }.into())),
    ("raw socket", |_| call(unsafe { libc::socket(libc::AF_INET, libc::SOCK_RAW, 1) }.into())),
    ("socket pair", |_| {
        call(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, [0; 2].as_mut_ptr()) }.into())
    }),
    ("fork", |_| {
        let child = unsafe { libc::fork() };
        if child == 0 {
            unsafe { libc::_exit(0) }
        }
        call(child.into())
    }),
    ("start a program", |_| describe_result(std::process::Command::new("/bin/true").status())),
    ("become another program", |_| {
        let arguments = [c"true".as_ptr(), std::ptr::null()];
        unsafe { libc::fcntl(3, libc::F_SETFD, 0) };
        // The new program keeps the channel open and sends nothing, so success is an empty answer with a clean exit.
        unsafe { libc::execv(c"/bin/true".as_ptr(), arguments.as_ptr()) };
        failure_text()
    }),
    ("a second thread", |_| {
        describe_result(std::thread::Builder::new().spawn(|| {}).map(|thread| thread.join()))
    }),
    ("many threads", |_| {
        let threads: Vec<_> = (0..64).filter_map(|_| std::thread::Builder::new().spawn(|| {}).ok()).collect();
        if threads.is_empty() { failure_text() } else { format!("WORKED, {}", threads.len()) }
    }),
    ("ptrace the parent", |f| {
        let attached = unsafe { libc::ptrace(libc::PTRACE_SEIZE, f.parent, 0, 0) };
        let answer = call(attached);
        if attached == 0 {
            unsafe { libc::ptrace(libc::PTRACE_DETACH, f.parent, 0, 0) };
        }
        answer
    }),
    ("read the parent's memory", |f| {
        let mut bytes = [0u8; 22];
        let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let there = libc::iovec { iov_base: f.secret as *mut _, iov_len: bytes.len() };
        let read = unsafe { libc::process_vm_readv(f.parent, &raw const here, 1, &raw const there, 1, 0) };
        if &bytes == b"a secret of the parent" {
            "WORKED, read the secret".to_owned()
        } else {
            call(read as i64)
        }
    }),
    ("take a descriptor of the parent", |f| {
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, f.parent, 0) };
        if process < 0 {
            failure_text()
        } else {
            call(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process, f.leaked, 0) })
        }
    }),
    ("signal the parent", |f| call(unsafe { libc::kill(f.parent, libc::SIGTERM) }.into())),
    ("10 GB of memory at once", |_| {
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                10 << 30,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED { failure_text() } else { "WORKED".to_owned() }
    }),
    ("10 GB of memory from the allocator", |_| match Vec::<u8>::new().try_reserve_exact(10 << 30) {
        Ok(()) => "WORKED".to_owned(),
        Err(_) => "refused".to_owned(),
    }),
    ("memory without end", |_| {
        let mut kept = Vec::new();
        for megabytes in (0..1_800).step_by(16) {
            let mut block: Vec<u8> = Vec::new();
            if block.try_reserve_exact(16 << 20).is_err() {
                return format!("refused after {megabytes} MB");
            }
            block.resize(16 << 20, 1);
            kept.push(block);
        }
        "WORKED".to_owned()
    }),
    ("a loop without end", |f| {
        let started = std::time::Instant::now();
        while started.elapsed().as_secs() < f.seconds {
            std::hint::black_box(0);
        }
        "WORKED".to_owned()
    }),
    ("writable memory with code", |_| {
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let memory = unsafe {
            libc::mmap(std::ptr::null_mut(), 4096, all, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        if memory == libc::MAP_FAILED { failure_text() } else { "WORKED".to_owned() }
    }),
    ("memory that becomes code", |_| {
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        call(unsafe { libc::mprotect(memory, 4096, libc::PROT_READ | libc::PROT_EXEC) }.into())
    }),
    ("memory file", |_| call(unsafe { libc::memfd_create(c"x".as_ptr(), 0) }.into())),
    ("io_uring", |_| call(unsafe { libc::syscall(libc::SYS_io_uring_setup, 4, [0u8; 256].as_mut_ptr()) })),
    ("userfaultfd", |_| call(unsafe { libc::syscall(libc::SYS_userfaultfd, 1) })),
    ("keys of the kernel", |_| call(unsafe { libc::syscall(libc::SYS_keyctl, 0, -3, 1) })),
    ("BPF", |_| {
        call(unsafe {
            libc::syscall(
                libc::SYS_bpf,
                0,
                [0u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].as_mut_ptr(),
                64,
            )
        })
    }),
    ("performance events", |_| {
        let mut attributes = [0u8; 128];
        attributes[4] = 128;
        call(unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_mut_ptr(), 0, -1, -1, 0) })
    }),
    ("new user namespace", |_| call(unsafe { libc::unshare(libc::CLONE_NEWUSER) }.into())),
    ("new network namespace", |_| {
        call(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) }.into())
    }),
    ("32-bit system call", |_| thirty_two_bit()),
    ("x32 system call", |_| call(unsafe { libc::syscall(0x4000_0000 + 39) })),
    ("raise a limit", |_| {
        let limit = libc::rlimit { rlim_cur: 64 << 30, rlim_max: 64 << 30 };
        call(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }.into())
    }),
    ("raise a limit of the parent", |f| {
        let limit = libc::rlimit { rlim_cur: 8, rlim_max: 8 };
        call(
            unsafe { libc::prlimit(f.parent, libc::RLIMIT_CORE, &raw const limit, std::ptr::null_mut()) }
                .into(),
        )
    }),
    ("become dumpable", |_| call(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) }.into())),
    ("set a timer of another kind", |_| {
        let value: libc::itimerval = unsafe { std::mem::zeroed() };
        call(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const value, std::ptr::null_mut()) }.into())
    }),
    ("change the mode of a file", |f| {
        let path = std::ffi::CString::new(f.folder.as_str()).unwrap();
        call(unsafe { libc::chmod(path.as_ptr(), 0o777) }.into())
    }),
    ("mount", |_| {
        call(
            unsafe {
                libc::mount(c"none".as_ptr(), c"/mnt".as_ptr(), c"tmpfs".as_ptr(), 0, std::ptr::null())
            }
            .into(),
        )
    }),
];

/// The attempt to run and the sandbox to run it in.
pub(crate) struct ProbeCommand {
    attempt: EscapeAttempt,
    sandbox: String,
    facts: ProbeFacts,
}

/// Reads the order. Returns `None` when this process was not started as a probe.
pub(crate) fn read_order(channel: &mut DescriptorChannel) -> Option<ProbeCommand> {
    if std::env::args().nth(3).as_deref() != Some(PROBE_MARK) {
        return None;
    }
    let ToPreview::Welcome { session } = decode_json(&channel.receive().unwrap()).unwrap() else { panic!() };
    let order: Value = serde_json::from_str(&session).unwrap();
    let text = |field: &str| order[field].as_str().unwrap().to_owned();
    let number = |field: &str| text(field).parse::<usize>().unwrap();
    let wanted = text("attempt");
    let facts = ProbeFacts {
        tcp: text("tcp"),
        udp: text("udp"),
        path: text("path"),
        name: text("name"),
        leaked: number("leaked") as i32,
        secret: number("secret"),
        folder: text("folder"),
        mcp: text("mcp"),
        seconds: number("seconds") as u64,
        parent: unsafe { libc::getppid() },
    };
    let attempt = ESCAPE_ATTEMPTS.iter().find(|(name, _)| *name == wanted).unwrap().1;
    Some(ProbeCommand { attempt, sandbox: text("sandbox"), facts })
}

impl ProbeCommand {
    pub(crate) fn enter(&self) -> Result<SandboxReport, SandboxError> {
        match self.sandbox.as_str() {
            "locked" => sandbox::enter(),
            "no-landlock" => {
                hide_landlock();
                sandbox::enter()
            }
            "open" => Ok(SandboxReport {
                first_out_of_memory: false,
                not_root: false,
                namespaces: false,
                no_capabilities: false,
                no_new_privileges: false,
                not_dumpable: false,
                no_new_executable_memory: false,
                landlock: LandlockLevel::None,
                limits: false,
                system_calls: false,
            }),
            other => panic!("{other}"),
        }
    }

    /// Runs the attempt. Inside a sandbox, the deadline of preview work applies.
    pub(crate) fn attempt(&self) -> String {
        let attempt = || (self.attempt)(&self.facts);
        if self.sandbox == "open" { attempt() } else { sandbox::within_deadline(attempt) }
    }
}

/// Simulates a kernel without Landlock.
fn hide_landlock() {
    let rules =
        [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self]
            .map(|call| (call, vec![]));
    let filter = seccompiler::SeccompFilter::new(
        BTreeMap::from(rules),
        seccompiler::SeccompAction::Allow,
        seccompiler::SeccompAction::Errno(libc::ENOSYS as u32),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: seccompiler::BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

#[cfg(target_arch = "x86_64")]
fn thirty_two_bit() -> String {
    let mut number: i64 = 20;
    // SAFETY: `getpid` of the 32-bit interface; touches no memory.
    unsafe { std::arch::asm!("int 0x80", inout("rax") number) };
    if number > 0 { "WORKED".to_owned() } else { format!("{number}") }
}

#[cfg(not(target_arch = "x86_64"))]
fn thirty_two_bit() -> String {
    "no such thing here".to_owned()
}

fn describe_result<T>(result: io::Result<T>) -> String {
    match result {
        Ok(_) => "WORKED".to_owned(),
        Err(error) => name(&error),
    }
}

fn call(result: i64) -> String {
    if result >= 0 { "WORKED".to_owned() } else { failure_text() }
}

fn failure_text() -> String {
    name(&io::Error::last_os_error())
}

fn name(error: &io::Error) -> String {
    let known: &dyn Display = match error.raw_os_error() {
        Some(libc::EPERM) => &"EPERM",
        Some(libc::EACCES) => &"EACCES",
        Some(libc::EBADF) => &"EBADF",
        Some(libc::ENOSYS) => &"ENOSYS",
        Some(libc::ENOMEM) => &"ENOMEM",
        Some(libc::EAGAIN) => &"EAGAIN",
        Some(libc::EINVAL) => &"EINVAL",
        Some(libc::EISCONN) => &"EISCONN",
        Some(libc::ENOENT) => &"ENOENT",
        _ => error,
    };
    known.to_string()
}
