//! The host's side: copies the newest frame out, believing nothing that it finds there.
//!
//! The mapping is for reading only, so any number of readers can look at the same memory, at any time: the window, one
//! that is started later, main for a picture. Width and height are the host's own, and any number of a frame is one of
//! the slots. A frame that changes while it is copied is reported as torn; a preview that tears frames on purpose shows
//! nothing new and harms nobody.

use crate::{
    MemoryError, memory,
    shared::{Access, Mapping, slot_of},
};
use std::{
    os::fd::BorrowedFd,
    sync::atomic::{Ordering, fence},
};

/// Copies in a row before a frame is given up for torn. Never more, whatever the other side does.
const ATTEMPTS: usize = 2;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Nothing that was not there before.
    Nothing,
    /// A frame, whole.
    Frame,
    /// A frame that was written to while it was copied. What was copied is not to be shown; the next one is there soon.
    Torn,
}

#[derive(Debug)]
pub struct FrameReader {
    mapping: Mapping,
    width: usize,
    height: usize,
    /// The number of the frame that was last taken whole.
    taken: u64,
}

impl FrameReader {
    pub(crate) fn new(descriptor: BorrowedFd<'_>, width: usize, height: usize) -> Result<Self, MemoryError> {
        memory::check(descriptor, width, height)?;
        let mapping = Mapping::new(descriptor, width * height, Access::Read)?;
        Ok(Self { mapping, width, height, taken: 0 })
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// There is a frame that was not taken yet.
    pub fn is_new(&self) -> bool {
        self.mapping.newest().load(Ordering::Acquire) != self.taken
    }

    /// Copies the newest frame into `pixels`, rows from the top, premultiplied; as many pixels as `pixels` holds and no
    /// more than there are. Never waits: the work is at most a few copies, whatever the other side does.
    pub fn take(&mut self, pixels: &mut [[u8; 4]]) -> Taken {
        for _ in 0..ATTEMPTS {
            let newest = self.mapping.newest().load(Ordering::Acquire);
            if newest == self.taken {
                return Taken::Nothing;
            }
            let slot = slot_of(newest);
            let sequence = self.mapping.sequence(slot);
            let before = sequence.load(Ordering::Acquire);
            self.mapping.read(slot, pixels);
            fence(Ordering::Acquire);
            if before & 1 == 0 && sequence.load(Ordering::Relaxed) == before {
                self.taken = newest;
                return Taken::Frame;
            }
        }
        Taken::Torn
    }
}
