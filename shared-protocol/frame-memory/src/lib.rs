//! Shared memory for preview frames, and a channel for framed messages that can carry a file descriptor.
//!
//! Owns: the layout of frame memory, its creation and sealing, the reader for the host and the writer for the preview;
//! the sending and receiving of framed messages with at most one descriptor each. Must not know: the meaning of a
//! message, the content of a frame, egui.
//!
//! # The three-slot frame protocol
//!
//! The preview renders frames in a sandboxed process. The window shows them, and main reads them for screenshots.
//! Frames pass through one sealed `memfd` that all of them map. A frame has up to 64 Mi pixels of 4 bytes, so copying
//! frames through a socket would be too slow. The host does not trust the preview, and that decides the design:
//!
//! - **No locks.** The preview runs untrusted components. If the reader took a lock that the preview can hold, a
//!   preview that hangs or is killed while holding it would freeze the window.
//! - **No acknowledgements.** The readers map the memory read-only, so any number of them can attach and detach at any
//!   time, and none of them can slow the preview down.
//! - **Only the newest frame counts.** A reader that is late skips frames. There is no queue that could grow.
//!
//! ```text
//! offset 0        newest         number of the newest complete frame, 0 before the first (AtomicU64)
//!        8        sequences[0]   one sequence number for each slot: odd while the slot is written (AtomicU64)
//!        16       sequences[1]
//!        24       sequences[2]
//!        4096     slot 0         width × height pixels (AtomicU32 each)
//!                 slot 1
//!                 slot 2
//! ```
//!
//! Frame `n` always lies in slot `n % 3`. Each slot is a *seqlock*: a sequence number around data that one side writes
//! and the other side copies optimistically.
//!
//! ## Writer steps ([`FrameMemoryWriter::write_frame`])
//!
//! 1. Take the next frame number `n` and its slot `s = n % 3`, the slot that was written longest ago.
//! 2. Make `sequences[s]` odd. From here on, every copy from slot `s` is invalid.
//! 3. Write the pixels.
//! 4. Make `sequences[s]` even again, 2 higher than before.
//! 5. Store `n` in `newest`. From here on, readers find the frame.
//!
//! ## Reader steps ([`FrameMemoryReader::copy_frame`])
//!
//! 1. Load `newest`. If it is the number of the last frame taken, return [`FrameCopyOutcome::NoNewFrame`].
//! 2. Load `sequences[newest % 3]` as `before`.
//! 3. Copy the pixels.
//! 4. Load the sequence number again. If `before` is even and the number is still `before`, the copy is whole: return
//!    [`FrameCopyOutcome::Frame`].
//! 5. Otherwise start again at step 1, once. If the second copy fails too, return [`FrameCopyOutcome::Torn`].
//!
//! ## A worked example
//!
//! Time runs downwards. The writer has published frame 4 and goes on with 5, 6 and 7. `w` marks the slot that is being
//! written.
//!
//! ```text
//! writer                newest   slot 0    slot 1    slot 2     reader
//!                                (frame: sequence number)
//! ───────────────────────────────────────────────────────────────────────────────────────────────
//! frame 4 published     4        3: 2      4: 4      2: 2       newest = 4, slot 1, before = 4
//! writes frame 5        4        3: 2      4: 4      5: 3 w       copies slot 1 …
//! frame 5 published     5        3: 2      4: 4      5: 4         … still copies slot 1 …
//! writes frame 6        5        6: 3 w    4: 4      5: 4         … done; seq is still 4: Frame (4)
//! frame 6 published     6        6: 4      4: 4      5: 4       newest = 6, slot 0, before = 4
//! writes frame 7        6        6: 4      7: 5 w    5: 4         copies slot 0, seq is still 4: Frame (6)
//! ```
//!
//! The first copy took as long as one whole frame and part of the next, and is still valid: the writer fills the two
//! other slots before it returns to slot 1. Frame 5 is never shown, because a newer frame was there when the reader
//! looked again.
//!
//! ## Why neither side waits
//!
//! The writer never reads anything that a reader wrote; its steps are a fixed number of stores. The reader makes at
//! most two copies and then returns, whatever the memory contains. Three slots make the second copy rare: with one slot
//! almost every copy would meet a write, and with two slots a reader that is slower than one frame would. With three
//! slots the writer must finish two whole frames and begin a third within a single copy.
//!
//! ## Torn frames
//!
//! A copy is *torn* when it mixes pixels of two frames that used the same slot. Here frame 7 overwrites frame 4 while
//! the reader copies slot 1:
//!
//! ```text
//! slot 1 while the copy is in row 3        the finished copy
//!    7 7 7 7 7 7 7 7                       4 4 4 4 4 4 4 4   copied before the write
//!    7 7 7 7 7 7 7 7                       4 4 4 4 4 4 4 4
//!    7 7 7 7 7 7 7 7                       4 4 7 7 7 7 7 7   the writer overtook the copy here
//!    7 7 7 4 4 4 4 4  ◀─ writer            7 7 7 7 7 7 7 7
//!
//! sequences[1]: 4 before the copy; 5 (write in progress) or 6 (write finished) after it → torn
//! ```
//!
//! The pixels alone do not show that the copy is mixed; the sequence number does. It is odd during the write and 2
//! higher after it, so it differs from `before` in both cases. If the copy starts during the write, `before` itself is
//! odd. The caller drops a torn copy and keeps the previous picture; the next frame follows.
//!
//! ## Memory ordering
//!
//! The writer's odd store is followed by a fence, so that no pixel store becomes visible before it. The even store and
//! the store of `newest` are releases, so that all pixels are visible before them. The reader loads `newest` and
//! `before` with acquire, and an acquire fence after the copy keeps the second sequence load behind the pixel loads.
//! Pixels are relaxed atomics: a race yields a mixed picture, never undefined behaviour.
//!
//! ## A hostile preview
//!
//! The preview can write any value anywhere in the memory. The reader therefore trusts nothing in it: width and height
//! come from the host, every frame number maps to one of the three slots, the number of copies is bounded, and seals
//! prevent the memory from shrinking under the mapping. A preview that forges sequence numbers can only present a torn
//! picture of its own content.

mod channel;
mod mapping;
mod memory;
mod reader;
mod writer;

pub use channel::{DescriptorChannel, DescriptorChannelError};
pub use memory::{FrameMemory, FrameMemoryError};
pub use reader::{FrameCopyOutcome, FrameMemoryReader};
pub use writer::FrameMemoryWriter;
