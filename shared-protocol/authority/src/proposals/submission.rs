//! Submitting, revising and withdrawing a proposal. An agent can access only its own proposals.

use super::{
    overlay::{ProposalOverlay, stale_refusal},
    queue::{CallingClient, ReviewQueue, is_decided},
    rebase_queue::note_step,
    refit::{RefitResult, refit},
};
use crate::{ProblemIndex, Snapshot};
use shared_protocol::{
    ElementId, Proposal, ProposalId, ProposalState, Refusal, RefusalCode,
    messages::{BoardProblem, ProblemSeverity},
    proposal::{ProposalStep, ProposedAction},
};
use std::{collections::BTreeSet, sync::Arc};

/// The title and rationale of a submitted proposal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposalSubmission {
    pub title: String,
    pub rationale: String,
    /// A proposal of the same client that this one replaces.
    pub supersedes: Option<ProposalId>,
}

impl ProposalSubmission {
    /// Returns the submission, with `words` as the title when it has none.
    pub(super) fn with_default_title(&self, words: &str) -> Self {
        let title = if self.title.trim().is_empty() { words } else { &self.title };
        Self { title: title.to_owned(), ..self.clone() }
    }
}

impl ReviewQueue {
    /// Proposes an action that does not change the content. It is submitted at once as a proposal of its own.
    pub fn propose_act(
        &mut self,
        snapshot: &Snapshot,
        client: &CallingClient,
        act: ProposedAction,
        submission: &ProposalSubmission,
        (time, seed): (u64, u64),
    ) -> Result<Arc<Proposal>, Refusal> {
        self.check_submission(submission)?;
        let mut proposal = self.new_draft(snapshot, client, time, seed)?;
        proposal.steps.push(ProposalStep { summary: act.describe(), by_reviewer: None });
        proposal.act = Some(act);
        self.supersede(client, submission, proposal.id)?;
        self.open_for_review(proposal, submission, time)
    }

    fn check_submission(&self, submission: &ProposalSubmission) -> Result<(), Refusal> {
        let ProposalSubmission { title, rationale, .. } = submission;
        if title.trim().is_empty() {
            return Err(Refusal::new(RefusalCode::BadRequest, "a proposal needs a title").field("title"));
        }
        for (field, text) in [("title", title), ("rationale", rationale)] {
            if text.len() > self.limits.max_text_bytes {
                let message = format!("the {field} is longer than {} bytes", self.limits.max_text_bytes);
                return Err(Refusal::new(RefusalCode::LimitExceeded, message).field(field));
            }
        }
        Ok(())
    }

    /// Submits a draft for review. A draft with errors stays a draft, and the refusal lists the errors.
    pub fn submit(
        &mut self,
        snapshot: &Snapshot,
        client: &CallingClient,
        draft: Option<ProposalId>,
        submission: &ProposalSubmission,
        time: u64,
    ) -> Result<Arc<Proposal>, Refusal> {
        let Some(draft) = self.draft(draft, client)? else {
            return Err(Refusal::new(RefusalCode::NotFound, "there is no draft to submit")
                .hint("Propose a change first, for example with add_resource. Without a session, pass the id of the draft."));
        };
        self.check_submission(submission)?;
        if draft.changes.is_empty() {
            return Err(Refusal::new(RefusalCode::BadRequest, "the draft contains no changes")
                .hint("Propose a change first, for example with add_resource."));
        }
        let RefitResult { overlay, notes, .. } = refit(snapshot, draft).map_err(stale_refusal)?;
        let errors: Vec<BoardProblem> = new_problems(snapshot, &overlay)
            .into_iter()
            .filter(|problem| problem.severity == ProblemSeverity::Error)
            .collect();
        if !errors.is_empty() {
            let message = match errors.len() {
                1 => "the draft has an error".to_owned(),
                count => format!("the draft has {count} errors"),
            };
            let refusal = Refusal::new(RefusalCode::ValidationError, message);
            return Err(errors
                .iter()
                .take(20)
                .fold(refusal, |refusal, error| refusal.hint(describe_problem(error))));
        }
        let mut proposal = Proposal::clone(draft);
        proposal.changes = overlay.changes;
        proposal.steps.extend(notes.into_iter().map(note_step));
        proposal.base = snapshot.revision();
        proposal.proposer = client.proposer.clone();
        self.supersede(client, submission, proposal.id)?;
        self.open_for_review(proposal, submission, time)
    }

    /// Marks the proposal that a submission replaces as superseded.
    fn supersede(
        &mut self,
        client: &CallingClient,
        submission: &ProposalSubmission,
        by: ProposalId,
    ) -> Result<(), Refusal> {
        let Some(old) = submission.supersedes else { return Ok(()) };
        let mut old = self
            .owned_by(old, client)
            .map(|old| Proposal::clone(old))
            .map_err(|refusal| refusal.field("supersedes"))?;
        if old.id == by || is_decided(&old.state) {
            let message = format!("{} is {} and cannot be replaced", old.id, old.state.as_str());
            return Err(Refusal::new(RefusalCode::Conflict, message).field("supersedes"));
        }
        old.state = ProposalState::Superseded { by };
        old.changes.clear();
        self.store(old);
        Ok(())
    }

    fn open_for_review(
        &mut self,
        mut proposal: Proposal,
        submission: &ProposalSubmission,
        time: u64,
    ) -> Result<Arc<Proposal>, Refusal> {
        submission.title.trim().clone_into(&mut proposal.title);
        submission.rationale.clone_into(&mut proposal.rationale);
        proposal.state = ProposalState::Open;
        proposal.expires = time.saturating_add(self.limits.lifetime_ms);
        Ok(self.store(proposal))
    }

    /// Turns a proposal back into a draft with a new version; any verdict on the old version is void.
    pub fn revise(
        &mut self,
        id: ProposalId,
        client: &CallingClient,
        time: u64,
    ) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.owned_by(id, client)?);
        if proposal.state.is_final() || proposal.act.is_some() {
            let message = format!("{id} is {} and cannot be revised", proposal.state.as_str());
            return Err(Refusal::new(RefusalCode::Conflict, message).hint("Start a new proposal."));
        }
        proposal.state = ProposalState::Draft;
        proposal.version += 1;
        proposal.proposer = client.proposer.clone();
        proposal.expires = time.saturating_add(self.limits.draft_lifetime_ms);
        Ok(self.store(proposal))
    }

    /// Withdraws a proposal and drops its changes.
    pub fn withdraw(&mut self, id: ProposalId, client: &CallingClient) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.owned_by(id, client)?);
        if proposal.state.is_final() {
            let message = format!("{id} is already {}", proposal.state.as_str());
            return Err(Refusal::new(RefusalCode::Conflict, message));
        }
        proposal.state = ProposalState::Withdrawn;
        proposal.changes.clear();
        Ok(self.store(proposal))
    }
}

/// Returns the problems that the proposal introduces.
pub(super) fn new_problems(snapshot: &Snapshot, overlay: &ProposalOverlay) -> Vec<BoardProblem> {
    let (mut before, mut after) = (ProblemIndex::default(), ProblemIndex::default());
    before.update(snapshot, &overlay.changes);
    after.update(&overlay.state, &overlay.changes);
    let known: BTreeSet<(ElementId, &str)> =
        before.iter().map(|problem| (problem.element, problem.message.as_str())).collect();
    let brought = after.iter().filter(|p| !known.contains(&(p.element, p.message.as_str())));
    brought.cloned().collect()
}

fn describe_problem(problem: &BoardProblem) -> String {
    match &problem.field {
        Some(field) => format!("{} ({field}): {}", problem.element, problem.message),
        None => format!("{}: {}", problem.element, problem.message),
    }
}
