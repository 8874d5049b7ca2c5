//! Creates frame memory for the host. Its size is fixed and sealed before the descriptor is shared.

use crate::{FrameMemoryReader, mapping};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

#[derive(Debug, thiserror::Error)]
pub enum FrameMemoryError {
    #[error("a frame of {width} × {height} pixels does not fit into frame memory")]
    Size { width: usize, height: usize },
    #[error("could not allocate frame memory: {0}")]
    System(#[from] std::io::Error),
    #[error("the frame memory is not valid: {0}")]
    Invalid(&'static str),
}

impl From<rustix::io::Errno> for FrameMemoryError {
    fn from(error: rustix::io::Errno) -> Self {
        Self::System(error.into())
    }
}

/// Memory for three frames. It can neither shrink nor grow in any process, and it is not executable.
#[derive(Debug)]
pub struct FrameMemory {
    descriptor: OwnedFd,
    width: usize,
    height: usize,
}

impl FrameMemory {
    pub fn new(width: usize, height: usize) -> Result<Self, FrameMemoryError> {
        let wrong = FrameMemoryError::Size { width, height };
        let pixels = width.checked_mul(height).filter(|pixels| *pixels > 0 && *pixels <= 1 << 26);
        let Some(size) = pixels.and_then(mapping::memory_bytes) else { return Err(wrong) };
        let plain = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Kernels before 6.3 do not support the flag; there only the sandbox prevents execution of the memory.
        let descriptor = memfd_create("preview-frames", plain | MemfdFlags::NOEXEC_SEAL)
            .or_else(|_| memfd_create("preview-frames", plain))?;
        ftruncate(&descriptor, size as u64)?;
        fcntl_add_seals(&descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Self { descriptor, width, height })
    }

    /// Adopts frame memory that another process of the host created, such as memory from main in the window.
    pub fn adopt(descriptor: OwnedFd, width: usize, height: usize) -> Result<Self, FrameMemoryError> {
        let memory = Self { descriptor, width, height };
        check_descriptor(memory.descriptor.as_fd(), width, height)?;
        Ok(memory)
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// Creates a reader. Several readers can coexist, and each returns the newest frame, no matter when it was created.
    pub fn reader(&self) -> Result<FrameMemoryReader, FrameMemoryError> {
        FrameMemoryReader::new(self.descriptor.as_fd(), self.width, self.height)
    }
}

impl AsFd for FrameMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Checks size and seals before memory from another process is mapped: access past its end would end the process.
pub(crate) fn check_descriptor(
    descriptor: BorrowedFd<'_>,
    width: usize,
    height: usize,
) -> Result<(), FrameMemoryError> {
    let pixels = width.checked_mul(height).filter(|pixels| *pixels > 0 && *pixels <= 1 << 26);
    let Some(size) = pixels.and_then(mapping::memory_bytes) else {
        return Err(FrameMemoryError::Size { width, height });
    };
    let seals = rustix::fs::fcntl_get_seals(descriptor)
        .map_err(|_| FrameMemoryError::Invalid("it cannot be sealed"))?;
    if !seals.contains(SealFlags::SHRINK) {
        return Err(FrameMemoryError::Invalid("it is not sealed against shrinking"));
    }
    let stat = rustix::fs::fstat(descriptor)?;
    if u64::try_from(stat.st_size).ok() != u64::try_from(size).ok() {
        return Err(FrameMemoryError::Invalid("it does not have the expected size"));
    }
    Ok(())
}
