//! The review queue of an open workspace: the pure queue, its standing approvals, and what of them has to be written with
//! the next group. Nothing here is acknowledged before the journal has it.

mod agents;
mod approval_file;
mod approvals;
mod config;
mod costs;
mod decisions;

pub(crate) use approval_file::ApprovalFile;
pub use approvals::area_of;
pub use config::{guarded_settings, names_program};
pub(crate) use costs::Costs;
pub use costs::Pricing;
pub use decisions::{Decision, Reviewer};

use super::{Workspace, group::Group, notices::About};
use authority::proposals::{Queue, Terms, brief};
use journal::{Journal, ReviewWrite, WrittenProposal};
use shared_protocol::{
    Actor, ActorKind, Change, Code, ElementId, Proposal, ProposalId, ProposalState, Refusal, Revision,
    SourcePath, Subject,
    messages::MAX_OPERATIONS,
    proposal::{Act, Risk},
    review::{
        AuditEntry, AuditEvent, AuditLine, AuditedProposal, Clash, MAX_AUDITED, Origin, ProposalBrief,
        StandingApproval,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The queue with what the journal knows of it. Cheap to clone: a group works on its own.
#[derive(Debug, Clone, Default)]
pub struct Desk {
    pub queue: Queue,
    pub approvals: Arc<Vec<StandingApproval>>,
    /// The stamp of each proposal's newest change.
    stamps: BTreeMap<ProposalId, u64>,
    stamp: u64,
}

impl Desk {
    /// Reads what was kept; rows that cannot be read are named.
    pub(super) fn recall(
        journal: &mut Journal,
        revision: Revision,
        notices: &mut BTreeMap<About, String>,
    ) -> Self {
        let kept = match journal.review() {
            Ok(kept) => kept,
            Err(error) => {
                notices.insert(About::Review, format!("the review queue cannot be read: {error}"));
                return Self { stamp: journal.review_stamp(), ..Self::default() };
            }
        };
        if !kept.unreadable.is_empty() {
            let what = kept.unreadable.join("; ");
            notices.insert(About::Review, format!("parts of the review queue cannot be read: {what}"));
        }
        notice_stored_approvals(journal, notices);
        let stamps = kept.proposals.iter().map(|stored| (stored.proposal.id, stored.stamp)).collect();
        let proposals = kept.proposals.into_iter().map(|stored| stored.proposal);
        let queue = Queue::of(proposals, Terms::default(), revision);
        Self { queue, approvals: Arc::default(), stamps, stamp: kept.stamp }
    }

    /// Differs whenever anything in the queue does.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    pub fn stamp_of(&self, id: ProposalId) -> u64 {
        self.stamps.get(&id).copied().unwrap_or_default()
    }

    fn touch(&mut self, id: ProposalId) {
        self.stamp += 1;
        self.stamps.insert(id, self.stamp);
    }
}

/// What a group did to the queue and has not written yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Unwritten {
    touched: BTreeSet<ProposalId>,
    forgotten: Vec<ProposalId>,
    pub(super) approvals: bool,
    /// An approval was revoked: that has to be safe before anybody hears of it.
    pub(super) revoked: bool,
    origins: Vec<Origin>,
    audit: Vec<AuditEntry>,
}

impl Unwritten {
    /// The rows, against what was there before the group.
    pub(super) fn rows<'a>(&self, before: &Desk, after: &'a Desk) -> ReviewWrite<'a> {
        let row = |id: &ProposalId| {
            let proposal = &**after.queue.get(*id)?;
            let known = before.queue.get(*id);
            let kept = known
                .filter(|known| proposal.changes.starts_with(&known.changes))
                .map(|known| known.changes.len());
            let over = before.stamps.get(id).copied();
            Some(WrittenProposal { proposal, stamp: after.stamp_of(*id), over, kept })
        };
        ReviewWrite {
            stamp: after.stamp,
            proposals: self.touched.iter().filter_map(row).collect(),
            forgotten: self.forgotten.clone(),
            origins: self.origins.clone(),
            audit: self.audit.clone(),
        }
    }
}

impl Group<'_> {
    fn touch(&mut self, id: ProposalId) {
        self.desk.touch(id);
        self.unwritten.touched.insert(id);
    }

    fn note(&mut self, entry: AuditEntry) {
        // Also a line of the audit alone is news to the journal.
        self.desk.stamp += 1;
        self.unwritten.audit.push(entry);
    }

    fn note_about(&mut self, proposal: &Proposal, event: AuditEvent, way: &str, time: u64) {
        let entry = entry(event, way, time);
        self.note(AuditEntry { proposal: Some(audited(proposal)), ..entry });
    }

    /// The workspace went on: what waits moves along, or is stale.
    pub(super) fn went_on(&mut self, changes: &[Change], actor: &Actor, time: u64) {
        let by = match actor.kind {
            ActorKind::External => "an edit of the files",
            ActorKind::Window | ActorKind::Terminal => actor.name.as_str(),
        };
        for proposal in self.desk.queue.moved(&self.state, changes, by) {
            self.moved_along(&proposal, time);
        }
    }

    fn moved_along(&mut self, proposal: &Proposal, time: u64) {
        self.touch(proposal.id);
        if let ProposalState::Stale { why } = &proposal.state {
            self.note(AuditEntry {
                proposal: Some(audited(proposal)),
                reason: Some(why.join("; ")),
                ..entry(AuditEvent::Stale, "clock", time)
            });
        }
    }

    /// Ends what waited too long, and lets go of what was decided long ago.
    pub fn expire(&mut self, now: u64) {
        for proposal in self.desk.queue.expire(now) {
            self.touch(proposal.id);
            self.note_about(&proposal, AuditEvent::Expire, "clock", now);
        }
        for id in self.desk.queue.forget_old() {
            self.unwritten.touched.remove(&id);
            self.unwritten.forgotten.push(id);
            self.desk.stamps.remove(&id);
            self.desk.stamp += 1;
        }
        let expired = |approval: &StandingApproval| approval.grant.expires.is_some_and(|end| end <= now);
        if self.desk.approvals.iter().any(expired) {
            let over: Vec<u64> =
                self.desk.approvals.iter().filter(|known| expired(known)).map(|known| known.id).collect();
            Arc::make_mut(&mut self.desk.approvals).retain(|approval| !expired(approval));
            self.desk.stamp += 1;
            self.unwritten.approvals = true;
            for id in over {
                self.note(AuditEntry { approval: Some(id), ..entry(AuditEvent::Expire, "clock", now) });
            }
        }
    }
}

/// A journal travels with its workspace: approvals in it count for nothing.
fn notice_stored_approvals(journal: &mut Journal, notices: &mut BTreeMap<About, String>) {
    let text = match journal.drop_stored_approvals() {
        Ok(0) => return,
        Ok(count) => {
            let approvals =
                if count == 1 { "1 standing approval" } else { &format!("{count} standing approvals") };
            format!(
                "Ignored {approvals} stored in this workspace. Approvals are kept in your own configuration. To grant \
                 them again, open Settings, Standing approvals."
            )
        }
        Err(error) => {
            format!("Approvals stored in this workspace are ignored, and could not be removed: {error}")
        }
    };
    tracing::warn!("{text}");
    notices.insert(About::StoredApprovals, text);
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
        elements: Vec::new(),
    }
}

/// What was taken, in a bounded list.
fn named<'a>(subjects: impl ExactSizeIterator<Item = &'a Subject>) -> Vec<String> {
    let more = subjects.len().saturating_sub(MAX_AUDITED);
    let first = subjects.take(MAX_AUDITED).map(ToString::to_string);
    first.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

fn audited(proposal: &Proposal) -> AuditedProposal {
    AuditedProposal {
        id: proposal.id,
        number: proposal.number,
        version: proposal.version,
        hash: proposal.content_hash().ok(),
        proposer: proposal.proposer.clone(),
    }
}

impl Workspace {
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// A proposal by id or number.
    pub fn proposal(&self, named: &str) -> Result<&Arc<Proposal>, Refusal> {
        let found = match (named.parse::<ProposalId>(), named.trim_start_matches('#').parse::<u64>()) {
            (Ok(id), _) => self.desk.queue.get(id),
            (_, Ok(number)) => self.desk.queue.numbered(number),
            _ => None,
        };
        found.ok_or_else(|| {
            Refusal::new(Code::NotFound, format!("there is no proposal {named}"))
                .hint("`draftboard review list` shows those that wait.")
        })
    }

    pub fn brief(&self, proposal: &Proposal) -> ProposalBrief {
        let mut brief = brief(&self.desk.queue, &self.snapshot, proposal, self.desk.stamp_of(proposal.id));
        if self.costs.rise(&self.snapshot, proposal) {
            brief.risks.push(Risk::CostUp);
        }
        if !guarded_in(proposal).is_empty() {
            brief.risks.push(Risk::Security);
        }
        brief.risks.sort();
        brief.risks.dedup();
        brief
    }

    pub fn opened(&self, id: ProposalId) -> Result<shared_protocol::review::OpenedProposal, Refusal> {
        let unknown = || Refusal::new(Code::NotFound, format!("there is no proposal {id}"));
        let proposal = self.desk.queue.get(id).ok_or_else(unknown)?;
        let stamp = self.desk.stamp_of(id);
        let mut opened = authority::proposals::open(&self.desk.queue, &self.snapshot, proposal, stamp)?;
        opened.brief = self.brief(proposal);
        self.name_who_changed(&mut opened.clashes)?;
        let guarded = guarded_in(proposal);
        for element in &mut opened.elements {
            if element.subject == Subject::Act && !guarded.is_empty() {
                element.text = format!("{}: {}", element.text, guarded.join(", "));
                element.risks.push(Risk::Security);
            }
            if let Subject::Source(path) = &element.subject
                && let Some(words) = self.words_of_source(path, proposal)
            {
                element.text = words;
            }
        }
        Ok(opened)
    }

    /// Who changed each element last, as far as the journal knows.
    fn name_who_changed(&self, clashes: &mut [Clash]) -> Result<(), Refusal> {
        let newest = |clash: &Clash| {
            let element = match &clash.subject {
                Subject::Board(id) => ElementId::Board(*id),
                Subject::Node(id) => ElementId::Node(*id),
                Subject::Edge(id) => ElementId::Edge(*id),
                Subject::Source(_) | Subject::Override(_) | Subject::Act => return None,
            };
            self.snapshot.has(element).then(|| self.snapshot.provenance(element).changed)
        };
        let revisions: BTreeSet<Revision> = clashes.iter().filter_map(newest).collect();
        let newest_first: Vec<Revision> = revisions.into_iter().rev().take(MAX_OPERATIONS).collect();
        let entries = self.operations(&newest_first)?;
        for clash in clashes {
            let entry =
                newest(clash).and_then(|revision| entries.iter().find(|known| known.revision == revision));
            clash.by = entry.map(|entry| entry.actor.name.clone()).filter(|name| !name.is_empty());
        }
        Ok(())
    }

    /// What a proposal does to an entity's file, in the entity's own words.
    fn words_of_source(&self, path: &SourcePath, proposal: &Proposal) -> Option<String> {
        let mut texts = proposal.changes.iter().filter_map(|change| match change {
            Change::Source { path: changed, before, after } if changed == path => Some((before, after)),
            _ => None,
        });
        let (before, mut after) = texts.next()?;
        if let Some((_, last)) = texts.next_back() {
            after = last;
        }
        self.bundles.loaded().words_of_change(path.as_str(), before.as_deref(), after.as_deref())
    }

    /// Which proposals operations came from; the others are left out.
    pub fn origins(&self, revisions: &[Revision]) -> Result<Vec<Origin>, Refusal> {
        if revisions.len() > MAX_OPERATIONS {
            return Err(Refusal::new(Code::LimitExceeded, "too many operations at once"));
        }
        let found = revisions.iter().filter_map(|revision| self.journal.origin(*revision).transpose());
        found.map(|origin| origin.map_err(|error| super::error::storage(&error))).collect()
    }

    pub fn audit(&self, after: u64, limit: u32) -> Result<Vec<AuditLine>, Refusal> {
        self.journal.audit(after, limit).map_err(|error| super::error::storage(&error))
    }

    /// When the next thing in the queue is over.
    pub fn next_expiry(&self) -> Option<u64> {
        let waits = |proposal: &&Arc<Proposal>| {
            use ProposalState::{Draft, Open, Stale};
            matches!(proposal.state, Draft | Open | Stale { .. })
        };
        let proposals = self.desk.queue.iter().filter(waits).map(|proposal| proposal.expires);
        proposals.chain(self.desk.approvals.iter().filter_map(|approval| approval.grant.expires)).min()
    }
}

/// Settings that decide what is run, among those that a proposal would change.
fn guarded_in(proposal: &Proposal) -> Vec<String> {
    match &proposal.act {
        Some(Act::Config { before, after }) => guarded_settings(before, after),
        _ => Vec::new(),
    }
}

/// The operation's words for one that came of a proposal.
fn origin_of(proposal: &Proposal, revision: Revision, by: &str, time: u64) -> Origin {
    Origin {
        revision,
        proposal: proposal.id,
        number: proposal.number,
        title: proposal.title.clone(),
        client: proposal.proposer.name.clone(),
        reviewer: by.to_owned(),
        time,
    }
}
