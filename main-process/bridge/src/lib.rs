//! The stdio bridge: connects an agent's client on standard input and output to the running Draftboard, and forwards
//! every line in both directions.
//!
//! Owns: the responses to a client while Draftboard is unreachable, and the resumption of a session after a reconnect.
//! Parses only the JSON-RPC that this needs, and forwards all other lines unparsed. Must not know: the effect of a
//! tool, the address of Draftboard, the way to start it.

mod core;
mod lines;
mod message;
mod pump;
mod refusal;
mod surface;

pub use lines::MAX_LINE_BYTES;
pub use pump::{DraftboardConnector, run};
pub use surface::OfflineSurface;
