//! The queue of the main process in a few lines: real changes from the real authority, decided as main would.

use crate::shop::{Main, Response, response};
use authority::{
    Snapshot, decide,
    proposals::{effects, lines, with_needs},
};
use shared_protocol::{
    Command, NodeId, Proposal, ProposalId, ProposalState, ProposalSubject, Refusal, Revision,
    decisions::{
        AcceptProposal, CloseProposal, CommentOnProposal, DecidedProposal, DrawPagePictures, EditProposal,
        GrantApproval, ListOrigins, OpenProposal, ProposalDecision, ReadConsequences, RebaseProposal,
        RejectProposal, ReviewPlanStart, ReviewRequest, WindowRequest,
    },
    messages::{AppliedCommand, Patch, ToRenderer},
    proposal::{ElementChangeKind, ProposalAcceptance, ProposalStep, Proposer, ReviewVerdict, Risk},
    review::{
        ConfirmationCode, ElementCounts, FieldChange, ProposalBrief, ProposalConsequences, ProposalDetails,
        ProposalOfOperation, ProposedElement, ProposedPagePictures, ReviewView, StandingApproval,
    },
};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const NOW: u64 = 4_000_000_000_000;

#[derive(Default)]
pub(crate) struct Reviews {
    pub(crate) opened: BTreeMap<ProposalId, ProposalDetails>,
    pub(crate) approvals: Vec<StandingApproval>,
    pub(crate) codes: Vec<ConfirmationCode>,
    pub(crate) origins: Vec<ProposalOfOperation>,
    /// Everything the window asked for since the last time.
    pub(crate) heard: Vec<WindowRequest>,
    pub(crate) consequences: BTreeMap<ProposalId, ProposalConsequences>,
    /// By page.
    pub(crate) pictures: BTreeMap<NodeId, ProposedPagePictures>,
    /// What comes of a wish to plan.
    pub(crate) planning: Option<Result<ReviewPlanStart, Refusal>>,
    /// Main takes its time.
    pub(crate) silent: bool,
    /// The proposal that a person opened, the drafts that were closed, and the one that was sent last.
    shown: Option<ProposalId>,
    closed: BTreeSet<ProposalId>,
    sent: Option<(ProposalId, u64)>,
    stamps: u64,
}

impl Reviews {
    pub(crate) fn view(&self) -> ReviewView {
        ReviewView {
            proposals: self.opened.values().map(|opened| opened.brief.clone()).collect(),
            approvals: self.approvals.clone(),
            codes: self.codes.clone(),
        }
    }

    pub(crate) fn decisions(&self) -> Vec<&WindowRequest> {
        let decides = |request: &&WindowRequest| {
            matches!(
                request,
                WindowRequest::Decision(_) | WindowRequest::Review(ReviewRequest::EditProposal(_))
            )
        };
        self.heard.iter().filter(decides).collect()
    }
}

impl Main {
    /// An agent proposes these commands, one on the other.
    pub(crate) fn propose(&mut self, number: u64, title: &str, commands: &[Command]) -> ProposalId {
        let id = ProposalId::from_bits(number);
        let opened = opened(&self.snapshot, id, 1, commands);
        self.put(ProposalDetails {
            brief: ProposalBrief { number, title: title.into(), ..opened.brief },
            ..opened
        });
        id
    }

    /// The agent writes again: another version of the same proposal.
    pub(crate) fn revise(&mut self, id: ProposalId, commands: &[Command]) {
        let before = self.reviews.opened[&id].clone();
        let now = opened(&self.snapshot, id, before.brief.version + 1, commands);
        let ProposalBrief { number, title, .. } = before.brief;
        self.put(ProposalDetails { brief: ProposalBrief { number, title, ..now.brief }, ..now });
    }

    /// As it is from now on; the window is told that something is another.
    pub(crate) fn put(&mut self, mut opened: ProposalDetails) {
        self.reviews.stamps += 1;
        opened.brief.stamp = self.reviews.stamps;
        self.reviews.opened.insert(opened.brief.id, opened);
        self.tell_queue();
    }

    pub(crate) fn change(&mut self, id: ProposalId, change: impl FnOnce(&mut ProposalDetails)) {
        let mut opened = self.reviews.opened[&id].clone();
        change(&mut opened);
        self.put(opened);
    }

    /// Sends the queue, and the proposal that the window shows when it changed.
    pub(crate) fn tell_queue(&mut self) {
        self.send(ToRenderer::Review(Box::new(self.reviews.view())));
        if self.reviews.silent {
            return;
        }
        let Reviews { opened, shown, closed, sent, .. } = &mut self.reviews;
        let is_followed = |details: &&ProposalDetails| {
            details.brief.state == ProposalState::Draft && !closed.contains(&details.brief.id)
        };
        let newest = opened.values().filter(is_followed).max_by_key(|details| details.brief.number);
        let id = shown.or(newest.map(|details| details.brief.id)).or(sent.map(|(id, _)| id));
        let Some(details) = id.filter(|id| !closed.contains(id)).and_then(|id| opened.get(&id)) else {
            return;
        };
        let now = Some((details.brief.id, details.brief.stamp));
        if std::mem::replace(sent, now) != now {
            let details = details.clone();
            self.send(ToRenderer::Proposal(Box::new(details)));
        }
    }

    /// The window has these details, and receives their changes.
    fn opened(&mut self, id: ProposalId) -> Response {
        let stale = || Refusal::new(shared_protocol::RefusalCode::Stale, "it is not what was looked at");
        let details = self.reviews.opened.get(&id).cloned().ok_or_else(stale)?;
        self.reviews.closed.remove(&id);
        (self.reviews.shown, self.reviews.sent) = (Some(id), Some((id, details.brief.stamp)));
        response(Ok(details))
    }

    pub(crate) fn answer_review(&mut self, request: ReviewRequest) -> Response {
        let stale = || Refusal::new(shared_protocol::RefusalCode::Stale, "it is not what was looked at");
        self.reviews.heard.push(request.clone().into());
        match request {
            ReviewRequest::OpenProposal(OpenProposal { proposal }) => self.opened(proposal),
            ReviewRequest::CloseProposal(CloseProposal { proposal }) => {
                self.reviews.shown.take_if(|shown| *shown == proposal);
                self.reviews.closed.insert(proposal);
                response(Ok(()))
            }
            ReviewRequest::RebaseProposal(RebaseProposal { proposal, .. }) => {
                self.change(proposal, |opened| {
                    opened.brief.version += 1;
                    opened.brief.state = ProposalState::Open;
                });
                self.opened(proposal)
            }
            ReviewRequest::CommentOnProposal(CommentOnProposal { proposal, .. }) => {
                if !self.reviews.opened[&proposal].brief.needs_decision() {
                    return Err(stale());
                }
                self.opened(proposal)
            }
            ReviewRequest::EditProposal(EditProposal { proposal, commands, .. }) => {
                let before = self.reviews.opened[&proposal].clone();
                let (after, changes) = run(&self.snapshot, &before.changes, &commands)?;
                let mut now = shown(&self.snapshot, &after, proposal, before.brief.version + 1, changes);
                (now.brief.number, now.brief.title) = (before.brief.number, before.brief.title);
                self.put(now);
                self.opened(proposal)
            }
            ReviewRequest::ListOrigins(ListOrigins { revisions }) => {
                let origins =
                    self.reviews.origins.iter().filter(|origin| revisions.contains(&origin.revision));
                response(Ok(origins.cloned().collect::<Vec<_>>()))
            }
            ReviewRequest::ListDecided(_) => {
                let briefs = self.reviews.opened.values().map(|opened| opened.brief.clone());
                response(Ok(briefs.collect::<Vec<_>>()))
            }
            ReviewRequest::ReadConsequences(ReadConsequences { proposal }) => {
                response(self.reviews.consequences.get(&proposal).ok_or_else(stale))
            }
            ReviewRequest::DrawPagePictures(DrawPagePictures { page, .. }) => {
                response(self.reviews.pictures.get(&page).ok_or_else(stale))
            }
            ReviewRequest::PlanProposal(_) => response(self.reviews.planning.take().ok_or_else(stale)?),
            ReviewRequest::RevertProposal(_) => response(Ok(AppliedCommand {
                revision: self.snapshot.revision(),
                summary: "reverted".into(),
                created: Vec::new(),
            })),
            ReviewRequest::GrantApproval(GrantApproval { grant }) => response(Ok(StandingApproval {
                id: 1,
                grant,
                by: "ada".into(),
                granted: NOW,
                for_this_run: false,
                used: 0,
            })),
            ReviewRequest::RevokeApproval(_) | ReviewRequest::DropCode(_) => response(Ok(())),
        }
    }

    pub(crate) fn answer_decision(&mut self, decision: ProposalDecision) -> Response {
        self.reviews.heard.push(decision.clone().into());
        response(match decision {
            ProposalDecision::AcceptProposal(AcceptProposal { verdict }) => self.accept(&verdict),
            ProposalDecision::RejectProposal(decision) => self.reject(decision),
        })
    }

    fn reject(&mut self, decision: RejectProposal) -> Result<DecidedProposal, Refusal> {
        let RejectProposal { proposal, version, reason } = decision;
        let opened = self.reviews.opened.get(&proposal);
        if opened.is_none_or(|opened| opened.brief.version != version) {
            return Err(Refusal::new(shared_protocol::RefusalCode::Stale, "it is not what was looked at"));
        }
        self.change(proposal, |opened| {
            opened.brief.state = ProposalState::Rejected { reason, by: "ada".into() };
        });
        let proposal = self.reviews.opened[&proposal].brief.clone();
        Ok(DecidedProposal { proposal, applied: None, notice: None })
    }

    fn accept(&mut self, verdict: &ReviewVerdict) -> Result<DecidedProposal, Refusal> {
        let stale = || Refusal::new(shared_protocol::RefusalCode::Stale, "it is not what was looked at");
        let opened = self.reviews.opened.get(&verdict.proposal).cloned().ok_or_else(stale)?;
        let seen = (verdict.version, verdict.hash, verdict.base);
        if seen != (opened.brief.version, opened.hash, opened.brief.base) {
            return Err(stale());
        }
        let taken =
            |subject: &ProposalSubject| verdict.chosen.as_ref().is_none_or(|chosen| chosen.contains(subject));
        for element in opened.elements.iter().filter(|element| element.destructive && taken(&element.subject))
        {
            assert!(verdict.confirmed.contains(&element.subject), "{} was not confirmed", element.text);
        }
        let (part, rest): (Vec<_>, Vec<_>) =
            opened.changes.iter().cloned().partition(|change| taken(&ProposalSubject::of_change(change)));
        let revision = self.snapshot.revision().next();
        self.snapshot.apply(revision, &part).unwrap();
        let summary = format!("Accept “{}”", opened.brief.title);
        let actor = shared_protocol::Actor::new(shared_protocol::ActorKind::Window, "ada");
        self.send(ToRenderer::Patch(Patch {
            revision,
            actor,
            kind: shared_protocol::OperationKind::Edit,
            summary: summary.clone(),
            changes: part,
        }));
        let id = verdict.proposal;
        let mut now = if rest.is_empty() {
            let mut now = opened.clone();
            now.brief.state = ProposalState::Accepted;
            now
        } else {
            let (after, changes) = run(&self.snapshot, &rest, &[])?;
            let mut now = shown(&self.snapshot, &after, id, opened.brief.version + 1, changes);
            (now.brief.number, now.brief.title) = (opened.brief.number, opened.brief.title.clone());
            now
        };
        now.brief.decided = Some(ProposalAcceptance {
            version: opened.brief.version,
            hash: opened.hash,
            revision: Some(revision),
            subjects: Vec::new(),
            by: "ada".into(),
            time: NOW,
        });
        now.brief.revisions = opened.brief.revisions.iter().copied().chain([revision]).collect();
        self.put(now);
        let proposal = self.reviews.opened[&id].brief.clone();
        let applied = Some(AppliedCommand { revision, summary, created: Vec::new() });
        Ok(DecidedProposal { proposal, applied, notice: None })
    }
}

fn run(
    snapshot: &Snapshot,
    changes: &[shared_protocol::Change],
    commands: &[Command],
) -> Result<(Snapshot, Vec<shared_protocol::Change>), Refusal> {
    let mut state = snapshot.clone();
    let mut all = changes.to_vec();
    state.apply(state.revision().next(), changes).unwrap();
    for (place, command) in commands.iter().enumerate() {
        let decision = decide(&state, command, 7_000 + place as u64 * 31 + all.len() as u64)?;
        state.apply(state.revision().next(), &decision.changes).unwrap();
        all.extend(decision.changes);
    }
    Ok((state, all))
}

/// What a reviewer sees of these commands.
pub(crate) fn opened(
    snapshot: &Snapshot,
    id: ProposalId,
    version: u32,
    commands: &[Command],
) -> ProposalDetails {
    let (after, changes) = run(snapshot, &[], commands).unwrap();
    shown(snapshot, &after, id, version, changes)
}

fn shown(
    before: &Snapshot,
    after: &Snapshot,
    id: ProposalId,
    version: u32,
    changes: Vec<shared_protocol::Change>,
) -> ProposalDetails {
    let mut effects = effects(&changes);
    let elements: Vec<ProposedElement> = lines(before, after, &changes)
        .into_iter()
        .map(|line| {
            let mut needs = with_needs(before, &changes, [line.subject.clone()]);
            needs.remove(&line.subject);
            let node = |state: &Snapshot| match &line.subject {
                ProposalSubject::Node(id) => state.node(*id).cloned(),
                _ => None,
            };
            let board = match &line.subject {
                ProposalSubject::Node(id) => {
                    after.node(*id).or_else(|| before.node(*id)).map(|node| node.board)
                }
                ProposalSubject::Edge(id) => {
                    after.edge(*id).or_else(|| before.edge(*id)).map(|edge| edge.board)
                }
                ProposalSubject::Board(id) => Some(*id),
                _ => None,
            };
            let differences = match (node(before), node(after)) {
                (Some(was), Some(is)) => {
                    let keys: BTreeSet<_> = was.props.keys().chain(is.props.keys()).cloned().collect();
                    let field = |field: String, before, after| FieldChange { field, before, after };
                    let value =
                        |node: &shared_protocol::Node, key| node.props.get(key).map(ToString::to_string);
                    let label = (was.label != is.label)
                        .then(|| field("label".into(), Some(was.label.clone()), Some(is.label.clone())));
                    let props = keys.iter().filter(|key| was.props.get(*key) != is.props.get(*key));
                    let props = props.map(|key| field(key.to_string(), value(&was, key), value(&is, key)));
                    label.into_iter().chain(props).collect()
                }
                _ => Vec::new(),
            };
            let effect_of = effects.remove(&line.subject).unwrap_or_default().into_iter().collect();
            let risks = if line.destructive { vec![Risk::Destructive] } else { Vec::new() };
            ProposedElement {
                subject: line.subject,
                kind: line.kind,
                text: line.text,
                board,
                differences,
                files: Vec::new(),
                risks,
                destructive: line.destructive,
                needs: needs.into_iter().collect(),
                effect_of,
            }
        })
        .collect();
    let count =
        |kind: ElementChangeKind| elements.iter().filter(|element| element.kind == kind).count() as u64;
    let risks: BTreeSet<Risk> = elements.iter().flat_map(|element| element.risks.iter().copied()).collect();
    let proposer = Proposer { key: "client-1".into(), name: "claude-code".into(), version: "2.1".into() };
    let proposal = Proposal {
        id,
        number: 1,
        version,
        proposer: proposer.clone(),
        state: ProposalState::Open,
        title: String::new(),
        rationale: String::new(),
        base: before.revision(),
        changes: changes.clone(),
        chosen: Default::default(),
        act: None,
        steps: Vec::new(),
        comments: Vec::new(),
        decisions: Vec::new(),
        outcome: None,
        created: 0,
        expires: NOW,
    };
    let hash = proposal.content_hash().unwrap();
    let brief = ProposalBrief {
        id,
        number: 1,
        title: String::new(),
        proposer,
        state: ProposalState::Open,
        act: None,
        risks: risks.into_iter().collect(),
        counts: ElementCounts {
            added: count(ElementChangeKind::Added),
            changed: count(ElementChangeKind::Changed),
            removed: count(ElementChangeKind::Removed),
            placed: count(ElementChangeKind::Placed),
        },
        version,
        stamp: 0,
        base: before.revision(),
        comments: 0,
        created: now() - 12 * 60_000,
        expires: now() + 13 * 24 * 3_600_000,
        decided: None,
        revisions: Vec::new(),
    };
    let rationale =
        "Orders are slow at noon.\nA cache in front of the database takes the load off it.".to_owned();
    let steps = vec![ProposalStep { summary: "adds a cache".into(), by_reviewer: None }];
    ProposalDetails {
        brief,
        hash,
        rationale,
        steps,
        comments: Vec::new(),
        decisions: Vec::new(),
        elements,
        changes,
        checks: Vec::new(),
        conflicts: Vec::new(),
        clashes: Vec::new(),
        plan: None,
    }
}

fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64
}

pub(crate) fn revision(number: u64) -> Revision {
    Revision(number)
}
