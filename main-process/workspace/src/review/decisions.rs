//! Decisions of people. Each yes is checked against the present state in the same group that applies it, and a refused decision
//! is recorded as well.

use super::{bounded_subjects, entry, origin_of, to_audited};
use crate::{Mutation, TimeAndSeed, group::MutationGroup};
use shared_protocol::{
    Actor, ActorKind, Command, OperationKind, Proposal, ProposalId, ProposalSubject, Refusal, RefusalCode,
    Revision,
    messages::AppliedCommand,
    proposal::{ContentHash, ProposalComment, ProposedAction, ReviewVerdict},
    review::{AuditEntry, AuditEvent, MAX_EDIT_COMMANDS, StandingApproval},
};
use std::sync::Arc;

/// The person who decides, and the channel of the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewer {
    pub name: String,
    pub channel: &'static str,
    kind: ActorKind,
    /// The standing approval that decides in place of the person.
    approval: Option<u64>,
}

impl Reviewer {
    pub fn in_window(name: String) -> Self {
        Self { name, channel: "window", kind: ActorKind::Window, approval: None }
    }

    pub fn at_terminal(name: String) -> Self {
        Self { name, channel: "terminal", kind: ActorKind::Terminal, approval: None }
    }

    pub(super) fn from_approval(approval: &StandingApproval) -> Self {
        let name = format!("{} (standing approval {})", approval.by, approval.id);
        let kind = if approval.for_this_run { ActorKind::Terminal } else { ActorKind::Window };
        Self { name, channel: "standing approval", kind, approval: Some(approval.id) }
    }
}

/// The outcome of a yes.
#[derive(Debug, Clone)]
pub struct AcceptedProposal {
    pub proposal: Arc<Proposal>,
    pub applied: Option<AppliedCommand>,
    /// The act to carry out once the decision is durable.
    pub act: Option<ProposedAction>,
}

impl MutationGroup<'_> {
    pub fn accept_verdict(
        &mut self,
        verdict: &ReviewVerdict,
        reviewer: &Reviewer,
        moment: TimeAndSeed,
    ) -> Result<AcceptedProposal, Refusal> {
        self.expire(moment.time);
        let accepted = self.atomically(|group| group.accept(verdict, reviewer, moment));
        accepted.inspect_err(|refusal| self.record_refusal(verdict.proposal, refusal, reviewer, moment.time))
    }

    /// Applies the chosen changes as one operation, and updates the proposal: both or neither.
    pub(super) fn accept(
        &mut self,
        verdict: &ReviewVerdict,
        reviewer: &Reviewer,
        moment: TimeAndSeed,
    ) -> Result<AcceptedProposal, Refusal> {
        self.require_key()?;
        let by = reviewer.name.as_str();
        let acceptance = self.review.queue.accept(verdict, &self.state, moment.time)?;
        let before = self.review.queue.get(verdict.proposal).map(Arc::clone);
        let applied = if acceptance.changes.is_empty() {
            None
        } else {
            self.workspace.boards.refuse_held(&self.state, &acceptance.changes)?;
            let actor = Actor::new(reviewer.kind, by);
            let (summary, changes) = (acceptance.summary.clone(), acceptance.changes.clone());
            Some(self.push(OperationKind::Edit, summary, changes, Vec::new(), (&actor, moment))?)
        };
        let others =
            self.review.queue.record_acceptance(verdict, &acceptance, &self.state, (by, moment.time))?;
        let revision = applied.as_ref().map(|applied| applied.revision);
        let Some((proposal, others)) = others.split_first() else {
            return Err(Refusal::new(RefusalCode::Internal, "The accepted proposal is missing."));
        };
        self.touch(proposal.id);
        for other in others {
            self.note_rebased(other, moment.time);
        }
        let seen = before.unwrap_or_else(|| Arc::clone(proposal));
        if let Some(revision) = revision {
            self.pending.origins.push(origin_of(&seen, revision, by, moment.time));
        }
        self.append_audit(AuditEntry {
            by: Some(by.to_owned()),
            proposal: Some(to_audited(&seen)),
            revision,
            approval: reviewer.approval,
            elements: bounded_subjects(acceptance.subjects.iter()),
            ..entry(AuditEvent::Accept, reviewer.channel, moment.time)
        });
        Ok(AcceptedProposal { proposal: Arc::clone(proposal), applied, act: acceptance.act })
    }

    pub fn reject(
        &mut self,
        (id, version): (ProposalId, u32),
        reason: &str,
        reviewer: &Reviewer,
        moment: TimeAndSeed,
    ) -> Result<Arc<Proposal>, Refusal> {
        self.require_key()?;
        self.expire(moment.time);
        let rejected = self.review.queue.reject((id, version), reason, &reviewer.name);
        let proposal =
            rejected.inspect_err(|refusal| self.record_refusal(id, refusal, reviewer, moment.time))?;
        self.record_decision(&proposal, AuditEvent::Reject, Some(reason), reviewer, moment.time);
        Ok(proposal)
    }

    /// Reverts all accepted parts of a proposal, the newest first, as one operation.
    pub fn revert_proposal(
        &mut self,
        id: ProposalId,
        partial: bool,
        reviewer: &Reviewer,
        moment: TimeAndSeed,
    ) -> Result<AppliedCommand, Refusal> {
        let unknown = || Refusal::new(RefusalCode::NotFound, format!("there is no proposal {id}"));
        let proposal = Arc::clone(self.review.queue.get(id).ok_or_else(unknown)?);
        let revisions: Vec<Revision> =
            proposal.decisions.iter().filter_map(|decided| decided.revision).collect();
        if revisions.is_empty() {
            let message = format!("Proposal {} changed nothing in the workspace.", proposal.number);
            return Err(Refusal::new(RefusalCode::BadRequest, message).hint("Its action cannot be reverted."));
        }
        self.require_key()?;
        let summary = format!("Revert proposal {}: {}", proposal.number, proposal.title);
        let mutation = Mutation::RevertAll { summary, revisions, partial };
        let before = self.state.revision();
        let applied = self.run(&mutation, &Actor::new(reviewer.kind, &reviewer.name), moment)?;
        if applied.revision == before {
            let message = format!("Nothing of proposal {} is left to revert.", proposal.number);
            return Err(Refusal::new(RefusalCode::NotFound, message));
        }
        self.append_audit(AuditEntry {
            by: Some(reviewer.name.clone()),
            proposal: Some(to_audited(&proposal)),
            revision: Some(applied.revision),
            ..entry(AuditEvent::Revert, reviewer.channel, moment.time)
        });
        Ok(applied)
    }

    pub fn rebase_stale(
        &mut self,
        (id, version): (ProposalId, u32),
        reviewer: &Reviewer,
        moment: TimeAndSeed,
    ) -> Result<Arc<Proposal>, Refusal> {
        self.expire(moment.time);
        let proposal = self.review.queue.rebase_stale((id, version), &self.state)?;
        self.record_decision(&proposal, AuditEvent::LookAgain, None, reviewer, moment.time);
        Ok(proposal)
    }

    pub fn edit_proposal(
        &mut self,
        seen: (ProposalId, u32, ContentHash),
        commands: &[Command],
        reviewer: &Reviewer,
        moment: TimeAndSeed,
    ) -> Result<Arc<Proposal>, Refusal> {
        self.expire(moment.time);
        if commands.is_empty() || commands.len() > MAX_EDIT_COMMANDS {
            return Err(Refusal::new(
                RefusalCode::BadRequest,
                format!("an edit has 1 to {MAX_EDIT_COMMANDS} commands"),
            ));
        }
        let batch = match commands {
            [only] => only.clone(),
            several => Command::Batch { summary: None, commands: several.to_vec() },
        };
        let proposal = self.review.queue.amend(seen, &batch, &self.state, &reviewer.name, moment.seed)?;
        self.record_decision(&proposal, AuditEvent::Edit, None, reviewer, moment.time);
        Ok(proposal)
    }

    pub fn comment_on_proposal(
        &mut self,
        id: ProposalId,
        about: Option<ProposalSubject>,
        text: &str,
        reviewer: &Reviewer,
        moment: TimeAndSeed,
    ) -> Result<Arc<Proposal>, Refusal> {
        let comment =
            ProposalComment { by: reviewer.name.clone(), time: moment.time, about, text: text.to_owned() };
        let proposal = self.review.queue.comment(id, comment)?;
        self.record_decision(&proposal, AuditEvent::Comment, None, reviewer, moment.time);
        Ok(proposal)
    }

    /// Records the outcome of a proposal's act.
    pub fn record_outcome(&mut self, id: ProposalId, outcome: &str) {
        if self.review.queue.record_outcome(id, outcome).is_some() {
            self.touch(id);
        }
    }

    /// Records a line of the audit that changes nothing else.
    pub fn record_review_event(
        &mut self,
        event: AuditEvent,
        reviewer: &Reviewer,
        reason: String,
        moment: TimeAndSeed,
    ) {
        self.record_audit_line(event, (reviewer.name.clone(), reviewer.channel), reason, moment);
    }

    /// Records a line of the audit that concerns no proposal: actor, channel and reason.
    pub fn record_audit_line(
        &mut self,
        event: AuditEvent,
        (by, way): (String, &str),
        reason: String,
        moment: TimeAndSeed,
    ) {
        self.append_audit(AuditEntry {
            by: Some(by),
            reason: Some(reason),
            ..entry(event, way, moment.time)
        });
    }

    fn record_decision(
        &mut self,
        proposal: &Proposal,
        event: AuditEvent,
        reason: Option<&str>,
        reviewer: &Reviewer,
        time: u64,
    ) {
        self.touch(proposal.id);
        self.append_audit(AuditEntry {
            by: Some(reviewer.name.clone()),
            proposal: Some(to_audited(proposal)),
            reason: reason.map(str::to_owned),
            ..entry(event, reviewer.channel, time)
        });
    }

    fn record_refusal(&mut self, id: ProposalId, refusal: &Refusal, reviewer: &Reviewer, time: u64) {
        self.append_audit(AuditEntry {
            by: Some(reviewer.name.clone()),
            proposal: self.review.queue.get(id).map(|proposal| to_audited(proposal)),
            reason: Some(refusal.message.clone()),
            ..entry(AuditEvent::Refused, reviewer.channel, time)
        });
    }
}
