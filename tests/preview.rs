//! The preview as the executable runs it: locked in, as the kernel reports it, and showing something.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, unsafe_code, reason = "a test")]

use frame_memory::{DescriptorChannel, FrameCopyOutcome, FrameMemory};
use shared_protocol::{
    framing::{decode_json, encode_json},
    preview_wire::{
        FromPreview, MAX_FROM_PREVIEW_BYTES, MAX_TO_PREVIEW_BYTES, PREVIEW_PROTOCOL_VERSION,
        PreviewProtocolValidator, PreviewScreen, SceneTarget, ToPreview,
    },
};
use std::{
    collections::BTreeSet,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
        unix::net::UnixStream,
        unix::process::CommandExt,
    },
    process::{Child, Command, Stdio},
};
use system_fonts::SystemFontList;
use test_support::requirements::FONTS;

/// The preview as main starts it, and main's end of its channel.
struct Preview {
    child: Child,
    channel: DescriptorChannel,
    conversation: PreviewProtocolValidator,
}

impl Preview {
    fn start() -> Self {
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
        let child = command.spawn().unwrap();
        drop((command, theirs));
        ours.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        let channel = DescriptorChannel::new(ours, MAX_FROM_PREVIEW_BYTES);
        Self { child, channel, conversation: PreviewProtocolValidator::new(env!("CARGO_PKG_VERSION")) }
    }

    fn next(&mut self) -> FromPreview {
        let message: FromPreview = decode_json(&self.channel.receive().unwrap()).unwrap();
        self.conversation.check_received(&message).unwrap();
        message
    }

    fn send(&mut self, message: &ToPreview, descriptor: Option<BorrowedFd<'_>>) {
        self.conversation.record_sent(message);
        self.channel.send(&encode_json(message, MAX_TO_PREVIEW_BYTES).unwrap(), descriptor).unwrap();
    }

    /// Shows a component that is one text.
    fn show(&mut self, words: &str, side: u32, memory: &FrameMemory) {
        let text = format!("format: 1\nid: x.x\ntitle: X\nview: {{ type: text, text: {words} }}\n");
        self.send(&ToPreview::Component { file: "x.component.yaml".into(), text }, None);
        let screen = PreviewScreen::new(side, side, 1.0, false).unwrap();
        self.send(&ToPreview::Screen { generation: 1, screen }, Some(memory.as_fd()));
        let target = SceneTarget::Component { component: "x.x".into() };
        let scene = ToPreview::Scene { revision: 1, target, instances: vec![], overrides: vec![] };
        self.send(&scene, None);
    }

    fn end(mut self) {
        drop(self.channel);
        assert!(self.child.wait().unwrap().success(), "it ends with its channel");
    }
}

#[test]
fn the_role_of_the_executable_is_locked_in_and_shows_a_component() {
    let mut preview = Preview::start();
    let hello = preview.next();
    assert!(matches!(hello, FromPreview::Hello { protocol: PREVIEW_PROTOCOL_VERSION, .. }));

    let drawing = test_support::processes::innermost_of_role(preview.child.id(), "preview");
    let status = std::fs::read_to_string(format!("/proc/{drawing}/status")).unwrap();
    for line in ["Seccomp:\t2", "Seccomp_filters:\t2", "NoNewPrivs:\t1", "Threads:\t1"] {
        assert!(status.contains(line), "{status}");
    }

    let memory = FrameMemory::new(64, 64).unwrap();
    let mut reader = memory.reader().unwrap();
    preview.show("Hello", 64, &memory);
    while !matches!(preview.next(), FromPreview::Frame { revision: 1, .. }) {}
    let mut pixels = vec![[0; 4]; 64 * 64];
    assert_eq!(reader.copy_frame(&mut pixels), FrameCopyOutcome::Frame);
    assert!(pixels.iter().any(|pixel| *pixel != pixels[0]), "there is a word on the ground");
    preview.end();
}

/// Pixels of a text, first as it is drawn with the bundled fonts, then with fonts that were handed over.
fn with_and_without_fonts(words: &str) -> [Vec<[u8; 4]>; 2] {
    const SIDE: u32 = 96;
    let mut preview = Preview::start();
    assert!(matches!(preview.next(), FromPreview::Hello { .. }));
    let memory = FrameMemory::new(SIDE as usize, SIDE as usize).unwrap();
    let mut reader = memory.reader().unwrap();
    preview.show(words, SIDE, &memory);
    let missing = loop {
        if let FromPreview::Missing { characters } = preview.next() {
            break characters;
        }
    };
    assert_eq!(missing.chars().collect::<BTreeSet<char>>(), words.chars().collect(), "it says what it lacks");
    let mut frame = |preview: &mut Preview| {
        while !matches!(preview.next(), FromPreview::Frame { .. }) {}
        let mut pixels = vec![[0; 4]; (SIDE * SIDE) as usize];
        assert_eq!(reader.copy_frame(&mut pixels), FrameCopyOutcome::Frame);
        pixels
    };
    let before = frame(&mut preview);
    for font in SystemFontList::of_system().find(&missing.chars().collect()) {
        let message = ToPreview::Font { name: font.name.clone(), index: font.index };
        preview.send(&message, Some(font.open().unwrap().as_fd()));
    }
    let after = frame(&mut preview);
    preview.end();
    [before, after]
}

#[test]
fn fonts_that_are_handed_over_are_drawn_within_the_sandbox() {
    if !SystemFontList::of_system().covers('中') {
        return FONTS.skip("no font for Chinese is installed");
    }
    let [boxes, words] = with_and_without_fonts("中文");
    let [other_boxes, other_words] = with_and_without_fonts("数据");
    assert_eq!(boxes, other_boxes, "a box looks like any other");
    assert!(words != boxes && words != other_words, "characters do not");
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
