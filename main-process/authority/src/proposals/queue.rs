//! The queue, and what agents may do with it. An agent sees and touches its own proposals alone.

use super::overlay::Overlay;
use crate::{Decision, Problems, Snapshot};
use imbl::OrdMap;
use shared_protocol::{
    Change, Code, Command, ElementId, Proposal, ProposalId, ProposalState, Refusal, Subject,
    messages::Severity,
    proposal::{Proposer, Step},
};
use std::{collections::BTreeSet, sync::Arc};

/// Bounds, and how long a proposal waits.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Proposals of one client that are not decided.
    pub most_open: usize,
    pub most_changes: usize,
    pub most_bytes: usize,
    /// Milliseconds after which an undecided proposal is over.
    pub lifetime: u64,
    pub most_text: usize,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            most_open: 20,
            most_changes: 20_000,
            most_bytes: 8 << 20,
            lifetime: 14 * 24 * 3600 * 1000,
            most_text: 10_000,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Queue {
    pub(super) proposals: OrdMap<ProposalId, Arc<Proposal>>,
    pub terms: Terms,
}

/// What a call of an agent came to.
#[derive(Debug, Clone)]
pub struct Proposed {
    pub proposal: Arc<Proposal>,
    pub decision: Decision,
}

impl Queue {
    pub fn of(proposals: impl IntoIterator<Item = Proposal>, terms: Terms) -> Self {
        let proposals = proposals.into_iter().map(|proposal| (proposal.id, Arc::new(proposal))).collect();
        Self { proposals, terms }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Proposal>> {
        self.proposals.values()
    }

    pub fn get(&self, id: ProposalId) -> Option<&Arc<Proposal>> {
        self.proposals.get(&id)
    }

    /// The proposal of a client; one of somebody else is as if it were not there.
    pub fn own(&self, id: ProposalId, proposer: &Proposer) -> Result<&Arc<Proposal>, Refusal> {
        self.get(id).filter(|proposal| proposal.proposer.key == proposer.key).ok_or_else(|| {
            Refusal::new(Code::NotFound, format!("there is no proposal {id}")).field("proposal")
        })
    }

    /// The draft that a client is at: the one it names, or its newest.
    pub fn draft(
        &self,
        id: Option<ProposalId>,
        proposer: &Proposer,
    ) -> Result<Option<&Arc<Proposal>>, Refusal> {
        match id {
            Some(id) => {
                let own = self.own(id, proposer)?;
                if own.state != ProposalState::Draft {
                    let message = format!("{id} is {} and takes no more changes", own.state.word());
                    return Err(
                        Refusal::new(Code::Conflict, message).hint("revise_proposal makes it a draft again.")
                    );
                }
                Ok(Some(own))
            }
            None => Ok(self
                .iter()
                .filter(|p| p.proposer.key == proposer.key && p.state == ProposalState::Draft)
                .max_by_key(|p| (p.created, p.id))),
        }
    }

    /// Runs a command on the client's draft, which is begun if there is none.
    pub fn propose(
        &mut self,
        snapshot: &Snapshot,
        proposer: &Proposer,
        draft: Option<ProposalId>,
        command: &Command,
        (time, seed): (u64, u64),
    ) -> Result<Proposed, Refusal> {
        self.extend(snapshot, proposer, draft, (time, seed), |overlay| overlay.run(command, seed))
    }

    /// Adds changes that were decided elsewhere, such as those of a bundle's files.
    pub fn propose_changes(
        &mut self,
        snapshot: &Snapshot,
        proposer: &Proposer,
        draft: Option<ProposalId>,
        decision: Decision,
        moment: (u64, u64),
    ) -> Result<Proposed, Refusal> {
        self.extend(snapshot, proposer, draft, moment, |overlay| {
            overlay.add(&decision.changes)?;
            Ok(decision)
        })
    }

    fn extend(
        &mut self,
        snapshot: &Snapshot,
        proposer: &Proposer,
        draft: Option<ProposalId>,
        (time, seed): (u64, u64),
        step: impl FnOnce(&mut Overlay) -> Result<Decision, Refusal>,
    ) -> Result<Proposed, Refusal> {
        let mut proposal = match self.draft(draft, proposer)? {
            Some(draft) => Proposal::clone(draft),
            None => self.begin(snapshot, proposer, time, seed)?,
        };
        let mut overlay = Overlay::or_stale(snapshot, &proposal.changes)?;
        let decision = step(&mut overlay)?;
        proposal.changes = overlay.changes;
        proposal.base = snapshot.revision();
        proposal.steps.push(Step { summary: decision.summary.clone(), by_reviewer: None });
        self.check_size(&proposal)?;
        let proposal = self.put(proposal);
        Ok(Proposed { proposal, decision })
    }

    fn begin(
        &self,
        snapshot: &Snapshot,
        proposer: &Proposer,
        time: u64,
        seed: u64,
    ) -> Result<Proposal, Refusal> {
        let undecided = self.iter().filter(|p| p.proposer.key == proposer.key && !is_over(&p.state)).count();
        if undecided >= self.terms.most_open {
            let message = format!("{undecided} proposals of yours wait already");
            return Err(Refusal::new(Code::LimitExceeded, message)
                .hint("Wait for decisions, or withdraw some: withdraw_proposal."));
        }
        let id = (0..)
            .map(|turn| ProposalId::from_bits(seed.rotate_left(17) ^ turn))
            .find(|id| self.get(*id).is_none());
        Ok(Proposal {
            id: id.unwrap_or(ProposalId::MAX),
            number: self.iter().map(|known| known.number).max().unwrap_or(0) + 1,
            version: 1,
            proposer: proposer.clone(),
            state: ProposalState::Draft,
            title: String::new(),
            rationale: String::new(),
            base: snapshot.revision(),
            changes: Vec::new(),
            act: None,
            steps: Vec::new(),
            comments: Vec::new(),
            decisions: Vec::new(),
            created: time,
            expires: time.saturating_add(self.terms.lifetime),
        })
    }

    fn check_size(&self, proposal: &Proposal) -> Result<(), Refusal> {
        let too_much = |what: String| {
            Refusal::new(Code::LimitExceeded, what)
                .hint("Submit what is there, and go on in another proposal.")
        };
        if proposal.changes.len() > self.terms.most_changes {
            return Err(too_much(format!("more than {} changes in one proposal", self.terms.most_changes)));
        }
        let bytes: usize = proposal.changes.iter().map(weight).sum();
        if bytes > self.terms.most_bytes {
            return Err(too_much(format!("more than {} bytes in one proposal", self.terms.most_bytes)));
        }
        Ok(())
    }

    /// Puts a draft in the queue. One with errors stays a draft, and its findings are named.
    pub fn submit(
        &mut self,
        snapshot: &Snapshot,
        proposer: &Proposer,
        draft: Option<ProposalId>,
        title: &str,
        rationale: &str,
    ) -> Result<Arc<Proposal>, Refusal> {
        let Some(draft) = self.draft(draft, proposer)? else {
            return Err(Refusal::new(Code::NotFound, "there is no draft to submit")
                .hint("Propose something first, for example with add_resource."));
        };
        if title.trim().is_empty() {
            return Err(Refusal::new(Code::BadRequest, "a proposal needs a title").field("title"));
        }
        for (field, text) in [("title", title), ("rationale", rationale)] {
            if text.len() > self.terms.most_text {
                let message = format!("the {field} is longer than {} bytes", self.terms.most_text);
                return Err(Refusal::new(Code::LimitExceeded, message).field(field));
            }
        }
        if draft.changes.is_empty() {
            return Err(Refusal::new(Code::BadRequest, "the draft changes nothing")
                .hint("Propose something first, for example with add_resource."));
        }
        let overlay = Overlay::or_stale(snapshot, &draft.changes)?;
        let findings = errors(snapshot, &overlay);
        if !findings.is_empty() {
            let mut refusal =
                Refusal::new(Code::ValidationError, format!("the draft has {} errors", findings.len()));
            for finding in findings.into_iter().take(20) {
                refusal = refusal.hint(finding);
            }
            return Err(refusal);
        }
        let mut proposal = Proposal::clone(draft);
        proposal.changes = overlay.changes;
        proposal.base = snapshot.revision();
        title.trim().clone_into(&mut proposal.title);
        rationale.clone_into(&mut proposal.rationale);
        proposal.state = ProposalState::Open;
        Ok(self.put(proposal))
    }

    /// Makes a draft of it again, as a new version: whatever was seen or decided of the old one is void.
    pub fn revise(&mut self, id: ProposalId, proposer: &Proposer) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.own(id, proposer)?);
        if proposal.state.is_final() {
            let message = format!("{id} is {} and cannot be revised", proposal.state.word());
            return Err(Refusal::new(Code::Conflict, message).hint("Begin another proposal."));
        }
        proposal.state = ProposalState::Draft;
        proposal.version += 1;
        Ok(self.put(proposal))
    }

    pub fn withdraw(&mut self, id: ProposalId, proposer: &Proposer) -> Result<Arc<Proposal>, Refusal> {
        let mut proposal = Proposal::clone(self.own(id, proposer)?);
        if proposal.state.is_final() {
            let message = format!("{id} is {} already", proposal.state.word());
            return Err(Refusal::new(Code::Conflict, message));
        }
        proposal.state = ProposalState::Withdrawn;
        Ok(self.put(proposal))
    }

    /// The workspace went on. A proposal whose elements were left alone moves along; one whose elements were changed is
    /// stale until somebody looks again. Gives those that are other than they were.
    pub fn moved(&mut self, snapshot: &Snapshot, changes: &[Change]) -> Vec<Arc<Proposal>> {
        let touched: BTreeSet<Subject> =
            changes.iter().filter(|change| !change.is_layout()).map(Subject::of).collect();
        let waiting: Vec<Arc<Proposal>> =
            self.iter().filter(|p| p.state == ProposalState::Open).cloned().collect();
        waiting.into_iter().map(|proposal| self.put(moved(&proposal, snapshot, &touched))).collect()
    }

    /// Ends what waited too long.
    pub fn expire(&mut self, now: u64) -> Vec<Arc<Proposal>> {
        let over: Vec<Arc<Proposal>> =
            self.iter().filter(|p| !is_over(&p.state) && p.expires <= now).cloned().collect();
        let expired = |p: Arc<Proposal>| Proposal { state: ProposalState::Expired, ..Proposal::clone(&p) };
        over.into_iter().map(|p| self.put(expired(p))).collect()
    }

    pub(super) fn put(&mut self, proposal: Proposal) -> Arc<Proposal> {
        let proposal = Arc::new(proposal);
        self.proposals.insert(proposal.id, Arc::clone(&proposal));
        proposal
    }
}

/// A proposal after others changed what is in `touched`. What is far from all of it needs no second look: accepting it
/// looks at everything again.
fn moved(proposal: &Proposal, snapshot: &Snapshot, touched: &BTreeSet<Subject>) -> Proposal {
    let why = if let Some(subject) = proposal.subjects().into_iter().find(|own| touched.contains(own)) {
        vec![format!("{subject} was changed since")]
    } else if proposal.changes.iter().flat_map(mentioned).any(|other| touched.contains(&other)) {
        Overlay::over(snapshot, &proposal.changes).err().unwrap_or_default()
    } else {
        Vec::new()
    };
    if why.is_empty() {
        Proposal { base: snapshot.revision(), ..proposal.clone() }
    } else {
        Proposal { state: ProposalState::Stale { why }, ..proposal.clone() }
    }
}

/// The elements that a change depends on besides its own.
fn mentioned(change: &Change) -> Vec<Subject> {
    match change {
        Change::Node { before, after, .. } => before
            .iter()
            .chain(after)
            .flat_map(|node| {
                let targets = node.references.values().flatten().copied();
                targets.chain(node.parent).map(Subject::Node).chain([Subject::Board(node.board)])
            })
            .collect(),
        Change::Parent { before, after, .. } => {
            before.iter().chain(after).map(|id| Subject::Node(*id)).collect()
        }
        Change::References { before, after, .. } => {
            before.iter().chain(after).map(|id| Subject::Node(*id)).collect()
        }
        Change::Edge { before, after, .. } => before
            .iter()
            .chain(after)
            .flat_map(|edge| [Subject::Node(edge.source.node), Subject::Node(edge.target.node)])
            .collect(),
        _ => Vec::new(),
    }
}

/// Decided one way or the other, or let go; a rejected one may be revised and counts as decided.
fn is_over(state: &ProposalState) -> bool {
    state.is_final() || matches!(state, ProposalState::Rejected { .. })
}

/// Errors that the proposal brings: those of what it touches that are not there without it.
fn errors(snapshot: &Snapshot, overlay: &Overlay) -> Vec<String> {
    let (mut before, mut after) = (Problems::default(), Problems::default());
    before.update(snapshot, &overlay.changes);
    after.update(&overlay.state, &overlay.changes);
    let known: BTreeSet<(ElementId, &str)> =
        before.iter().map(|problem| (problem.element, problem.message.as_str())).collect();
    after
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .filter(|problem| !known.contains(&(problem.element, problem.message.as_str())))
        .map(|problem| match &problem.field {
            Some(field) => format!("{} ({field}): {}", problem.element, problem.message),
            None => format!("{}: {}", problem.element, problem.message),
        })
        .collect()
}

/// About how much a change holds.
fn weight(change: &Change) -> usize {
    let text = |value: &Option<Arc<str>>| value.as_ref().map_or(0, |text| text.len());
    match change {
        Change::Source { before, after, .. } => text(before) + text(after) + 64,
        Change::Prop { before, after, .. } => {
            let size = |value: &Option<shared_protocol::Value>| {
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
