//! Maps frame memory, and accesses bytes that another process may change at the same time. The only module with unsafe
//! code.
//!
//! Layout: one page with the number of the newest frame and a sequence number for each slot, then three slots of
//! pixels. The crate documentation describes the protocol. All numbers are atomics; pixels are read and written as
//! relaxed atomics of one pixel each, so that a race with the other side yields a mixed picture and never undefined
//! behaviour. On common processors these compile to plain moves.
#![allow(unsafe_code, reason = "shared memory has no safe form")]

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd},
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

/// The number of frame slots. Frames use them in turn, so a copy stays valid while the writer fills the two other slots.
pub(crate) const SLOT_COUNT: usize = 3;
const HEADER_BYTES: usize = 4096;
const PIXEL_BYTES: usize = 4;

/// Returns the slot of a frame. Every number, valid or forged, maps to one of the slots.
pub(crate) fn slot_of(frame: u64) -> usize {
    (frame % SLOT_COUNT as u64) as usize
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MappingAccess {
    Read,
    Write,
}

/// A mapping of frame memory for `pixels` pixels per frame.
#[derive(Debug)]
pub(crate) struct FrameMapping {
    start: NonNull<u8>,
    pixels: usize,
}

// SAFETY: the mapping belongs to this value alone and is accessed only through atomics.
unsafe impl Send for FrameMapping {}

#[repr(C)]
struct FrameMemoryHeader {
    /// The number of the newest frame, starting at 1; 0 before the first frame.
    newest: AtomicU64,
    sequences: [AtomicU64; SLOT_COUNT],
}

/// Returns the bytes of frame memory for frames of `pixels` pixels. Returns `None` on overflow.
pub(crate) fn memory_bytes(pixels: usize) -> Option<usize> {
    pixels.checked_mul(PIXEL_BYTES * SLOT_COUNT)?.checked_add(HEADER_BYTES)
}

impl FrameMapping {
    /// Maps the memory of `descriptor`, which must have at least [`size`] bytes and must be sealed against shrinking.
    /// The callers, [`crate::FrameMemory`] and [`crate::FrameMemoryWriter`], check both.
    pub(crate) fn new(descriptor: BorrowedFd<'_>, pixels: usize, access: MappingAccess) -> io::Result<Self> {
        let size = memory_bytes(pixels).ok_or(io::ErrorKind::OutOfMemory)?;
        let protection = match access {
            MappingAccess::Read => libc::PROT_READ,
            MappingAccess::Write => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: creates a new mapping at an address that the kernel chooses; no existing memory is affected.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, descriptor.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, pixels })
    }

    fn header(&self) -> &FrameMemoryHeader {
        // SAFETY: the mapping is at least HEADER bytes, aligned to a page, lives as long as `self`, and holds atomics
        // only, for which every content is valid.
        unsafe { self.start.cast::<FrameMemoryHeader>().as_ref() }
    }

    /// The number of the newest frame. Only the holder of a writable mapping may store to it and to the sequence numbers.
    pub(crate) fn newest(&self) -> &AtomicU64 {
        &self.header().newest
    }

    /// The sequence number of a slot, odd while the slot is written. An index past the last slot selects the last slot.
    pub(crate) fn sequence(&self, slot: usize) -> &AtomicU64 {
        let [first, second, third] = &self.header().sequences;
        match slot {
            0 => first,
            1 => second,
            _ => third,
        }
    }

    fn slot(&self, slot: usize) -> &[AtomicU32] {
        let slot = slot.min(SLOT_COUNT - 1);
        // SAFETY: `size` guarantees that the slot lies within the mapping; the address is aligned, because the mapping
        // starts at a page and every slot is a whole number of pixels; the content consists of atomics only.
        unsafe {
            let first =
                self.start.as_ptr().add(HEADER_BYTES + slot * self.pixels * PIXEL_BYTES).cast::<AtomicU32>();
            std::slice::from_raw_parts(first, self.pixels)
        }
    }

    pub(crate) fn read(&self, slot: usize, into: &mut [[u8; 4]]) {
        for (to, from) in into.iter_mut().zip(self.slot(slot)) {
            *to = from.load(Ordering::Relaxed).to_ne_bytes();
        }
    }

    pub(crate) fn write(&self, slot: usize, from: &[[u8; 4]]) {
        for (to, from) in self.slot(slot).iter().zip(from) {
            to.store(u32::from_ne_bytes(*from), Ordering::Relaxed);
        }
    }
}

impl Drop for FrameMapping {
    fn drop(&mut self) {
        if let Some(size) = memory_bytes(self.pixels) {
            // SAFETY: unmaps exactly the range that `new` mapped; `self` is being dropped, so no reference into it
            // exists.
            unsafe { libc::munmap(self.start.as_ptr().cast(), size) };
        }
    }
}
