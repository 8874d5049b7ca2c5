//! The review queue: agents propose, people decide. A proposal is a list of changes over a base revision. It does not
//! touch the workspace before a person accepts it.
//!
//! Everything here is a pure function of a queue, a snapshot, a time and a seed. The host process makes each step
//! durable and writes the audit log. [`Queue::accept`] is the only way to accept. It checks the verdict against the
//! current state: id, version, content hash, base revision, expiry, selected elements, confirmations.

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
