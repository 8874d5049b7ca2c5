//! Requests of agents to the review queue. They can only lead to a waiting proposal, or to one that a standing approval covers.

use super::{Reviewer, entry};
use crate::{TimeAndSeed, group::MutationGroup};
use authority::proposals::{AgentCallOutcome, AgentRequest, CallingClient, StandingApprovalGrant};
use shared_protocol::{ProposalState, Refusal, review::AuditEvent};

impl MutationGroup<'_> {
    /// Carries out an agent's request on the state of the group. A refusal leaves the group as it was.
    pub fn submit(
        &mut self,
        client: &CallingClient,
        request: &AgentRequest,
        moment: TimeAndSeed,
    ) -> Result<AgentCallOutcome, Refusal> {
        self.expire(moment.time);
        self.atomically(|group| group.execute_agent_request(client, request, moment))
    }

    fn execute_agent_request(
        &mut self,
        client: &CallingClient,
        request: &AgentRequest,
        moment: TimeAndSeed,
    ) -> Result<AgentCallOutcome, Refusal> {
        let TimeAndSeed { time, seed } = moment;
        let mut done = self.review.queue.handle_request(&self.state, client, request, (time, seed))?;
        let proposal = std::sync::Arc::clone(&done.proposal);
        self.touch(proposal.id);
        if done.started_draft {
            self.append_audit(shared_protocol::review::AuditEntry {
                // The content is still to come, so there is no hash before it is submitted.
                proposal: Some(shared_protocol::review::AuditedProposal {
                    hash: None,
                    ..super::to_audited(&proposal)
                }),
                ..entry(AuditEvent::Begin, "agent", time)
            });
        }
        if let Some(older) = &done.superseded {
            self.touch(older.id);
            self.note_about(older, AuditEvent::Supersede, "agent", time);
        }
        let event = match (request, &proposal.state) {
            (_, ProposalState::Open) => Some(AuditEvent::Submit),
            (AgentRequest::Revise(_), _) => Some(AuditEvent::Revise),
            (AgentRequest::Withdraw(_), _) => Some(AuditEvent::Withdraw),
            _ => None,
        };
        if let Some(event) = event {
            self.note_about(&proposal, event, "agent", time);
        }
        let mut accepted = None;
        if event == Some(AuditEvent::Submit)
            && let Some(approval) = self.approval_for(&proposal, time)
        {
            let reviewer = Reviewer::from_approval(&approval);
            let verdict = self.approved(&proposal)?;
            let decided = self.accept(&verdict, &reviewer, moment)?;
            self.count_approval_use(approval.id);
            done.proposal = decided.proposal;
            accepted = Some(StandingApprovalGrant { approval: approval.id, applied: decided.applied });
        }
        Ok(AgentCallOutcome { response: done, accepted })
    }
}
