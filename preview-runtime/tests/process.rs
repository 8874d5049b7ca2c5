//! The real preview process: its sandbox as reported by the kernel, frames, deadlines and exit.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, unsafe_code, reason = "a test")]

use frame_memory::{
    DescriptorChannel, DescriptorChannelError, FrameCopyOutcome, FrameMemory, FrameMemoryReader,
};
use serde_json::json;
use shared_protocol::{
    framing::{decode_json, encode_json},
    preview_wire::{
        FromPreview, MAX_FROM_PREVIEW_BYTES, MAX_TO_PREVIEW_BYTES, PreviewProtocolValidator, PreviewScreen,
        SceneInstance, SceneTarget, ToPreview,
    },
};
use std::{
    io::Read,
    iter::successors,
    os::{
        fd::{AsFd, AsRawFd, FromRawFd},
        unix::net::UnixStream,
        unix::process::{CommandExt, ExitStatusExt},
    },
    process::{Child, Command, Stdio},
};

use test_support::requirements::NAMESPACES;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--role", "preview"] {
        // SAFETY: `Preview::start` placed the descriptor there.
        let channel = unsafe { UnixStream::from_raw_fd(3) };
        if let Err(error) = preview_runtime::serve(channel, "test") {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "{error}");
            std::process::exit(1);
        }
        return;
    }
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    let tests: &[(&str, fn())] = &[
        ("it_is_locked_in_before_its_first_word", it_is_locked_in_before_its_first_word),
        ("it_has_left_the_system_s_namespaces_and_rights", it_has_left_the_system_s_namespaces_and_rights),
        ("its_end_is_the_end_that_main_sees", its_end_is_the_end_that_main_sees),
        ("it_shows_a_component", it_shows_a_component),
        ("it_ends_with_its_channel", it_ends_with_its_channel),
        ("garbage_ends_it_with_a_reason", garbage_ends_it_with_a_reason),
        ("it_refuses_to_run_by_hand", it_refuses_to_run_by_hand),
        ("work_without_end_is_ended", work_without_end_is_ended),
        ("a_bomb_of_memory_ends_only_the_preview", a_bomb_of_memory_ends_only_the_preview),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
}

struct Preview {
    child: Child,
    channel: DescriptorChannel,
    conversation: PreviewProtocolValidator,
}

impl Drop for Preview {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Preview {
    fn start() -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let descriptor = theirs.as_raw_fd();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--role", "preview"])
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // SAFETY: one system call between fork and exec.
        unsafe {
            command.pre_exec(move || {
                if libc::dup2(descriptor, 3) == 3 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
            });
        }
        let child = command.spawn().unwrap();
        drop((command, theirs));
        ours.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        Self {
            child,
            channel: DescriptorChannel::new(ours, MAX_FROM_PREVIEW_BYTES),
            conversation: PreviewProtocolValidator::new("test"),
        }
    }

    fn send(&mut self, message: &ToPreview, memory: Option<&FrameMemory>) {
        self.conversation.record_sent(message);
        let frame = encode_json(message, MAX_TO_PREVIEW_BYTES).unwrap();
        self.channel.send(&frame, memory.map(AsFd::as_fd)).unwrap();
    }

    /// Returns the next message, validated like in main.
    fn next(&mut self) -> Result<FromPreview, DescriptorChannelError> {
        let message: FromPreview = decode_json(&self.channel.receive()?).unwrap();
        self.conversation.check_received(&message).unwrap();
        Ok(message)
    }

    fn until(&mut self, wanted: fn(&FromPreview) -> bool) -> FromPreview {
        loop {
            let message = self.next().unwrap();
            if wanted(&message) {
                return message;
            }
        }
    }

    fn hello(&mut self) {
        assert!(
            matches!(self.next().unwrap(), FromPreview::Hello { sandbox, .. } if sandbox.system_calls && sandbox.limits)
        );
    }

    fn show(&mut self, view: &str, props: serde_json::Value) -> FrameMemoryReader {
        let memory = FrameMemory::new(200, 100).unwrap();
        let reader = memory.reader().unwrap();
        let text =
            format!("format: 1\nid: x.x\ntitle: X\nprops: {{ a: {{ control: json }} }}\nview: {view}\n");
        self.send(&ToPreview::Component { file: "x.component.yaml".into(), text }, None);
        let screen = PreviewScreen::new(200, 100, 1.0, true).unwrap();
        self.send(&ToPreview::Screen { generation: 1, screen }, Some(&memory));
        let instance = SceneInstance {
            id: "x".into(),
            component: "x.x".into(),
            props: json!({"a": props}).as_object().unwrap().clone(),
            parent: None,
            slot: None,
        };
        let target = SceneTarget::Route { route: "r".into() };
        self.send(
            &ToPreview::Scene { revision: 1, target, instances: vec![instance], overrides: vec![] },
            None,
        );
        reader
    }

    /// The process that draws: the innermost one below the child.
    fn drawing_process(&self) -> u32 {
        successors(Some(self.child.id()), |pid| {
            let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
            children.trim().parse().ok()
        })
        .last()
        .unwrap()
    }

    fn status(&self, field: &str) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.drawing_process())).unwrap();
        status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default().trim().to_owned()
    }

    /// Returns the exit status and the standard error.
    fn end(mut self) -> (Option<i32>, Option<i32>, String) {
        let status = self.child.wait().unwrap();
        let mut words = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        (status.code(), status.signal(), words)
    }
}

fn it_is_locked_in_before_its_first_word() {
    let mut preview = Preview::start();
    preview.hello();
    assert_eq!(
        (preview.status("Seccomp:"), preview.status("NoNewPrivs:"), preview.status("Threads:")),
        ("2".into(), "1".into(), "1".into())
    );
    assert_eq!(preview.status("Seccomp_filters:"), "2");
    let process = format!("/proc/{}", preview.drawing_process());
    // Root can read this file; only its content matters.
    let descriptors: Vec<String> = std::fs::read_dir(format!("{process}/fd"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(descriptors, ["0", "1", "2", "3"]);
    assert_eq!(std::fs::read(format!("{process}/environ")).unwrap(), b"");
    let limits = std::fs::read_to_string(format!("{process}/limits")).unwrap();
    for line in [
        "Max processes             0 ",
        "Max file size             0 ",
        "Max core file size        0 ",
        "Max open files            16",
    ] {
        assert!(limits.contains(line), "{limits}");
    }
}

fn it_has_left_the_system_s_namespaces_and_rights() {
    let mut preview = Preview::start();
    let FromPreview::Hello { sandbox, .. } = preview.next().unwrap() else { panic!("no hello") };
    assert!(sandbox.first_out_of_memory && sandbox.not_root && sandbox.no_capabilities, "{sandbox:?}");
    let process = format!("/proc/{}", preview.drawing_process());
    assert_eq!(std::fs::read_to_string(format!("{process}/oom_score_adj")).unwrap().trim(), "1000");
    for field in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:", "CapBnd:"] {
        assert_eq!(preview.status(field), "0000000000000000", "{field}");
    }
    assert!(preview.status("Uid:").split_whitespace().all(|user| user != "0"));
    if !NAMESPACES.is_available() {
        return;
    }
    assert!(sandbox.namespaces, "{sandbox:?}");
    for kind in ["user", "pid", "mnt", "net", "ipc", "uts", "cgroup"] {
        let of = |process: &str| std::fs::read_link(format!("{process}/ns/{kind}")).unwrap();
        assert_ne!(of(&process), of("/proc/self"), "{kind}");
    }
    assert_eq!(preview.status("NSpid:").split_whitespace().last(), Some("2"));
    assert_eq!(std::fs::read_dir(format!("{process}/root")).unwrap().count(), 0, "its root has files");
    // The waiters hold nothing and may do nothing but wait.
    for waiter in [preview.child.id(), preview.status("PPid:").parse().unwrap()] {
        let status = std::fs::read_to_string(format!("/proc/{waiter}/status")).unwrap();
        assert!(status.contains("Seccomp:\t2") && status.contains("CapEff:\t0000000000000000"), "{status}");
        assert_eq!(std::fs::read_dir(format!("/proc/{waiter}/fd")).unwrap().count(), 0);
    }
}

fn its_end_is_the_end_that_main_sees() {
    for signal in [libc::SIGKILL, libc::SIGABRT, libc::SIGSYS, libc::SIGPROF] {
        let mut preview = Preview::start();
        preview.hello();
        let drawing = preview.drawing_process();
        // SAFETY: a process of this test.
        assert_eq!(unsafe { libc::kill(drawing as libc::pid_t, signal) }, 0);
        assert_eq!(preview.end().1, Some(signal));
    }
    // Main kills its child alone; the kernel ends the rest.
    let mut preview = Preview::start();
    preview.hello();
    let drawing = preview.drawing_process();
    preview.child.kill().unwrap();
    // Ends once the drawing process has closed its end, which it does by ending.
    assert!(matches!(preview.next(), Err(DescriptorChannelError::Ended)), "process {drawing} lives on");
}

fn it_shows_a_component() {
    let mut preview = Preview::start();
    preview.hello();
    let mut reader = preview
        .show("{ type: box, style: { width: fill, height: 100, background: '#ff0000' } }", json!(null));
    preview.until(|message| matches!(message, FromPreview::Frame { revision: 1, .. }));
    let mut pixels = vec![[0; 4]; 200 * 100];
    assert_eq!(reader.copy_frame(&mut pixels), FrameCopyOutcome::Frame);
    assert!(pixels.iter().all(|pixel| *pixel == [255, 0, 0, 255]));
    preview.send(&ToPreview::Ping { number: 1 }, None);
    preview.until(|message| matches!(message, FromPreview::Pong { number: 1 }));
}

fn it_ends_with_its_channel() {
    let mut preview = Preview::start();
    preview.hello();
    let (here, _there) = UnixStream::pair().unwrap();
    preview.channel = DescriptorChannel::new(here, 1);
    assert_eq!(preview.end(), (Some(0), None, String::new()));
}

fn garbage_ends_it_with_a_reason() {
    for garbage in [&b"\xff\xff\xff\xff"[..], b"\0\0\0\x02{}", b"\0\0\0\x0b\"runShell\"{}"] {
        let mut preview = Preview::start();
        preview.hello();
        preview.channel.send(garbage, None).unwrap();
        let (code, _, words) = preview.end();
        assert_eq!(code, Some(1));
        assert!(!words.is_empty() && words.len() < 1_000, "{words}");
    }
}

fn it_refuses_to_run_by_hand() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--role", "preview"]).env("HOME", "/root").output().unwrap();
    assert!(!output.status.success());
}

/// Each expression is bounded, but many of them on large values exceed the budget of a render.
fn work_without_end_is_ended() {
    let mut preview = Preview::start();
    preview.hello();
    let list: Vec<u32> = (0..9_000).rev().collect();
    let sorts = "=props.a|sort|sort|sort|sort|sort|sort|sort|sort|list|length";
    let view = format!("{{ type: each, items: =props.a, children: [{{ type: text, text: '{sorts}' }}] }}");
    preview.show(&view, json!(list));
    let ended = loop {
        match preview.next() {
            // The preview stopped at its own budget, which is also a valid end.
            Ok(FromPreview::Problems { problems })
                if problems.iter().any(|problem| problem.message.contains("took longer")) =>
            {
                break true;
            }
            Ok(_) => {}
            Err(DescriptorChannelError::Ended) => break false,
            Err(error) => panic!("{error}"),
        }
    };
    if !ended {
        assert_eq!(preview.end().1, Some(libc::SIGPROF));
    }
}

fn a_bomb_of_memory_ends_only_the_preview() {
    let mut preview = Preview::start();
    preview.hello();
    let text = "x".repeat(10_000);
    // Each expression takes a hundred megabytes, repeatedly.
    let once = "props.a * 9000";
    let view = format!(
        "{{ type: text, text: '=({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once}) ~ ({once})' }}"
    );
    preview.show(&view, json!(text));
    loop {
        match preview.next() {
            // Either the expression result is refused or the memory limit ends the process; neither affects this process.
            Ok(FromPreview::Problems { problems })
                if problems.iter().any(|problem| problem.message.contains("characters")) =>
            {
                return;
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    let (_, signal, words) = preview.end();
    assert!(matches!(signal, Some(libc::SIGABRT | libc::SIGSEGV | libc::SIGPROF)), "{signal:?} {words}");
}
