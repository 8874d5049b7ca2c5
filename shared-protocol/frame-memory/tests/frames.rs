//! Frames between correct and hostile writers and readers.
#![allow(clippy::unwrap_used, reason = "a test")]

use frame_memory::{
    DescriptorChannel, DescriptorChannelError, FrameCopyOutcome, FrameMemory, FrameMemoryWriter,
};
use proptest::prelude::*;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::{
    io::Write,
    os::{fd::AsFd, unix::fs::FileExt, unix::net::UnixStream},
};

const WIDTH: usize = 16;
const HEIGHT: usize = 8;

fn writer(memory: &FrameMemory) -> FrameMemoryWriter {
    FrameMemoryWriter::new(memory.as_fd().try_clone_to_owned().unwrap(), WIDTH, HEIGHT).unwrap()
}

fn frame(value: u8) -> Vec<[u8; 4]> {
    vec![[value, value, value, 255]; WIDTH * HEIGHT]
}

#[test]
fn the_newest_frame_comes_through_and_comes_once() {
    let memory = FrameMemory::new(WIDTH, HEIGHT).unwrap();
    let (mut reader, mut writer) = (memory.reader().unwrap(), writer(&memory));
    let mut seen = frame(0);
    assert_eq!(reader.copy_frame(&mut seen), FrameCopyOutcome::NoNewFrame);
    for value in 1..=20 {
        writer.write_frame(&frame(value));
        if value % 3 == 0 {
            assert_eq!(reader.copy_frame(&mut seen), FrameCopyOutcome::Frame);
            assert_eq!(seen, frame(value));
            assert_eq!(reader.copy_frame(&mut seen), FrameCopyOutcome::NoNewFrame);
        }
    }
}

#[test]
fn every_reader_finds_the_newest_frame_whenever_it_comes() {
    let memory = FrameMemory::new(WIDTH, HEIGHT).unwrap();
    let mut writer = writer(&memory);
    let mut first = memory.reader().unwrap();
    let mut seen = frame(0);
    for value in 1..=7 {
        writer.write_frame(&frame(value));
    }
    let mut late = memory.reader().unwrap();
    for reader in [&mut first, &mut late] {
        assert!(reader.has_new_frame());
        assert_eq!(reader.copy_frame(&mut seen), FrameCopyOutcome::Frame);
        assert_eq!(seen, frame(7));
        assert!(!reader.has_new_frame());
        assert_eq!(reader.copy_frame(&mut seen), FrameCopyOutcome::NoNewFrame);
    }
}

#[test]
fn a_frame_is_whole_or_said_to_be_torn() {
    let memory = FrameMemory::new(WIDTH, HEIGHT).unwrap();
    let (mut reader, mut writer) = (memory.reader().unwrap(), writer(&memory));
    let worker = std::thread::spawn(move || {
        for value in 0..20_000u32 {
            writer.write_frame(&frame(value as u8));
        }
    });
    let (mut seen, mut frames) = (frame(0), 0);
    while !worker.is_finished() || frames == 0 {
        match reader.copy_frame(&mut seen) {
            FrameCopyOutcome::Frame => {
                frames += 1;
                assert!(seen.iter().all(|pixel| *pixel == seen[0]));
            }
            FrameCopyOutcome::NoNewFrame => std::thread::yield_now(),
            // The writer reused the slot during the copy.
            FrameCopyOutcome::Torn => {}
        }
    }
    worker.join().unwrap();
}

#[test]
fn nobody_can_change_the_size() {
    let memory = FrameMemory::new(WIDTH, HEIGHT).unwrap();
    let copy = memory.as_fd().try_clone_to_owned().unwrap();
    assert!(ftruncate(&copy, 0).is_err());
    assert!(ftruncate(&copy, 1 << 30).is_err());
    assert!(rustix::fs::fcntl_add_seals(&copy, rustix::fs::SealFlags::WRITE).is_err());
    assert_eq!(memory.reader().unwrap().copy_frame(&mut frame(0)), FrameCopyOutcome::NoNewFrame);
}

#[test]
fn memory_from_elsewhere_is_checked() {
    let plain = memfd_create("x", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&plain, 1 << 20).unwrap();
    let error = |result: Result<FrameMemory, _>| {
        result.map(drop).map_err(|error: frame_memory::FrameMemoryError| error.to_string()).unwrap_err()
    };
    assert!(error(FrameMemory::adopt(plain, WIDTH, HEIGHT)).contains("not sealed against shrinking"));
    let memory = FrameMemory::new(WIDTH, HEIGHT).unwrap();
    let copy = || memory.as_fd().try_clone_to_owned().unwrap();
    assert!(error(FrameMemory::adopt(copy(), WIDTH * 2, HEIGHT)).contains("not have the expected size"));
    assert!(FrameMemory::adopt(copy(), WIDTH, HEIGHT).is_ok());
    let (pipe, _other) = std::io::pipe().unwrap();
    assert!(FrameMemory::adopt(pipe.into(), WIDTH, HEIGHT).is_err());
    for (width, height) in [(0, 1), (usize::MAX, 2), (1 << 20, 1 << 20)] {
        assert!(FrameMemory::new(width, height).is_err());
    }
}

proptest! {
    /// A preview that writes arbitrary bytes anywhere in the memory, between and during reads.
    #[test]
    fn hostile_contents_are_harmless(writes in prop::collection::vec((0usize..4096 + WIDTH * HEIGHT * 12, any::<[u8; 8]>()), 1..60)) {
        let memory = FrameMemory::new(WIDTH, HEIGHT).unwrap();
        let mut reader = memory.reader().unwrap();
        let file = std::fs::File::from(memory.as_fd().try_clone_to_owned().unwrap());
        let mut seen = frame(0);
        for (offset, bytes) in writes {
            // Hits the header more often than the pixels.
            let offset = if offset % 2 == 0 { offset % 32 } else { offset };
            let _ = file.write_at(&bytes, offset as u64);
            prop_assert!(matches!(reader.copy_frame(&mut seen), FrameCopyOutcome::NoNewFrame | FrameCopyOutcome::Frame | FrameCopyOutcome::Torn));
            reader.copy_frame(&mut []);
        }
    }
}

#[test]
fn a_hostile_writer_beside_the_reader() {
    let memory = FrameMemory::new(WIDTH, HEIGHT).unwrap();
    let mut reader = memory.reader().unwrap();
    let file = std::fs::File::from(memory.as_fd().try_clone_to_owned().unwrap());
    let worker = std::thread::spawn(move || {
        for round in 0..20_000u64 {
            let noise = round.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            file.write_at(&noise.to_le_bytes(), noise % 40).unwrap();
            file.write_at(&(round % 7).to_le_bytes(), 0).unwrap();
        }
    });
    let mut seen = frame(0);
    while !worker.is_finished() {
        reader.copy_frame(&mut seen);
    }
    worker.join().unwrap();
}

#[test]
fn messages_carry_a_descriptor_and_keep_their_bounds() {
    let (here, there) = UnixStream::pair().unwrap();
    let (sender, mut receiver) = (DescriptorChannel::new(here, 100), DescriptorChannel::new(there, 100));
    let memory = FrameMemory::new(WIDTH, HEIGHT).unwrap();
    let message = shared_protocol::framing::frame(b"hello", 100).unwrap();
    sender.send(&message, Some(memory.as_fd())).unwrap();
    sender.send(&message, None).unwrap();
    assert_eq!(receiver.receive().unwrap(), b"hello");
    assert!(FrameMemory::adopt(receiver.take_descriptor().unwrap(), WIDTH, HEIGHT).is_ok());
    assert_eq!(receiver.receive().unwrap(), b"hello");
    assert!(receiver.take_descriptor().is_none());
    assert!(receiver.try_receive().unwrap().is_none());
    for _ in 0..3 {
        sender.send(&message, Some(memory.as_fd())).unwrap();
    }
    let error = (0..3).find_map(|_| receiver.receive().err());
    assert!(matches!(error, Some(DescriptorChannelError::Descriptors)), "{error:?}");
}

#[test]
fn garbage_ends_the_channel() {
    let over = |bytes: &[u8]| {
        let (mut here, there) = UnixStream::pair().unwrap();
        here.write_all(bytes).unwrap();
        drop(here);
        DescriptorChannel::new(there, 100).receive().map(|_| ()).unwrap_err().to_string()
    };
    assert!(over(&[0xff; 64]).contains("4294967295"));
    assert!(!over(&[0, 0, 0, 0]).is_empty());
    assert!(!over(&[0, 0, 0, 9, 1]).is_empty());
    assert_eq!(over(&[]), "the channel was closed");
}
