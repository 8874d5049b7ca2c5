//! The one place with unsafe code: mapping the memory, and touching bytes that another process may change meanwhile.
//!
//! Layout: one page with the mailbox and a sequence number for each slot, then three slots of pixels. All numbers are
//! atomics; pixels are read and written as relaxed atomics of a whole pixel, so that a race with the other side can give
//! a mixed picture and never undefined behaviour. On the machines we know these are plain moves.
#![allow(unsafe_code, reason = "shared memory has no safe form")]

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd},
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

/// How many frames fit: one is written, one waits, one is read.
pub(crate) const SLOTS: usize = 3;
const HEADER: usize = 4096;
const PIXEL: usize = 4;

/// In the mailbox: the slot in the low bits, and whether nobody has taken it yet.
pub(crate) const FRESH: u32 = 0x80;

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
    mailbox: AtomicU32,
    _unused: AtomicU32,
    sequences: [AtomicU64; SLOTS],
}

/// Bytes of a memory for frames of so many pixels. None if that is more than there can be.
pub(crate) fn size(pixels: usize) -> Option<usize> {
    pixels.checked_mul(PIXEL * SLOTS)?.checked_add(HEADER)
}

impl Mapping {
    /// The memory behind `descriptor` must be at least [`size`] bytes and must not be able to shrink: both are checked by
    /// the callers, [`crate::FrameMemory`] and [`crate::FrameWriter`].
    pub(crate) fn new(descriptor: BorrowedFd<'_>, pixels: usize) -> io::Result<Self> {
        let size = size(pixels).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a new mapping at an address of the kernel's choice; nothing that exists is touched.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                descriptor.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, pixels })
    }

    /// Takes the right to write the pixels away from this mapping, the header excepted.
    pub(crate) fn make_pixels_read_only(&self) -> io::Result<()> {
        let length = self.pixels * PIXEL * SLOTS;
        // SAFETY: the range is the rest of our own mapping, from a page boundary; nothing here writes pixels through a
        // mapping that a reader holds.
        let result =
            unsafe { libc::mprotect(self.start.as_ptr().add(HEADER).cast(), length, libc::PROT_READ) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping is at least HEADER bytes, aligned to a page, lives as long as `self`, and holds atomics only,
        // for which every content is valid.
        unsafe { self.start.cast::<Header>().as_ref() }
    }

    pub(crate) fn mailbox(&self) -> &AtomicU32 {
        &self.header().mailbox
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
