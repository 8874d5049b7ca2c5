//! The agents' side of the queue: start, extend, submit, revise, withdraw. An agent can access only its own proposals.

use super::{
    overlay::{ProposalOverlay, stale_refusal},
    queue::{AgentClient, CachedDraft, ProposeResult, ReviewQueue, is_decided},
    rebase_queue::note_step,
    refit::{RefitResult, refit},
};
use crate::{CommandDecision, ProblemIndex, Snapshot};
use shared_protocol::{
    Change, Command, ElementId, Proposal, ProposalId, ProposalState, Refusal, RefusalCode,
    ids::one_way,
    messages::{BoardProblem, ProblemSeverity},
    proposal::{AutoAssignments, ProposalStep, ProposedAction},
};
use std::{collections::BTreeSet, sync::Arc};

const HOUR_MS: u64 = 3600 * 1000;

/// The draft that a call extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftSelector {
    /// The draft with this id.
    ById(ProposalId),
    /// The current draft of the client's connection; a new one when there is none.
    Current,
    New,
}

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
    /// Runs a command on the client's draft.
    pub fn propose(
        &mut self,
        snapshot: &Snapshot,
        client: &AgentClient,
        draft: DraftSelector,
        command: &Command,
        (time, seed): (u64, u64),
    ) -> Result<ProposeResult, Refusal> {
        self.extend(snapshot, client, draft, (time, seed), |overlay| overlay.run(command, one_way(seed)))
    }

    /// Adds changes that were decided elsewhere, such as edits of a bundle's files.
    pub fn propose_changes(
        &mut self,
        snapshot: &Snapshot,
        client: &AgentClient,
        draft: DraftSelector,
        decision: CommandDecision,
        moment: (u64, u64),
    ) -> Result<ProposeResult, Refusal> {
        self.extend(snapshot, client, draft, moment, |overlay| {
            overlay.add(&decision.changes)?;
            Ok(decision)
        })
    }

    /// Proposes an action that does not change the content. It is submitted at once as a proposal of its own.
    pub fn propose_act(
        &mut self,
        snapshot: &Snapshot,
        client: &AgentClient,
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

    fn extend(
        &mut self,
        snapshot: &Snapshot,
        client: &AgentClient,
        draft: DraftSelector,
        (time, seed): (u64, u64),
        step: impl FnOnce(&mut ProposalOverlay) -> Result<CommandDecision, Refusal>,
    ) -> Result<ProposeResult, Refusal> {
        let known = match draft {
            DraftSelector::ById(id) => self.draft(Some(id), client)?,
            DraftSelector::Current => self.draft(None, client)?,
            DraftSelector::New => None,
        };
        let mut proposal = match known {
            Some(draft) => Proposal::clone(draft),
            None => self.new_draft(snapshot, client, time, seed)?,
        };
        let (mut overlay, bytes) = match self.cached_draft(snapshot, proposal.id) {
            Some(fitted) => {
                let changes = std::mem::take(&mut proposal.changes);
                (ProposalOverlay { state: fitted.state.clone(), changes }, fitted.bytes)
            }
            None => {
                let RefitResult { overlay, notes, .. } = refit(snapshot, &proposal).map_err(stale_refusal)?;
                proposal.steps.extend(notes.into_iter().map(note_step));
                let bytes = overlay.changes.iter().map(approximate_bytes).sum();
                (overlay, bytes)
            }
        };
        let decision = step(&mut overlay)?;
        let bytes = bytes + decision.changes.iter().map(approximate_bytes).sum::<usize>();
        let ProposalOverlay { state, changes } = overlay;
        proposal.changes = changes;
        proposal.chosen.extend(&decision.assignments);
        proposal.base = snapshot.revision();
        proposal.proposer = client.proposer.clone();
        let is_loose = proposal.steps.is_empty() && !client.connected;
        let lifetime =
            if is_loose { self.limits.single_call_lifetime_ms } else { self.limits.draft_lifetime_ms };
        proposal.expires = time.saturating_add(lifetime);
        proposal.steps.push(ProposalStep { summary: decision.summary.clone(), by_reviewer: None });
        self.check_size(&proposal, bytes)?;
        let mut findings = ProblemIndex::default();
        findings.update(&state, &decision.changes);
        let proposal = self.store(proposal);
        let fitted = CachedDraft { base: snapshot.revision(), state: state.clone(), bytes };
        self.overlays.insert(proposal.id, Arc::new(fitted));
        Ok(ProposeResult { proposal, decision, state, findings: findings.iter().cloned().collect() })
    }

    fn new_draft(
        &self,
        snapshot: &Snapshot,
        client: &AgentClient,
        time: u64,
        seed: u64,
    ) -> Result<Proposal, Refusal> {
        let undecided = || self.iter().filter(|p| !is_decided(&p.state));
        let own = undecided().filter(|p| p.proposer.key == client.proposer.key).count();
        if own >= self.limits.max_undecided_per_client {
            let message = format!("you already have {own} undecided proposals");
            let refusal = Refusal::new(RefusalCode::LimitExceeded, message);
            return Err(match client.connected {
                true => refusal.hint("Wait for a decision, or withdraw one with withdraw_proposal."),
                // The client most likely never passed an id.
                false => refusal
                    .hint("Continue one of your drafts: pass its id as `proposal`. Without it, each call starts a new draft.")
                    .hint("Or withdraw some with withdraw_proposal. A draft with a single call expires after an hour."),
            });
        }
        let lately =
            |p: &Proposal| p.state == ProposalState::Withdrawn && time.saturating_sub(p.created) < HOUR_MS;
        let withdrawn = self.iter().filter(|p| p.proposer.name == client.proposer.name && lately(p)).count();
        if withdrawn >= self.limits.max_withdrawn_per_hour {
            let message = format!("you withdrew {withdrawn} proposals within the last hour");
            return Err(Refusal::new(RefusalCode::LimitExceeded, message)
                .hint("Wait a while, and continue one draft instead of starting many."));
        }
        if undecided().count() >= self.limits.max_undecided {
            let message =
                format!("the review queue is full: {} proposals are undecided", self.limits.max_undecided);
            return Err(Refusal::new(RefusalCode::LimitExceeded, message)
                .hint("Ask the designer to review the queue."));
        }
        let id = (0..)
            .map(|turn| ProposalId::from_bits(seed.rotate_left(17) ^ turn))
            .find(|id| self.get(*id).is_none());
        Ok(Proposal {
            id: id.unwrap_or(ProposalId::MAX),
            number: self.iter().map(|known| known.number).max().unwrap_or(0) + 1,
            version: 1,
            proposer: client.proposer.clone(),
            state: ProposalState::Draft,
            title: String::new(),
            rationale: String::new(),
            base: snapshot.revision(),
            changes: Vec::new(),
            chosen: AutoAssignments::default(),
            act: None,
            steps: Vec::new(),
            comments: Vec::new(),
            decisions: Vec::new(),
            outcome: None,
            created: time,
            expires: time.saturating_add(self.limits.draft_lifetime_ms),
        })
    }

    fn check_size(&self, proposal: &Proposal, bytes: usize) -> Result<(), Refusal> {
        let too_much = |what: String| {
            Refusal::new(RefusalCode::LimitExceeded, what)
                .hint("Submit this proposal and continue in another one.")
        };
        let Self { limits: terms, .. } = self;
        if proposal.changes.len() > terms.max_changes {
            return Err(too_much(format!("more than {} changes in one proposal", terms.max_changes)));
        }
        if proposal.steps.len() > terms.max_steps {
            return Err(too_much(format!("more than {} calls in one proposal", terms.max_steps)));
        }
        if bytes > terms.max_proposal_bytes {
            return Err(too_much(format!("more than {} bytes in one proposal", terms.max_proposal_bytes)));
        }
        Ok(())
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
        client: &AgentClient,
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
        client: &AgentClient,
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
        client: &AgentClient,
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
    pub fn withdraw(&mut self, id: ProposalId, client: &AgentClient) -> Result<Arc<Proposal>, Refusal> {
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

/// Returns the approximate size of a change in bytes.
fn approximate_bytes(change: &Change) -> usize {
    let text = |value: &Option<Arc<str>>| value.as_ref().map_or(0, |text| text.len());
    match change {
        Change::Source { before, after, .. } => text(before) + text(after) + 64,
        Change::Override { before, after, .. } => {
            before.iter().chain(after).map(|over| over.value.to_string().len() + 128).sum()
        }
        Change::Prop { before, after, .. } => {
            let size = |value: &Option<shared_protocol::PropValue>| {
                value.as_ref().map_or(0, |value| value.to_string().len())
            };
            size(before) + size(after) + 64
        }
        Change::Node { before, after, .. } => {
            let size = |node: &shared_protocol::Node| {
                node.props.values().map(|value| value.to_string().len() + 32).sum::<usize>() + 256
            };
            before.iter().chain(after).map(|node| size(node)).sum()
        }
        _ => 128,
    }
}
