//! What people decide. These functions are reached from the window's private channel and from a terminal with a code that
//! only the window shows; no agent's call leads here.

use super::{Queue, needs::with_needs, overlay::Overlay, risk::is_destructive};
use crate::Snapshot;
use shared_protocol::{
    Change, Code, Command, Proposal, ProposalId, ProposalState, Refusal, Subject,
    proposal::{Comment, Decided, Step, Verdict},
};
use std::{collections::BTreeSet, sync::Arc};

/// What an accepted proposal does to the workspace, in one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Acceptance {
    pub summary: String,
    pub changes: Vec<Change>,
    pub subjects: BTreeSet<Subject>,
}

impl Queue {
    /// The proposal that a person sees, if it is still that one and still waits.
    fn seen(&self, verdict: &Verdict, now: u64) -> Result<&Arc<Proposal>, Refusal> {
        let id = verdict.proposal;
        let proposal =
            self.get(id).ok_or_else(|| Refusal::new(Code::NotFound, format!("there is no proposal {id}")))?;
        let refuse =
            |code, message: String| Err(Refusal::new(code, message).hint("Look at it again, then decide."));
        match &proposal.state {
            ProposalState::Open => {}
            ProposalState::Stale { .. } => {
                return refuse(Code::Stale, format!("what {id} touches was changed since"));
            }
            other => {
                return refuse(Code::Conflict, format!("{id} is {} and cannot be decided", other.word()));
            }
        }
        if proposal.expires <= now {
            return refuse(Code::Stale, format!("{id} has expired"));
        }
        if proposal.version != verdict.version {
            let message =
                format!("{id} is at version {} and not {} any more", proposal.version, verdict.version);
            return refuse(Code::Stale, message);
        }
        if proposal.content_hash()? != verdict.hash {
            return refuse(Code::Stale, format!("{id} is not what was looked at"));
        }
        if proposal.base != verdict.base {
            return refuse(Code::Stale, format!("the workspace went on while {id} was looked at"));
        }
        Ok(proposal)
    }

    /// Checks a yes against all that is so now, and gives what it does. Nothing is changed here: the caller makes the
    /// operation durable and then calls [`Self::accepted`], both or neither.
    pub fn accept(&self, verdict: &Verdict, snapshot: &Snapshot, now: u64) -> Result<Acceptance, Refusal> {
        let proposal = self.seen(verdict, now)?;
        if proposal.base != snapshot.revision() {
            let message = format!("the workspace went on while {} was looked at", proposal.id);
            return Err(Refusal::new(Code::Stale, message).hint("Look at it again, then decide."));
        }
        let all: BTreeSet<Subject> = proposal.subjects().into_iter().collect();
        let subjects = match &verdict.chosen {
            None => all,
            Some(chosen) => {
                if let Some(foreign) = chosen.iter().find(|subject| !all.contains(subject)) {
                    let message = format!("{foreign} is not a part of {}", proposal.id);
                    return Err(Refusal::new(Code::BadRequest, message));
                }
                with_needs(snapshot, &proposal.changes, chosen.iter().cloned())
            }
        };
        if subjects.is_empty() {
            return Err(
                Refusal::new(Code::BadRequest, "nothing was chosen").hint("Tick something, or reject it.")
            );
        }
        let part: Vec<Change> = proposal
            .changes
            .iter()
            .filter(|change| subjects.contains(&Subject::of(change)))
            .cloned()
            .collect();
        let unconfirmed = part
            .iter()
            .filter(|change| is_destructive(change))
            .map(Subject::of)
            .find(|subject| !verdict.confirmed.contains(subject));
        if let Some(subject) = unconfirmed {
            let message = format!("{subject} takes something away and was not confirmed");
            return Err(Refusal::new(Code::ConfirmationRequired, message));
        }
        let overlay = Overlay::or_stale(snapshot, &part)?;
        let of = if subjects.len() < proposal.subjects().len() { "Accept a part of" } else { "Accept" };
        let summary = format!("{of} “{}” by {}", proposal.title, proposal.proposer.name);
        Ok(Acceptance { summary, changes: overlay.changes, subjects })
    }

    /// Records that an acceptance became an operation. What was not taken stays open, as a new version.
    pub fn accepted(
        &mut self,
        verdict: &Verdict,
        acceptance: &Acceptance,
        snapshot: &Snapshot,
        (by, time): (&str, u64),
    ) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.seen(verdict, time)?);
        proposal.decisions.push(Decided {
            version: proposal.version,
            hash: verdict.hash,
            revision: snapshot.revision(),
            subjects: acceptance.subjects.iter().cloned().collect(),
            by: by.to_owned(),
            time,
        });
        proposal.changes.retain(|change| !acceptance.subjects.contains(&Subject::of(change)));
        proposal.version += 1;
        proposal.base = snapshot.revision();
        proposal.state = if proposal.changes.is_empty() {
            ProposalState::Accepted
        } else {
            match Overlay::over(snapshot, &proposal.changes) {
                Ok(_) => ProposalState::Open,
                Err(why) => ProposalState::Stale { why },
            }
        };
        Ok(self.put(proposal))
    }

    pub fn reject(
        &mut self,
        (id, version): (ProposalId, u32),
        reason: &str,
        by: &str,
    ) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.undecided(id)?);
        if proposal.version != version {
            let message = format!("{id} is at version {} and not {version} any more", proposal.version);
            return Err(Refusal::new(Code::Stale, message).hint("Look at it again, then decide."));
        }
        if reason.trim().is_empty() || reason.len() > self.terms.most_text {
            let message = "a rejection needs a reason that the agent can learn from";
            return Err(Refusal::new(Code::BadRequest, message).field("reason"));
        }
        proposal.state = ProposalState::Rejected { reason: reason.to_owned(), by: by.to_owned() };
        Ok(self.put(proposal))
    }

    /// A person looked at what changed since, and has it fitted to what is there now.
    pub fn look_again(&mut self, id: ProposalId, snapshot: &Snapshot) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.undecided(id)?);
        let overlay = Overlay::or_stale(snapshot, &proposal.changes)?;
        proposal.changes = overlay.changes;
        proposal.base = snapshot.revision();
        proposal.version += 1;
        proposal.state = ProposalState::Open;
        Ok(self.put(proposal))
    }

    /// A reviewer's own edit of what was proposed, recorded as such.
    pub fn amend(
        &mut self,
        id: ProposalId,
        command: &Command,
        snapshot: &Snapshot,
        by: &str,
        seed: u64,
    ) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.undecided(id)?);
        let mut overlay = Overlay::or_stale(snapshot, &proposal.changes)?;
        let decision = overlay.run(command, seed)?;
        proposal.changes = overlay.changes;
        proposal.base = snapshot.revision();
        proposal.version += 1;
        proposal.steps.push(Step { summary: decision.summary, by_reviewer: Some(by.to_owned()) });
        Ok(self.put(proposal))
    }

    pub fn comment(&mut self, id: ProposalId, comment: Comment) -> Result<Arc<Proposal>, Refusal> {
        const MOST_COMMENTS: usize = 500;
        let mut proposal = Proposal::clone(self.undecided(id)?);
        if comment.text.trim().is_empty() || comment.text.len() > self.terms.most_text {
            let message = format!("a comment has 1 to {} bytes", self.terms.most_text);
            return Err(Refusal::new(Code::BadRequest, message).field("text"));
        }
        if proposal.comments.len() >= MOST_COMMENTS {
            return Err(Refusal::new(Code::LimitExceeded, format!("more than {MOST_COMMENTS} comments")));
        }
        proposal.comments.push(comment);
        Ok(self.put(proposal))
    }

    /// One that still waits, stale or not.
    fn undecided(&self, id: ProposalId) -> Result<&Arc<Proposal>, Refusal> {
        let proposal =
            self.get(id).ok_or_else(|| Refusal::new(Code::NotFound, format!("there is no proposal {id}")))?;
        match &proposal.state {
            ProposalState::Open | ProposalState::Stale { .. } => Ok(proposal),
            other => Err(Refusal::new(Code::Conflict, format!("{id} is {} and does not wait", other.word()))),
        }
    }
}
