//! Writes frames for the preview: each frame goes into the slot that was written longest ago and then becomes the newest.

use crate::{
    MemoryError, memory,
    shared::{Access, Mapping, slot_of},
};
use std::{
    os::fd::{AsFd, OwnedFd},
    sync::atomic::{Ordering, fence},
};

#[derive(Debug)]
pub struct FrameWriter {
    mapping: Mapping,
    frames: u64,
}

impl FrameWriter {
    /// Maps the memory and closes the descriptor; the mapping keeps the memory alive.
    pub fn new(descriptor: OwnedFd, width: usize, height: usize) -> Result<Self, MemoryError> {
        memory::check(descriptor.as_fd(), width, height)?;
        let mapping = Mapping::new(descriptor.as_fd(), width * height, Access::Write)?;
        Ok(Self { mapping, frames: 0 })
    }

    /// Publishes a frame and returns its number, starting at 1. Never blocks. The crate documentation explains the steps.
    pub fn put(&mut self, pixels: &[[u8; 4]]) -> u64 {
        self.frames += 1;
        let slot = slot_of(self.frames);
        let sequence = self.mapping.sequence(slot);
        let before = sequence.load(Ordering::Relaxed) & !1;
        sequence.store(before.wrapping_add(1), Ordering::Release);
        fence(Ordering::SeqCst);
        self.mapping.write(slot, pixels);
        sequence.store(before.wrapping_add(2), Ordering::Release);
        self.mapping.newest().store(self.frames, Ordering::Release);
        self.frames
    }
}
