//! Limits on what the process can take up.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Memory beyond what the process has when it starts: components, a frame of the largest size, glyphs.
const MEMORY: u64 = 512 << 20;
/// Standard streams, the channel, and frame memory on its way.
const DESCRIPTORS: u64 = 16;

/// True if all of them hold. `in_use` is the address space of the process at present: the allocator reserves some of it
/// ahead, which is different from machine to machine.
pub(super) fn set(in_use: u64) -> bool {
    let limits = [
        (Resource::As, in_use.saturating_add(MEMORY)),
        (Resource::Nofile, DESCRIPTORS),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        (Resource::Nproc, 0),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
    ];
    let mut all = true;
    for (resource, most) in limits {
        // Each is tried, whatever became of the one before.
        all &= setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).is_ok();
    }
    all
}
