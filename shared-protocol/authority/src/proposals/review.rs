//! What people decide. These functions are reached from the window's private channel and from a terminal with a code that
//! only the window shows; no agent's call leads here.

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

/// What an accepted proposal does to the workspace, in one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Acceptance {
    pub summary: String,
    pub changes: Vec<Change>,
    pub subjects: BTreeSet<Subject>,
    /// What is to be done besides, once this is durable.
    pub act: Option<Act>,
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
        if self.base(proposal) != verdict.base {
            return refuse(Code::Stale, format!("the workspace went on while {id} was looked at"));
        }
        Ok(proposal)
    }

    /// Checks a yes against all that is so now, and gives what it does. Nothing is changed here: the caller makes the
    /// operation durable and then calls [`Self::accepted`], both or neither.
    pub fn accept(&self, verdict: &Verdict, snapshot: &Snapshot, now: u64) -> Result<Acceptance, Refusal> {
        let proposal = self.seen(verdict, now)?;
        if self.base(proposal) != snapshot.revision() {
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
        if let Some((effect, causes)) = effects_without_cause(&proposal.changes, &subjects).pop_first() {
            let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
            let message = format!("{effect} changes only because {} goes", causes.join(" or "));
            return Err(Refusal::new(Code::BadRequest, message)
                .hint("Choose the removal as well, or leave both out."));
        }
        let (part, left) = split(&proposal.changes, &subjects);
        let act = proposal.act.clone().filter(|_| subjects.contains(&Subject::Act));
        let grave = act.as_ref().filter(|act| act.is_grave()).map(|_| Subject::Act);
        let destructive = part.iter().filter(|change| is_destructive(snapshot, change)).map(Subject::of);
        let unconfirmed =
            grave.into_iter().chain(destructive).find(|subject| !verdict.confirmed.contains(subject));
        if let Some(subject) = unconfirmed {
            let message = format!("{subject} takes something away and was not confirmed");
            return Err(Refusal::new(Code::ConfirmationRequired, message)
                .hint("Confirm each of these with a deliberate gesture."));
        }
        let applies = matches!(&act, Some(Act::Run { operation, .. }) if operation.needs_confirmation());
        if applies && verdict.plan.is_none() {
            let message = format!("{} was not planned, so there is nothing to say yes to", proposal.id);
            return Err(Refusal::new(Code::ConfirmationRequired, message)
                .hint("Wait for its plan, or press Plan; then read the plan and decide."));
        }
        let overlay = Overlay::or_stale(snapshot, &part)?;
        let is_part = !left.is_empty() || subjects.len() < proposal.subjects().len();
        let of = if is_part { "Accept a part of" } else { "Accept" };
        let summary = format!("{of} “{}” by {}", proposal.title, proposal.proposer.name);
        Ok(Acceptance { summary, changes: overlay.changes, subjects, act })
    }

    /// Records that an acceptance became an operation, and that the workspace went on by it. What was not taken stays open,
    /// as a new version. Gives those that are other than they were, this one first.
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
        // Before the rest is put in its place: what was accepted of a proposal does not make the rest of it stale.
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
            let message = "a rejection needs a reason that the agent can learn from";
            return Err(Refusal::new(Code::BadRequest, message).field("reason"));
        }
        proposal.state = ProposalState::Rejected { reason: reason.to_owned(), by: by.to_owned() };
        Ok(self.put(proposal))
    }

    /// A person looked at what changed since, and has it fitted to what is there now.
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

    /// A reviewer's own edit of what they saw, recorded as such. A yes is for the version that comes of it.
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
            return Err(Refusal::new(Code::Stale, format!("{id} is not what was looked at"))
                .hint("Look at it again, then decide."));
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
            let message = format!("a comment has 1 to {} bytes", self.terms.most_text);
            return Err(Refusal::new(Code::BadRequest, message).field("text"));
        }
        if let Some(about) = comment.about.as_ref().filter(|about| !proposal.subjects().contains(about)) {
            let message = format!("{about} is not a part of {id}");
            return Err(Refusal::new(Code::BadRequest, message)
                .field("about")
                .hint("Comment on one of its elements, or on the whole of it."));
        }
        if proposal.comments.len() >= MOST_COMMENTS {
            return Err(Refusal::new(Code::LimitExceeded, format!("more than {MOST_COMMENTS} comments")));
        }
        proposal.comments.push(comment);
        Ok(self.put(proposal))
    }

    /// Notes what came of what a proposal asked for.
    pub fn came_of(&mut self, id: ProposalId, outcome: &str) -> Option<Arc<Proposal>> {
        let mut proposal = Proposal::clone(self.get(id)?);
        proposal.outcome = Some(outcome.chars().take(1_000).collect());
        Some(self.put(proposal))
    }

    /// One that still waits, at the version that was seen.
    fn undecided_at(&self, id: ProposalId, version: u32) -> Result<&Arc<Proposal>, Refusal> {
        let proposal = self.undecided(id)?;
        if proposal.version == version {
            return Ok(proposal);
        }
        let message = format!("{id} is at version {} and not {version} any more", proposal.version);
        Err(Refusal::new(Code::Stale, message).hint("Look at it again, then decide."))
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
