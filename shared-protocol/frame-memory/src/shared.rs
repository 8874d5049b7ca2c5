//! The one place with unsafe code: mapping the memory, and touching bytes that another process may change meanwhile.
//!
//! Layout: one page with the number of the newest frame and a sequence number for each slot, then three slots of pixels.
//! All numbers are atomics; pixels are read and written as relaxed atomics of a whole pixel, so that a race with the other
//! side can give a mixed picture and never undefined behaviour. On the machines we know these are plain moves.
#![allow(unsafe_code, reason = "shared memory has no safe form")]

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd},
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

/// How many frames fit. They are written in turn, so whoever copies one has the time of two others before it changes.
pub(crate) const SLOTS: usize = 3;
const HEADER: usize = 4096;
const PIXEL: usize = 4;

/// Where a frame lies. Whatever the number, it is one of the slots.
pub(crate) fn slot_of(frame: u64) -> usize {
    (frame % SLOTS as u64) as usize
}

/// What a mapping is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A mapping of frame memory for so many pixels.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    pixels: usize,
}

// SAFETY: the mapping belongs to this value alone and is only touched through atomics.
unsafe impl Send for Mapping {}

#[repr(C)]
struct Header {
    /// The number of the newest frame, from 1.
    newest: AtomicU64,
    sequences: [AtomicU64; SLOTS],
}

/// Bytes of a memory for frames of so many pixels. None if that is more than there can be.
pub(crate) fn size(pixels: usize) -> Option<usize> {
    pixels.checked_mul(PIXEL * SLOTS)?.checked_add(HEADER)
}

impl Mapping {
    /// The memory behind `descriptor` must be at least [`size`] bytes and must not be able to shrink: both are checked by
    /// the callers, [`crate::FrameMemory`] and [`crate::FrameWriter`].
    pub(crate) fn new(descriptor: BorrowedFd<'_>, pixels: usize, access: Access) -> io::Result<Self> {
        let size = size(pixels).ok_or(io::ErrorKind::OutOfMemory)?;
        let protection = match access {
            Access::Read => libc::PROT_READ,
            Access::Write => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: a new mapping at an address of the kernel's choice; nothing that exists is touched.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, descriptor.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, pixels })
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping is at least HEADER bytes, aligned to a page, lives as long as `self`, and holds atomics only,
        // for which every content is valid.
        unsafe { self.start.cast::<Header>().as_ref() }
    }

    /// Only to be stored to by the holder of a mapping for writing; so are the sequence numbers.
    pub(crate) fn newest(&self) -> &AtomicU64 {
        &self.header().newest
    }

    /// The sequence number of a slot, odd while it is written. Slots beyond the last are the last.
    pub(crate) fn sequence(&self, slot: usize) -> &AtomicU64 {
        let [first, second, third] = &self.header().sequences;
        match slot {
            0 => first,
            1 => second,
            _ => third,
        }
    }

    fn slot(&self, slot: usize) -> &[AtomicU32] {
        let slot = slot.min(SLOTS - 1);
        // SAFETY: the slot lies wholly within the mapping, `size` saw to that; the address is aligned, because the mapping
        // is to a page and every slot is a whole number of pixels; the content is atomics only.
        unsafe {
            let first = self.start.as_ptr().add(HEADER + slot * self.pixels * PIXEL).cast::<AtomicU32>();
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

impl Drop for Mapping {
    fn drop(&mut self) {
        if let Some(size) = size(self.pixels) {
            // SAFETY: exactly what `new` mapped, and nobody can hold a reference into it any more.
            unsafe { libc::munmap(self.start.as_ptr().cast(), size) };
        }
    }
}
