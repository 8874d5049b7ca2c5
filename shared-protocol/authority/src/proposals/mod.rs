//! The review queue: agents propose, people decide. A proposal is a list of changes over a base revision; nothing of it
//! touches the workspace before a person accepted it.
//!
//! Everything here is a pure function of a queue, a snapshot and a moment. The process around it makes each step durable
//! and keeps the audit. There is one way to accept, [`Queue::accept`], and it checks all that was seen against all that
//! is: id, version, content hash, base revision, expiry, chosen elements, confirmations.

mod ask;
mod clashes;
mod drafting;
mod effects;
mod moved;
mod needs;
mod opened;
mod overlay;
mod queue;
mod refit;
mod review;
mod risk;
mod words;

pub use ask::{AgentAsk, AgentDone, AgentOutcome, Granted, StepDone, Wanted};
pub use clashes::clashes;
pub(crate) use clashes::reason;
pub use drafting::{Draft, Submission};
pub use effects::{effects, effects_without_cause};
pub use needs::with_needs;
pub use opened::{brief, open};
pub use overlay::Overlay;
pub use queue::{Client, Proposed, Queue, Terms};
pub use review::Acceptance;
pub use risk::risks;
pub use words::lines;
