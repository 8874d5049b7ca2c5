//! Resource limits of the process.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Memory in bytes beyond the start of the process: components, a frame of maximum size, glyphs.
const MAX_EXTRA_MEMORY_BYTES: u64 = 512 << 20;
/// Descriptors for the standard streams, the channel, and frame memory in transit.
const MAX_DESCRIPTORS: u64 = 16;

/// Sets the limits and returns whether all of them are active. `in_use` is the current address space of the process,
/// which differs between machines because the allocator reserves some in advance.
pub(super) fn set(in_use: u64) -> bool {
    let limits = [
        (Resource::As, in_use.saturating_add(MAX_EXTRA_MEMORY_BYTES)),
        (Resource::Nofile, MAX_DESCRIPTORS),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        (Resource::Nproc, 0),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
    ];
    let mut all = true;
    for (resource, most) in limits {
        // Sets every limit even when an earlier one failed.
        all &= setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).is_ok();
    }
    all
}
