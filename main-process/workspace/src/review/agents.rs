//! What agents ask of the queue. The only ends that are reached from here are a proposal that waits, and one that a person
//! has approved beforehand.

use super::{Reviewer, entry};
use crate::{Moment, group::Group};
use authority::proposals::{AgentAsk, AgentOutcome, Client, Granted};
use shared_protocol::{ProposalState, Refusal, review::AuditEvent};

impl Group<'_> {
    /// Carries out what an agent asks on what the group has so far; nothing of it after a refusal.
    pub fn ask(&mut self, client: &Client, ask: &AgentAsk, moment: Moment) -> Result<AgentOutcome, Refusal> {
        self.expire(moment.time);
        self.atomically(|group| group.carry_out(client, ask, moment))
    }

    fn carry_out(
        &mut self,
        client: &Client,
        ask: &AgentAsk,
        moment: Moment,
    ) -> Result<AgentOutcome, Refusal> {
        let Moment { time, seed } = moment;
        let mut done = self.review.queue.ask(&self.state, client, ask, (time, seed))?;
        let proposal = std::sync::Arc::clone(&done.proposal);
        self.touch(proposal.id);
        if done.began {
            self.note(shared_protocol::review::AuditEntry {
                // Its content is still to come; what is submitted has a hash.
                proposal: Some(shared_protocol::review::AuditedProposal {
                    hash: None,
                    ..super::audited(&proposal)
                }),
                ..entry(AuditEvent::Begin, "agent", time)
            });
        }
        if let Some(older) = &done.superseded {
            self.touch(older.id);
            self.note_about(older, AuditEvent::Supersede, "agent", time);
        }
        let event = match (ask, &proposal.state) {
            (_, ProposalState::Open) => Some(AuditEvent::Submit),
            (AgentAsk::Revise(_), _) => Some(AuditEvent::Revise),
            (AgentAsk::Withdraw(_), _) => Some(AuditEvent::Withdraw),
            _ => None,
        };
        if let Some(event) = event {
            self.note_about(&proposal, event, "agent", time);
        }
        let mut accepted = None;
        if event == Some(AuditEvent::Submit)
            && let Some(approval) = self.approval_for(&proposal, time)
        {
            let reviewer = Reviewer::standing(&approval);
            let verdict = self.approved(&proposal)?;
            let decided = self.accept(&verdict, &reviewer, moment)?;
            self.used(approval.id);
            done.proposal = decided.proposal;
            accepted = Some(Granted { approval: approval.id, applied: decided.applied });
        }
        Ok(AgentOutcome { done, accepted })
    }
}
