//! Reads frames for the host: copies the newest frame out and trusts nothing in the memory.
//!
//! The mapping is read-only, so any number of readers can use the same memory at any time: the window, a window that
//! starts later, main for a screenshot. Width and height come from the host, and every frame number maps to one of the
//! slots. A frame that changes during the copy is reported as torn. A preview that tears frames on purpose only
//! prevents its own updates.

use crate::{
    FrameMemoryError,
    mapping::{FrameMapping, MappingAccess, slot_of},
    memory,
};
use std::{
    os::fd::BorrowedFd,
    sync::atomic::{Ordering, fence},
};

/// The maximum number of copies before a frame is reported as torn, no matter how the writer behaves.
const MAX_COPY_ATTEMPTS: usize = 2;

/// The result of [`FrameMemoryReader::copy_frame`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameCopyOutcome {
    /// There is no new frame.
    NoNewFrame,
    /// The copy is a whole frame.
    Frame,
    /// The writer changed the frame during the copy. Discard the copy; the next frame follows soon.
    Torn,
}

#[derive(Debug)]
pub struct FrameMemoryReader {
    mapping: FrameMapping,
    width: usize,
    height: usize,
    /// The number of the last frame that was copied whole.
    last_frame: u64,
}

impl FrameMemoryReader {
    pub(crate) fn new(
        descriptor: BorrowedFd<'_>,
        width: usize,
        height: usize,
    ) -> Result<Self, FrameMemoryError> {
        memory::check_descriptor(descriptor, width, height)?;
        let mapping = FrameMapping::new(descriptor, width * height, MappingAccess::Read)?;
        Ok(Self { mapping, width, height, last_frame: 0 })
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns whether there is a frame that this reader has not copied yet.
    pub fn has_new_frame(&self) -> bool {
        self.mapping.newest().load(Ordering::Acquire) != self.last_frame
    }

    /// Copies the newest frame into `pixels`: rows from the top, premultiplied, as many pixels as both sides have.
    /// Never blocks and makes at most two copies, no matter how the writer behaves.
    pub fn copy_frame(&mut self, pixels: &mut [[u8; 4]]) -> FrameCopyOutcome {
        for _ in 0..MAX_COPY_ATTEMPTS {
            let newest = self.mapping.newest().load(Ordering::Acquire);
            if newest == self.last_frame {
                return FrameCopyOutcome::NoNewFrame;
            }
            let slot = slot_of(newest);
            let sequence = self.mapping.sequence(slot);
            let before = sequence.load(Ordering::Acquire);
            self.mapping.read(slot, pixels);
            fence(Ordering::Acquire);
            if before & 1 == 0 && sequence.load(Ordering::Relaxed) == before {
                self.last_frame = newest;
                return FrameCopyOutcome::Frame;
            }
        }
        FrameCopyOutcome::Torn
    }
}
