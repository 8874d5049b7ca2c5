//! What the preview and its host share besides messages: the memory in which frames lie, and the way a descriptor
//! travels with a message.
//!
//! Owns: the layout of frame memory, making and sealing it, the host's reader and the preview's writer; sending and
//! receiving framed messages with at most one descriptor. Must not know: what a message means, what a frame shows,
//! egui. The host trusts nothing in the memory but the size that it gave it itself.

mod channel;
mod memory;
mod reader;
mod shared;
mod writer;

pub use channel::{Channel, ChannelError};
pub use memory::{FrameMemory, MemoryError};
pub use reader::{FrameReader, Taken};
pub use writer::FrameWriter;
