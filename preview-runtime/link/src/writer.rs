//! The preview's side: puts a frame into the slot that nobody looks at, then leaves it in the mailbox.

use crate::{
    MemoryError, memory,
    shared::{FRESH, Mapping, SLOTS},
};
use std::{os::fd::OwnedFd, sync::atomic::Ordering};

#[derive(Debug)]
pub struct FrameWriter {
    mapping: Mapping,
    /// The slot that is ours at present.
    slot: usize,
    frames: u64,
}

impl FrameWriter {
    /// The descriptor is closed: the mapping keeps the memory.
    pub fn new(descriptor: OwnedFd, width: usize, height: usize) -> Result<Self, MemoryError> {
        use std::os::fd::AsFd;
        memory::check(descriptor.as_fd(), width, height)?;
        Ok(Self { mapping: Mapping::new(descriptor.as_fd(), width * height)?, slot: 0, frames: 0 })
    }

    /// Puts a frame where the reader will find it and gives its number, from 1. Never waits.
    pub fn put(&mut self, pixels: &[[u8; 4]]) -> u64 {
        let sequence = self.mapping.sequence(self.slot);
        let before = sequence.load(Ordering::Relaxed) & !1;
        sequence.store(before.wrapping_add(1), Ordering::Release);
        std::sync::atomic::fence(Ordering::SeqCst);
        self.mapping.write(self.slot, pixels);
        sequence.store(before.wrapping_add(2), Ordering::Release);
        let theirs = self.mapping.mailbox().swap(self.slot as u32 | FRESH, Ordering::AcqRel);
        self.slot = (theirs & 3).min(SLOTS as u32 - 1) as usize;
        self.frames += 1;
        self.frames
    }
}
