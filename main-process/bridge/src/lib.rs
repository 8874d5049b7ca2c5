//! The stdio bridge: an agent's client talks to this process over standard input and output, and this process passes every
//! line on to the running Draftboard and back.
//!
//! Owns: what a client is told while Draftboard is away, and how a session goes on when it comes back. It understands just
//! enough JSON-RPC for that; what it can pass on unread, it passes on unread.
//! Must not know: what a tool does, where Draftboard listens, how it is started.

mod away;
mod core;
mod lines;
mod message;
mod pump;
mod surface;

pub use lines::MAX_LINE;
pub use pump::{Reach, run};
pub use surface::Surface;
