//! The review queue: agents propose, people decide. A proposal is a list of changes over a base revision. It does not
//! touch the workspace before a person accepts it.
//!
//! Everything here is a pure function of a queue, a snapshot, a time and a seed. The host process makes each step
//! durable and writes the audit log. [`ReviewQueue::accept`] is the only way to accept. It checks the verdict against the
//! current state: id, version, content hash, base revision, expiry, selected elements, confirmations.

mod agent_requests;
mod dependencies;
mod details;
mod effects;
mod field_clashes;
mod overlay;
mod queue;
mod rebase_queue;
mod refit;
mod review;
mod risk;
mod submission;
mod summary_lines;

pub use agent_requests::{
    AgentCallOutcome, AgentRequest, AgentResponse, DraftSelector, DraftStepOutcome, ProposalInput,
    StandingApprovalGrant,
};
pub use dependencies::with_needs;
pub use details::{brief, open};
pub use effects::{effects, effects_without_cause};
pub(crate) use field_clashes::describe_conflict;
pub use field_clashes::field_clashes;
pub use overlay::ProposalOverlay;
pub use queue::{CallingClient, ProposeResult, QueueLimits, ReviewQueue};
pub use review::AcceptedChanges;
pub use risk::risks;
pub use submission::ProposalSubmission;
pub use summary_lines::lines;
