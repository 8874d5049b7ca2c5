//! The host's side: takes the newest frame out of the mailbox, believing nothing that it finds there.
//!
//! Width and height are the host's own. A slot number beyond the last is the last. A frame that changes while it is
//! copied is reported as torn; a preview that tears frames on purpose shows a wrong picture and harms nobody.

use crate::{
    MemoryError, memory,
    shared::{FRESH, Mapping, SLOTS},
};
use std::{
    os::fd::BorrowedFd,
    sync::atomic::{Ordering, fence},
};

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
    /// The slot that is ours at present.
    slot: usize,
}

impl FrameReader {
    pub(crate) fn new(descriptor: BorrowedFd<'_>, width: usize, height: usize) -> Result<Self, MemoryError> {
        memory::check(descriptor, width, height)?;
        let mapping = Mapping::new(descriptor, width * height)?;
        mapping.make_pixels_read_only()?;
        // The writer begins with slot 0, the mailbox holds 1, we hold 2.
        mapping.mailbox().store(1, Ordering::Release);
        Ok(Self { mapping, width, height, slot: SLOTS - 1 })
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// Copies the newest frame into `pixels`, rows from the top, premultiplied; as many pixels as `pixels` holds and no
    /// more than there are. Never waits: the work is one copy, whatever the other side does.
    pub fn take(&mut self, pixels: &mut [[u8; 4]]) -> Taken {
        if self.mapping.mailbox().load(Ordering::Acquire) & FRESH == 0 {
            return Taken::Nothing;
        }
        let theirs = self.mapping.mailbox().swap(self.slot as u32, Ordering::AcqRel);
        self.slot = (theirs & 3).min(SLOTS as u32 - 1) as usize;
        let sequence = self.mapping.sequence(self.slot);
        let before = sequence.load(Ordering::Acquire);
        self.mapping.read(self.slot, pixels);
        fence(Ordering::Acquire);
        let after = sequence.load(Ordering::Relaxed);
        if before == after && before & 1 == 0 { Taken::Frame } else { Taken::Torn }
    }
}
