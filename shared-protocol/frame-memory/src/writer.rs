//! Writes frames for the preview: each frame goes into the slot that was written longest ago and then becomes the newest.

use crate::{
    FrameMemoryError,
    mapping::{FrameMapping, MappingAccess, slot_of},
    memory,
};
use std::{
    os::fd::{AsFd, OwnedFd},
    sync::atomic::{Ordering, fence},
};

#[derive(Debug)]
pub struct FrameMemoryWriter {
    mapping: FrameMapping,
    last_frame: u64,
}

impl FrameMemoryWriter {
    /// Maps the memory and closes the descriptor; the mapping keeps the memory alive.
    pub fn new(descriptor: OwnedFd, width: usize, height: usize) -> Result<Self, FrameMemoryError> {
        memory::check_descriptor(descriptor.as_fd(), width, height)?;
        let mapping = FrameMapping::new(descriptor.as_fd(), width * height, MappingAccess::Write)?;
        Ok(Self { mapping, last_frame: 0 })
    }

    /// Publishes a frame and returns its number, starting at 1. Never blocks. The crate documentation explains the steps.
    pub fn write_frame(&mut self, pixels: &[[u8; 4]]) -> u64 {
        self.last_frame += 1;
        let slot = slot_of(self.last_frame);
        let sequence = self.mapping.sequence(slot);
        let before = sequence.load(Ordering::Relaxed) & !1;
        sequence.store(before.wrapping_add(1), Ordering::Release);
        fence(Ordering::SeqCst);
        self.mapping.write(slot, pixels);
        sequence.store(before.wrapping_add(2), Ordering::Release);
        self.mapping.newest().store(self.last_frame, Ordering::Release);
        self.last_frame
    }
}
