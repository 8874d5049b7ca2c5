//! The review queue of an open workspace: the pure queue, its standing approvals, and the rows that the next group writes.
//! Nothing here is acknowledged before the journal has it.

mod agents;
mod approval_file;
mod approvals;
mod config;
mod costs;
mod decisions;

use approval_file::ApprovalFile;
pub use approvals::area_of;
pub(crate) use approvals::read_approvals;
pub use config::{guarded_settings, names_program};
pub(crate) use costs::ProposalCosts;
pub use costs::ProposalJudge;
pub use decisions::{AcceptedProposal, Reviewer};

use super::{
    SpecBundles, Workspace,
    group::MutationGroup,
    notices::{NoticeTopic, WorkspaceNotices},
    storage::WorkspaceStorage,
};
use authority::{
    Snapshot,
    proposals::{QueueLimits, ReviewQueue, brief},
};
use journal::{Journal, ProposalWrite, ReviewWrite};
use shared_protocol::{
    Actor, ActorKind, Change, ElementId, Proposal, ProposalId, ProposalState, ProposalSubject, Refusal,
    RefusalCode, Revision, SourcePath,
    messages::MAX_REQUESTED_OPERATIONS,
    proposal::{ProposedAction, Risk},
    review::{
        AuditEntry, AuditEvent, AuditedProposal, FieldClash, MAX_AUDITED_ELEMENTS, ProposalBrief,
        ProposalDetails, ProposalOfOperation, StandingApproval,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The queue, its standing approvals, and the stamps under which the journal has them. Cheap to clone: a group works on its
/// own copy.
#[derive(Debug, Clone, Default)]
pub struct ReviewState {
    pub queue: ReviewQueue,
    pub approvals: Arc<Vec<StandingApproval>>,
    /// The stamp of each proposal's newest change.
    stamps: BTreeMap<ProposalId, u64>,
    stamp: u64,
}

impl ReviewState {
    /// Reads the queue from the journal. Rows that cannot be read are named in a notice.
    pub(super) fn load(journal: &mut Journal, revision: Revision, notices: &mut WorkspaceNotices) -> Self {
        let kept = match journal.review() {
            Ok(kept) => kept,
            Err(error) => {
                notices.set(NoticeTopic::Review, format!("the review queue cannot be read: {error}"));
                return Self { stamp: journal.review_stamp(), ..Self::default() };
            }
        };
        if !kept.unreadable.is_empty() {
            let what = kept.unreadable.join("; ");
            notices.set(NoticeTopic::Review, format!("parts of the review queue cannot be read: {what}"));
        }
        notice_stored_approvals(journal, notices);
        let stamps = kept.proposals.iter().map(|stored| (stored.proposal.id, stored.stamp)).collect();
        let proposals = kept.proposals.into_iter().map(|stored| stored.proposal);
        let queue = ReviewQueue::from_stored(proposals, QueueLimits::default(), revision);
        Self { queue, approvals: Arc::default(), stamps, stamp: kept.stamp }
    }

    /// Differs whenever anything in the queue does.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    pub fn stamp_of(&self, id: ProposalId) -> u64 {
        self.stamps.get(&id).copied().unwrap_or_default()
    }

    /// A proposal by id or number.
    pub fn proposal(&self, named: &str) -> Result<&Arc<Proposal>, Refusal> {
        let found = match (named.parse::<ProposalId>(), named.trim_start_matches('#').parse::<u64>()) {
            (Ok(id), _) => self.queue.get(id),
            (_, Ok(number)) => self.queue.by_number(number),
            _ => None,
        };
        found.ok_or_else(|| {
            Refusal::new(RefusalCode::NotFound, format!("there is no proposal {named}"))
                .hint("`draftboard review list` lists the open proposals.")
        })
    }

    /// The time at which the next proposal or standing approval expires.
    pub fn next_expiry(&self) -> Option<u64> {
        let waits = |proposal: &&Arc<Proposal>| {
            use ProposalState::{Draft, Open, Stale};
            matches!(proposal.state, Draft | Open | Stale { .. })
        };
        let proposals = self.queue.iter().filter(waits).map(|proposal| proposal.expires);
        proposals.chain(self.approvals.iter().filter_map(|approval| approval.grant.expires)).min()
    }

    fn touch(&mut self, id: ProposalId) {
        self.stamp += 1;
        self.stamps.insert(id, self.stamp);
    }
}

/// The rows of the queue that a group has changed and not written yet.
#[derive(Debug, Clone, Default)]
pub(super) struct UnwrittenReviewRows {
    touched: BTreeSet<ProposalId>,
    forgotten: Vec<ProposalId>,
    pub(super) approvals: bool,
    /// An approval was revoked. The revocation must be on the disk before it is acknowledged.
    pub(super) revoked: bool,
    origins: Vec<ProposalOfOperation>,
    audit: Vec<AuditEntry>,
}

impl UnwrittenReviewRows {
    /// The rows to write, compared with the state before the group.
    pub(super) fn rows<'a>(&self, before: &ReviewState, after: &'a ReviewState) -> ReviewWrite<'a> {
        let row = |id: &ProposalId| {
            let proposal = &**after.queue.get(*id)?;
            let known = before.queue.get(*id);
            let kept = known
                .filter(|known| proposal.changes.starts_with(&known.changes))
                .map(|known| known.changes.len());
            let over = before.stamps.get(id).copied();
            Some(ProposalWrite {
                proposal,
                stamp: after.stamp_of(*id),
                base_revision: over,
                unchanged_prefix: kept,
            })
        };
        ReviewWrite {
            stamp: after.stamp,
            proposals: self.touched.iter().filter_map(row).collect(),
            forgotten: self.forgotten.clone(),
            origins: self.origins.clone(),
            audit: self.audit.clone(),
            signer: None,
        }
    }
}

impl MutationGroup<'_> {
    fn touch(&mut self, id: ProposalId) {
        self.review.touch(id);
        self.pending.touched.insert(id);
    }

    fn append_audit(&mut self, entry: AuditEntry) {
        // A line of the audit alone is a change for the journal, too.
        self.review.stamp += 1;
        self.pending.audit.push(entry);
    }

    fn note_about(&mut self, proposal: &Proposal, event: AuditEvent, way: &str, time: u64) {
        let entry = entry(event, way, time);
        self.append_audit(AuditEntry { proposal: Some(to_audited(proposal)), ..entry });
    }

    /// Rebases waiting proposals onto the changed workspace, or marks them stale.
    pub(super) fn rebase_proposals(&mut self, changes: &[Change], actor: &Actor, time: u64) {
        let by = match actor.kind {
            ActorKind::External => "an edit of the files",
            ActorKind::Window | ActorKind::Terminal => actor.name.as_str(),
        };
        for proposal in self.review.queue.rebase_after(&self.state, changes, by) {
            self.note_rebased(&proposal, time);
        }
    }

    fn note_rebased(&mut self, proposal: &Proposal, time: u64) {
        self.touch(proposal.id);
        if let ProposalState::Stale { why } = &proposal.state {
            self.append_audit(AuditEntry {
                proposal: Some(to_audited(proposal)),
                reason: Some(why.join("; ")),
                ..entry(AuditEvent::Stale, "clock", time)
            });
        }
    }

    /// Expires proposals and approvals, and forgets proposals that were decided long ago.
    pub fn expire(&mut self, now: u64) {
        for proposal in self.review.queue.expire(now) {
            self.touch(proposal.id);
            self.note_about(&proposal, AuditEvent::Expire, "clock", now);
        }
        for id in self.review.queue.prune_decided() {
            self.pending.touched.remove(&id);
            self.pending.forgotten.push(id);
            self.review.stamps.remove(&id);
            self.review.stamp += 1;
        }
        let expired = |approval: &StandingApproval| approval.grant.expires.is_some_and(|end| end <= now);
        if self.review.approvals.iter().any(expired) {
            let over: Vec<u64> =
                self.review.approvals.iter().filter(|known| expired(known)).map(|known| known.id).collect();
            Arc::make_mut(&mut self.review.approvals).retain(|approval| !expired(approval));
            self.review.stamp += 1;
            self.pending.approvals = true;
            for id in over {
                self.append_audit(AuditEntry {
                    approval: Some(id),
                    ..entry(AuditEvent::Expire, "clock", now)
                });
            }
        }
    }
}

/// Drops approvals in the journal: it travels with the workspace, so they would not be the user's own.
fn notice_stored_approvals(journal: &mut Journal, notices: &mut WorkspaceNotices) {
    let text = match journal.drop_stored_approvals() {
        Ok(0) => return,
        Ok(count) => {
            let approvals = shared_protocol::text::count_noun(count, "standing approval");
            format!(
                "Ignored {approvals} stored in this workspace. Approvals are kept in your own configuration. To grant \
                 them again, open Settings, Standing approvals."
            )
        }
        Err(error) => {
            format!("Approvals stored in this workspace are ignored, and could not be removed: {error}")
        }
    };
    notices.set(NoticeTopic::StoredApprovals, text);
}

fn entry(event: AuditEvent, way: &str, time: u64) -> AuditEntry {
    AuditEntry {
        time,
        event,
        by: None,
        way: way.to_owned(),
        proposal: None,
        reason: None,
        revision: None,
        approval: None,
        grant: None,
        elements: Vec::new(),
    }
}

/// The accepted subjects, in a bounded list.
fn bounded_subjects<'a>(subjects: impl ExactSizeIterator<Item = &'a ProposalSubject>) -> Vec<String> {
    let more = subjects.len().saturating_sub(MAX_AUDITED_ELEMENTS);
    let first = subjects.take(MAX_AUDITED_ELEMENTS).map(ToString::to_string);
    first.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

fn to_audited(proposal: &Proposal) -> AuditedProposal {
    AuditedProposal {
        id: proposal.id,
        number: proposal.number,
        version: proposal.version,
        hash: proposal.content_hash().ok(),
        proposer: proposal.proposer.clone(),
    }
}

/// The review queue of an open workspace, with the services that judge and keep it.
#[derive(Default)]
pub(super) struct WorkspaceReview {
    pub(super) state: ReviewState,
    /// Judges the costs of proposals.
    pub(super) costs: ProposalCosts,
    /// The file of standing approvals; they stay in memory when absent.
    pub(super) approval_file: Option<ApprovalFile>,
}

impl WorkspaceReview {
    pub(super) fn brief(&self, proposal: &Proposal, snapshot: &Snapshot) -> ProposalBrief {
        let stamp = self.state.stamp_of(proposal.id);
        let mut brief = brief(&self.state.queue, snapshot, proposal, stamp);
        if self.costs.cost_rises(snapshot, proposal) {
            brief.risks.push(Risk::CostUp);
        }
        if !guarded_in(proposal).is_empty() {
            brief.risks.push(Risk::Security);
        }
        brief.risks.sort();
        brief.risks.dedup();
        brief
    }
}

impl Workspace {
    /// Returns a proposal over the current state, with everything that a decision needs except its plan.
    pub fn proposal_details(&self, id: ProposalId) -> Result<ProposalDetails, Refusal> {
        let Self { review, snapshot, bundles, storage, .. } = self;
        let unknown = || Refusal::new(RefusalCode::NotFound, format!("there is no proposal {id}"));
        let proposal = review.state.queue.get(id).ok_or_else(unknown)?;
        let stamp = review.state.stamp_of(id);
        let mut opened = authority::proposals::open(&review.state.queue, snapshot, proposal, stamp)?;
        opened.brief = review.brief(proposal, snapshot);
        name_authors(&mut opened.clashes, snapshot, storage)?;
        let guarded = guarded_in(proposal);
        for element in &mut opened.elements {
            if element.subject == ProposalSubject::Act && !guarded.is_empty() {
                element.text = format!("{}: {}", element.text, guarded.join(", "));
                element.risks.push(Risk::Security);
            }
            if let ProposalSubject::Source(path) = &element.subject
                && let Some(words) = words_of_source(path, proposal, bundles)
            {
                element.text = words;
            }
        }
        Ok(opened)
    }
}

/// Names the actor who changed each element last, as far as the journal knows.
fn name_authors(
    clashes: &mut [FieldClash],
    snapshot: &Snapshot,
    storage: &WorkspaceStorage,
) -> Result<(), Refusal> {
    let newest = |clash: &FieldClash| {
        let element = match &clash.subject {
            ProposalSubject::Board(id) => ElementId::Board(*id),
            ProposalSubject::Node(id) => ElementId::Node(*id),
            ProposalSubject::Edge(id) => ElementId::Edge(*id),
            ProposalSubject::Source(_) | ProposalSubject::Override(_) | ProposalSubject::Act => return None,
        };
        snapshot.has(element).then(|| snapshot.provenance(element).changed)
    };
    let revisions: BTreeSet<Revision> = clashes.iter().filter_map(newest).collect();
    let newest_first: Vec<Revision> = revisions.into_iter().rev().take(MAX_REQUESTED_OPERATIONS).collect();
    let entries = storage.operations(&newest_first)?;
    for clash in clashes {
        let entry =
            newest(clash).and_then(|revision| entries.iter().find(|known| known.revision == revision));
        clash.by = entry.map(|entry| entry.actor.name.clone()).filter(|name| !name.is_empty());
    }
    Ok(())
}

/// Describes the change of an entity's file in terms of the entity.
fn words_of_source(path: &SourcePath, proposal: &Proposal, bundles: &SpecBundles) -> Option<String> {
    let mut texts = proposal.changes.iter().filter_map(|change| match change {
        Change::Source { path: changed, before, after } if changed == path => Some((before, after)),
        _ => None,
    });
    let (before, mut after) = texts.next()?;
    if let Some((_, last)) = texts.next_back() {
        after = last;
    }
    bundles.bundles().describe_change(path.as_str(), before.as_deref(), after.as_deref())
}

/// The settings that a proposal changes and that decide what is run.
fn guarded_in(proposal: &Proposal) -> Vec<String> {
    match &proposal.act {
        Some(ProposedAction::Config { before, after }) => guarded_settings(before, after),
        _ => Vec::new(),
    }
}

/// The origin of an operation that a proposal became.
fn origin_of(proposal: &Proposal, revision: Revision, by: &str, time: u64) -> ProposalOfOperation {
    ProposalOfOperation {
        revision,
        proposal: proposal.id,
        number: proposal.number,
        title: proposal.title.clone(),
        client: proposal.proposer.name.clone(),
        reviewer: by.to_owned(),
        time,
    }
}
