//! Decisions of people. Only the window's private channel and a terminal with a code shown in the window lead here; no
//! agent request does.

use super::{
    ReviewQueue,
    dependencies::with_needs,
    effects::{effects_without_cause, split},
    overlay::{ProposalOverlay, stale_refusal},
    rebase_queue::note_step,
    refit::{RefitResult, refit},
    risk::is_destructive,
};
use crate::{Snapshot, decide};
use shared_protocol::{
    Change, Command, Proposal, ProposalId, ProposalState, ProposalSubject, Refusal, RefusalCode,
    proposal::{
        ContentHash, ProposalAcceptance, ProposalComment, ProposalStep, ProposedAction, ReviewVerdict,
    },
};
use std::{collections::BTreeSet, sync::Arc};

/// The effect of an accepted proposal on the workspace, as one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedChanges {
    pub summary: String,
    pub changes: Vec<Change>,
    pub subjects: BTreeSet<ProposalSubject>,
    /// The action to run after the operation is durable.
    pub act: Option<ProposedAction>,
}

impl ReviewQueue {
    /// Returns the proposal of a verdict, if it is open and unchanged since the reviewer saw it.
    fn check_verdict(&self, verdict: &ReviewVerdict, now: u64) -> Result<&Arc<Proposal>, Refusal> {
        let id = verdict.proposal;
        let proposal = self
            .get(id)
            .ok_or_else(|| Refusal::new(RefusalCode::NotFound, format!("there is no proposal {id}")))?;
        let refuse =
            |code, message: String| Err(Refusal::new(code, message).hint("Review it again, then decide."));
        match &proposal.state {
            ProposalState::Open => {}
            ProposalState::Stale { .. } => {
                return refuse(RefusalCode::Stale, format!("elements of {id} were changed in the meantime"));
            }
            other => {
                return refuse(
                    RefusalCode::Conflict,
                    format!("{id} is {} and cannot be decided", other.as_str()),
                );
            }
        }
        if proposal.expires <= now {
            return refuse(RefusalCode::Stale, format!("{id} has expired"));
        }
        if proposal.version != verdict.version {
            let message = format!("{id} is now at version {}, not {}", proposal.version, verdict.version);
            return refuse(RefusalCode::Stale, message);
        }
        if proposal.content_hash()? != verdict.hash {
            return refuse(
                RefusalCode::Stale,
                format!("the content of {id} has changed since it was reviewed"),
            );
        }
        if self.base(proposal) != verdict.base {
            return refuse(RefusalCode::Stale, format!("the workspace changed while {id} was under review"));
        }
        Ok(proposal)
    }

    /// Checks an acceptance against the current state and returns its effect. Changes nothing: the caller makes the
    /// operation durable and then calls [`Self::record_acceptance`], both or neither.
    pub fn accept(
        &self,
        verdict: &ReviewVerdict,
        snapshot: &Snapshot,
        now: u64,
    ) -> Result<AcceptedChanges, Refusal> {
        let proposal = self.check_verdict(verdict, now)?;
        if self.base(proposal) != snapshot.revision() {
            let message = format!("the workspace changed while {} was under review", proposal.id);
            return Err(Refusal::new(RefusalCode::Stale, message).hint("Review it again, then decide."));
        }
        let all: BTreeSet<ProposalSubject> = proposal.subjects().into_iter().collect();
        let subjects = match &verdict.chosen {
            None => all,
            Some(chosen) => {
                if let Some(foreign) = chosen.iter().find(|subject| !all.contains(subject)) {
                    let message = format!("{foreign} is not part of {}", proposal.id);
                    return Err(Refusal::new(RefusalCode::BadRequest, message));
                }
                with_needs(snapshot, &proposal.changes, chosen.iter().cloned())
            }
        };
        if subjects.is_empty() {
            return Err(Refusal::new(RefusalCode::BadRequest, "nothing is selected")
                .hint("Select at least one element, or reject it."));
        }
        if let Some((effect, causes)) = effects_without_cause(&proposal.changes, &subjects).pop_first() {
            let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
            let message = format!("{effect} changes only because {} is removed", causes.join(" or "));
            return Err(Refusal::new(RefusalCode::BadRequest, message)
                .hint("Select the removal as well, or deselect both."));
        }
        let (part, left) = split(&proposal.changes, &subjects);
        let act = proposal.act.clone().filter(|_| subjects.contains(&ProposalSubject::Act));
        let grave = act.as_ref().filter(|act| act.is_high_risk()).map(|_| ProposalSubject::Act);
        let destructive =
            part.iter().filter(|change| is_destructive(snapshot, change)).map(ProposalSubject::of_change);
        let unconfirmed =
            grave.into_iter().chain(destructive).find(|subject| !verdict.confirmed.contains(subject));
        if let Some(subject) = unconfirmed {
            let message = format!("{subject} is destructive and was not confirmed");
            return Err(Refusal::new(RefusalCode::ConfirmationRequired, message)
                .hint("Confirm each destructive change explicitly."));
        }
        let applies =
            matches!(&act, Some(ProposedAction::Run { operation, .. }) if operation.needs_confirmation());
        if applies && verdict.plan.is_none() {
            let message = format!("{} has no plan yet, so it cannot be accepted", proposal.id);
            return Err(Refusal::new(RefusalCode::ConfirmationRequired, message)
                .hint("Wait for the plan or press Plan, then review the plan and decide."));
        }
        let overlay = ProposalOverlay::rebase_or_refuse(snapshot, &part)?;
        let is_part = !left.is_empty() || subjects.len() < proposal.subjects().len();
        let of = if is_part { "Accept part of" } else { "Accept" };
        let summary = format!("{of} “{}” by {}", proposal.title, proposal.proposer.name);
        Ok(AcceptedChanges { summary, changes: overlay.changes, subjects, act })
    }

    /// Records that an acceptance became an operation and rebases the other proposals. The rest of a partly accepted
    /// proposal stays open as a new version. Returns the proposals that differ, this one first.
    pub fn record_acceptance(
        &mut self,
        verdict: &ReviewVerdict,
        acceptance: &AcceptedChanges,
        snapshot: &Snapshot,
        (by, time): (&str, u64),
    ) -> Result<Vec<Arc<Proposal>>, Refusal> {
        let mut proposal = Proposal::clone(self.check_verdict(verdict, time)?);
        proposal.decisions.push(ProposalAcceptance {
            version: proposal.version,
            hash: verdict.hash,
            revision: (!acceptance.changes.is_empty()).then(|| snapshot.revision()),
            subjects: acceptance.subjects.iter().cloned().collect(),
            by: by.to_owned(),
            time,
        });
        proposal.changes = split(&proposal.changes, &acceptance.subjects).1;
        let is_whole = proposal.changes.is_empty();
        proposal.version += 1;
        proposal.base = snapshot.revision();
        proposal.state = if is_whole {
            ProposalState::Accepted
        } else {
            match ProposalOverlay::rebase_strict(snapshot, &proposal.changes) {
                Ok(_) => ProposalState::Open,
                Err(why) => ProposalState::Stale { why },
            }
        };
        // Before the rest is stored: the accepted part must not make the rest stale.
        let mut others = self.rebase_after(snapshot, &acceptance.changes, by);
        others.retain(|other| other.id != proposal.id);
        let rest = self.store(proposal);
        Ok(std::iter::once(rest).chain(others).collect())
    }

    pub fn reject(
        &mut self,
        (id, version): (ProposalId, u32),
        reason: &str,
        by: &str,
    ) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.undecided_at(id, version)?);
        if reason.trim().is_empty() || reason.len() > self.limits.max_text_bytes {
            let message = "a rejection needs a reason for the agent";
            return Err(Refusal::new(RefusalCode::BadRequest, message).field("reason"));
        }
        proposal.state = ProposalState::Rejected { reason: reason.to_owned(), by: by.to_owned() };
        Ok(self.store(proposal))
    }

    /// Rebases a proposal onto the current state after a reviewer saw what changed.
    pub fn rebase_stale(
        &mut self,
        (id, version): (ProposalId, u32),
        snapshot: &Snapshot,
    ) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.undecided_at(id, version)?);
        let RefitResult { overlay, notes, .. } = refit(snapshot, &proposal).map_err(stale_refusal)?;
        proposal.changes = overlay.changes;
        proposal.steps.extend(notes.into_iter().map(note_step));
        proposal.base = snapshot.revision();
        proposal.version += 1;
        proposal.state = ProposalState::Open;
        Ok(self.store(proposal))
    }

    /// Applies a reviewer's own edit, recorded as such. A verdict must be given on the new version.
    pub fn amend(
        &mut self,
        (id, version, hash): (ProposalId, u32, ContentHash),
        command: &Command,
        snapshot: &Snapshot,
        by: &str,
        seed: u64,
    ) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.undecided_at(id, version)?);
        if proposal.content_hash()? != hash {
            return Err(Refusal::new(
                RefusalCode::Stale,
                format!("the content of {id} has changed since it was reviewed"),
            )
            .hint("Review it again, then decide."));
        }
        let RefitResult { mut overlay, notes, .. } = refit(snapshot, &proposal).map_err(stale_refusal)?;
        let decision = decide(&overlay.state, command, seed)?;
        overlay.add(&decision.changes)?;
        proposal.changes = overlay.changes;
        proposal.chosen.extend(&decision.assignments);
        proposal.steps.extend(notes.into_iter().map(note_step));
        proposal.base = snapshot.revision();
        proposal.version += 1;
        proposal.state = ProposalState::Open;
        proposal.steps.push(ProposalStep { summary: decision.summary, by_reviewer: Some(by.to_owned()) });
        Ok(self.store(proposal))
    }

    pub fn comment(&mut self, id: ProposalId, comment: ProposalComment) -> Result<Arc<Proposal>, Refusal> {
        const MAX_COMMENTS: usize = 500;
        let mut proposal = Proposal::clone(self.find_undecided(id)?);
        if comment.text.trim().is_empty() || comment.text.len() > self.limits.max_text_bytes {
            let message = format!("a comment must have 1 to {} bytes", self.limits.max_text_bytes);
            return Err(Refusal::new(RefusalCode::BadRequest, message).field("text"));
        }
        if let Some(about) = comment.about.as_ref().filter(|about| !proposal.subjects().contains(about)) {
            let message = format!("{about} is not part of {id}");
            return Err(Refusal::new(RefusalCode::BadRequest, message)
                .field("about")
                .hint("Comment on one of its elements or on the whole proposal."));
        }
        if proposal.comments.len() >= MAX_COMMENTS {
            return Err(Refusal::new(
                RefusalCode::LimitExceeded,
                format!("a proposal can have at most {MAX_COMMENTS} comments"),
            ));
        }
        proposal.comments.push(comment);
        Ok(self.store(proposal))
    }

    /// Records the outcome of a proposal's action.
    pub fn record_outcome(&mut self, id: ProposalId, outcome: &str) -> Option<Arc<Proposal>> {
        let mut proposal = Proposal::clone(self.get(id)?);
        proposal.outcome = Some(outcome.chars().take(1_000).collect());
        Some(self.store(proposal))
    }

    /// Returns an undecided proposal if it is still at this version.
    fn undecided_at(&self, id: ProposalId, version: u32) -> Result<&Arc<Proposal>, Refusal> {
        let proposal = self.find_undecided(id)?;
        if proposal.version == version {
            return Ok(proposal);
        }
        let message = format!("{id} is now at version {}, not {version}", proposal.version);
        Err(Refusal::new(RefusalCode::Stale, message).hint("Review it again, then decide."))
    }

    /// Returns an open or stale proposal.
    fn find_undecided(&self, id: ProposalId) -> Result<&Arc<Proposal>, Refusal> {
        let proposal = self
            .get(id)
            .ok_or_else(|| Refusal::new(RefusalCode::NotFound, format!("there is no proposal {id}")))?;
        match &proposal.state {
            ProposalState::Open | ProposalState::Stale { .. } => Ok(proposal),
            other => Err(Refusal::new(
                RefusalCode::Conflict,
                format!("{id} is {} and not open for review", other.as_str()),
            )),
        }
    }
}
