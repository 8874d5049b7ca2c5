//! The preview as the executable runs it: locked in, as the kernel reports it, and showing something.
#![allow(clippy::unwrap_used, clippy::panic, unsafe_code, reason = "a test")]

use preview_link::{Channel, FrameMemory, Taken};
use shared_protocol::{
    frame::{decode_json, encode_json},
    preview::{
        Conversation, FromPreview, MAX_FROM_PREVIEW, MAX_TO_PREVIEW, PREVIEW_PROTOCOL, Screen, Target,
        ToPreview,
    },
};
use std::{
    os::{
        fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
        unix::net::UnixStream,
        unix::process::CommandExt,
    },
    process::{Command, Stdio},
};

#[test]
fn the_role_of_the_executable_is_locked_in_and_shows_a_component() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_draftboard"));
    command.args(["--role", "preview"]).env_clear().stdin(Stdio::null()).stdout(Stdio::null());
    let end = theirs.try_clone().unwrap();
    // SAFETY: one system call between fork and exec, on descriptors that nobody else of the child owns.
    unsafe {
        command.pre_exec(move || {
            let mut third = std::mem::ManuallyDrop::new(OwnedFd::from_raw_fd(3));
            if end.as_raw_fd() == 3 {
                return Ok(rustix::io::fcntl_setfd(&end, rustix::io::FdFlags::empty())?);
            }
            Ok(rustix::io::dup2(&end, &mut third)?)
        });
    }
    let mut child = command.spawn().unwrap();
    drop((command, theirs));
    ours.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let mut channel = Channel::new(ours, MAX_FROM_PREVIEW);
    let mut conversation = Conversation::new(env!("CARGO_PKG_VERSION"));
    let next = |channel: &mut Channel, conversation: &mut Conversation| -> FromPreview {
        let message: FromPreview = decode_json(&channel.receive().unwrap()).unwrap();
        conversation.received(&message).unwrap();
        message
    };
    let hello = next(&mut channel, &mut conversation);
    assert!(matches!(hello, FromPreview::Hello { protocol: PREVIEW_PROTOCOL, .. }));

    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    for line in ["Seccomp:\t2", "Seccomp_filters:\t2", "NoNewPrivs:\t1", "Threads:\t1"] {
        assert!(status.contains(line), "{status}");
    }

    let memory = FrameMemory::new(64, 64).unwrap();
    let mut reader = memory.reader().unwrap();
    let text = "format: 1\nid: x.x\ntitle: X\nview: { type: text, text: Hello }\n";
    let messages = [
        (ToPreview::Component { file: "x.component.yaml".into(), text: text.into() }, None),
        (
            ToPreview::Screen { generation: 1, screen: Screen::new(64, 64, 1.0, false).unwrap() },
            Some(memory.as_fd()),
        ),
        (
            ToPreview::Scene {
                revision: 1,
                target: Target::Component { component: "x.x".into() },
                instances: vec![],
                overrides: vec![],
            },
            None,
        ),
    ];
    for (message, descriptor) in messages {
        conversation.sending(&message);
        channel.send(&encode_json(&message, MAX_TO_PREVIEW).unwrap(), descriptor).unwrap();
    }
    while !matches!(next(&mut channel, &mut conversation), FromPreview::Frame { revision: 1, .. }) {}
    let mut pixels = vec![[0; 4]; 64 * 64];
    assert_eq!(reader.take(&mut pixels), Taken::Frame);
    assert!(pixels.iter().any(|pixel| *pixel != pixels[0]), "there is a word on the ground");
    drop(channel);
    assert!(child.wait().unwrap().success(), "it ends with its channel");
}

/// What tries to get out of the sandbox is compiled in for the escape matrix and never otherwise.
#[cfg(not(feature = "probe"))]
#[test]
fn the_probe_is_in_no_ordinary_executable() {
    // In two parts, so that this test could be looked through as well.
    let mark = ["draftboard-escape-", "probe-7c1f"].concat();
    let executable = std::fs::read(env!("CARGO_BIN_EXE_draftboard")).unwrap();
    assert!(executable.len() > 1 << 20);
    assert!(memchr::memmem::find(&executable, mark.as_bytes()).is_none());
}
