//! Decisions of people. Only the window's private channel and a terminal with a code shown in the window lead here; no
//! agent request does.

use super::{
    Queue,
    effects::{effects_without_cause, split},
    moved::chosen_again,
    needs::with_needs,
    overlay::{Overlay, stale},
    refit::{Refit, refit},
    risk::is_destructive,
};
use crate::Snapshot;
use shared_protocol::{
    Change, Code, Command, Proposal, ProposalId, ProposalState, Refusal, Subject,
    proposal::{Act, Comment, ContentHash, Decided, Step, Verdict},
};
use std::{collections::BTreeSet, sync::Arc};

/// The effect of an accepted proposal on the workspace, as one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Acceptance {
    pub summary: String,
    pub changes: Vec<Change>,
    pub subjects: BTreeSet<Subject>,
    /// The action to run after the operation is durable.
    pub act: Option<Act>,
}

impl Queue {
    /// Returns the proposal of a verdict, if it is open and unchanged since the reviewer saw it.
    fn seen(&self, verdict: &Verdict, now: u64) -> Result<&Arc<Proposal>, Refusal> {
        let id = verdict.proposal;
        let proposal =
            self.get(id).ok_or_else(|| Refusal::new(Code::NotFound, format!("there is no proposal {id}")))?;
        let refuse =
            |code, message: String| Err(Refusal::new(code, message).hint("Review it again, then decide."));
        match &proposal.state {
            ProposalState::Open => {}
            ProposalState::Stale { .. } => {
                return refuse(Code::Stale, format!("elements of {id} were changed in the meantime"));
            }
            other => {
                return refuse(Code::Conflict, format!("{id} is {} and cannot be decided", other.word()));
            }
        }
        if proposal.expires <= now {
            return refuse(Code::Stale, format!("{id} has expired"));
        }
        if proposal.version != verdict.version {
            let message = format!("{id} is now at version {}, not {}", proposal.version, verdict.version);
            return refuse(Code::Stale, message);
        }
        if proposal.content_hash()? != verdict.hash {
            return refuse(Code::Stale, format!("the content of {id} has changed since it was reviewed"));
        }
        if self.base(proposal) != verdict.base {
            return refuse(Code::Stale, format!("the workspace changed while {id} was under review"));
        }
        Ok(proposal)
    }

    /// Checks an acceptance against the current state and returns its effect. Changes nothing: the caller makes the
    /// operation durable and then calls [`Self::accepted`], both or neither.
    pub fn accept(&self, verdict: &Verdict, snapshot: &Snapshot, now: u64) -> Result<Acceptance, Refusal> {
        let proposal = self.seen(verdict, now)?;
        if self.base(proposal) != snapshot.revision() {
            let message = format!("the workspace changed while {} was under review", proposal.id);
            return Err(Refusal::new(Code::Stale, message).hint("Review it again, then decide."));
        }
        let all: BTreeSet<Subject> = proposal.subjects().into_iter().collect();
        let subjects = match &verdict.chosen {
            None => all,
            Some(chosen) => {
                if let Some(foreign) = chosen.iter().find(|subject| !all.contains(subject)) {
                    let message = format!("{foreign} is not part of {}", proposal.id);
                    return Err(Refusal::new(Code::BadRequest, message));
                }
                with_needs(snapshot, &proposal.changes, chosen.iter().cloned())
            }
        };
        if subjects.is_empty() {
            return Err(Refusal::new(Code::BadRequest, "nothing is selected")
                .hint("Select at least one element, or reject it."));
        }
        if let Some((effect, causes)) = effects_without_cause(&proposal.changes, &subjects).pop_first() {
            let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
            let message = format!("{effect} changes only because {} is removed", causes.join(" or "));
            return Err(
                Refusal::new(Code::BadRequest, message).hint("Select the removal as well, or deselect both.")
            );
        }
        let (part, left) = split(&proposal.changes, &subjects);
        let act = proposal.act.clone().filter(|_| subjects.contains(&Subject::Act));
        let grave = act.as_ref().filter(|act| act.is_grave()).map(|_| Subject::Act);
        let destructive = part.iter().filter(|change| is_destructive(snapshot, change)).map(Subject::of);
        let unconfirmed =
            grave.into_iter().chain(destructive).find(|subject| !verdict.confirmed.contains(subject));
        if let Some(subject) = unconfirmed {
            let message = format!("{subject} is destructive and was not confirmed");
            return Err(Refusal::new(Code::ConfirmationRequired, message)
                .hint("Confirm each destructive change explicitly."));
        }
        let applies = matches!(&act, Some(Act::Run { operation, .. }) if operation.needs_confirmation());
        if applies && verdict.plan.is_none() {
            let message = format!("{} has no plan yet, so it cannot be accepted", proposal.id);
            return Err(Refusal::new(Code::ConfirmationRequired, message)
                .hint("Wait for the plan or press Plan, then review the plan and decide."));
        }
        let overlay = Overlay::or_stale(snapshot, &part)?;
        let is_part = !left.is_empty() || subjects.len() < proposal.subjects().len();
        let of = if is_part { "Accept part of" } else { "Accept" };
        let summary = format!("{of} “{}” by {}", proposal.title, proposal.proposer.name);
        Ok(Acceptance { summary, changes: overlay.changes, subjects, act })
    }

    /// Records that an acceptance became an operation and rebases the other proposals. The rest of a partly accepted
    /// proposal stays open as a new version. Returns the proposals that differ, this one first.
    pub fn accepted(
        &mut self,
        verdict: &Verdict,
        acceptance: &Acceptance,
        snapshot: &Snapshot,
        (by, time): (&str, u64),
    ) -> Result<Vec<Arc<Proposal>>, Refusal> {
        let mut proposal = Proposal::clone(self.seen(verdict, time)?);
        proposal.decisions.push(Decided {
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
            match Overlay::over(snapshot, &proposal.changes) {
                Ok(_) => ProposalState::Open,
                Err(why) => ProposalState::Stale { why },
            }
        };
        // Before the rest is stored: the accepted part must not make the rest stale.
        let mut others = self.moved(snapshot, &acceptance.changes, by);
        others.retain(|other| other.id != proposal.id);
        let rest = self.put(proposal);
        Ok(std::iter::once(rest).chain(others).collect())
    }

    pub fn reject(
        &mut self,
        (id, version): (ProposalId, u32),
        reason: &str,
        by: &str,
    ) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.undecided_at(id, version)?);
        if reason.trim().is_empty() || reason.len() > self.terms.most_text {
            let message = "a rejection needs a reason for the agent";
            return Err(Refusal::new(Code::BadRequest, message).field("reason"));
        }
        proposal.state = ProposalState::Rejected { reason: reason.to_owned(), by: by.to_owned() };
        Ok(self.put(proposal))
    }

    /// Rebases a proposal onto the current state after a reviewer saw what changed.
    pub fn look_again(
        &mut self,
        (id, version): (ProposalId, u32),
        snapshot: &Snapshot,
    ) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.undecided_at(id, version)?);
        let Refit { overlay, notes, .. } = refit(snapshot, &proposal).map_err(stale)?;
        proposal.changes = overlay.changes;
        proposal.steps.extend(notes.into_iter().map(chosen_again));
        proposal.base = snapshot.revision();
        proposal.version += 1;
        proposal.state = ProposalState::Open;
        Ok(self.put(proposal))
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
                Code::Stale,
                format!("the content of {id} has changed since it was reviewed"),
            )
            .hint("Review it again, then decide."));
        }
        let Refit { mut overlay, notes, .. } = refit(snapshot, &proposal).map_err(stale)?;
        let decision = overlay.run(command, seed)?;
        proposal.changes = overlay.changes;
        proposal.chosen.extend(&decision.chosen);
        proposal.steps.extend(notes.into_iter().map(chosen_again));
        proposal.base = snapshot.revision();
        proposal.version += 1;
        proposal.state = ProposalState::Open;
        proposal.steps.push(Step { summary: decision.summary, by_reviewer: Some(by.to_owned()) });
        Ok(self.put(proposal))
    }

    pub fn comment(&mut self, id: ProposalId, comment: Comment) -> Result<Arc<Proposal>, Refusal> {
        const MOST_COMMENTS: usize = 500;
        let mut proposal = Proposal::clone(self.undecided(id)?);
        if comment.text.trim().is_empty() || comment.text.len() > self.terms.most_text {
            let message = format!("a comment must have 1 to {} bytes", self.terms.most_text);
            return Err(Refusal::new(Code::BadRequest, message).field("text"));
        }
        if let Some(about) = comment.about.as_ref().filter(|about| !proposal.subjects().contains(about)) {
            let message = format!("{about} is not part of {id}");
            return Err(Refusal::new(Code::BadRequest, message)
                .field("about")
                .hint("Comment on one of its elements or on the whole proposal."));
        }
        if proposal.comments.len() >= MOST_COMMENTS {
            return Err(Refusal::new(
                Code::LimitExceeded,
                format!("a proposal can have at most {MOST_COMMENTS} comments"),
            ));
        }
        proposal.comments.push(comment);
        Ok(self.put(proposal))
    }

    /// Records the outcome of a proposal's action.
    pub fn came_of(&mut self, id: ProposalId, outcome: &str) -> Option<Arc<Proposal>> {
        let mut proposal = Proposal::clone(self.get(id)?);
        proposal.outcome = Some(outcome.chars().take(1_000).collect());
        Some(self.put(proposal))
    }

    /// Returns an undecided proposal if it is still at this version.
    fn undecided_at(&self, id: ProposalId, version: u32) -> Result<&Arc<Proposal>, Refusal> {
        let proposal = self.undecided(id)?;
        if proposal.version == version {
            return Ok(proposal);
        }
        let message = format!("{id} is now at version {}, not {version}", proposal.version);
        Err(Refusal::new(Code::Stale, message).hint("Review it again, then decide."))
    }

    /// Returns an open or stale proposal.
    fn undecided(&self, id: ProposalId) -> Result<&Arc<Proposal>, Refusal> {
        let proposal =
            self.get(id).ok_or_else(|| Refusal::new(Code::NotFound, format!("there is no proposal {id}")))?;
        match &proposal.state {
            ProposalState::Open | ProposalState::Stale { .. } => Ok(proposal),
            other => {
                Err(Refusal::new(Code::Conflict, format!("{id} is {} and not open for review", other.word())))
            }
        }
    }
}
