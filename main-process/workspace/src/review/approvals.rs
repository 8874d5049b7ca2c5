//! Standing approvals: proposals of a client that a person accepts in advance. A covered proposal goes through the same checks
//! as any other yes, and is recorded as accepted by the approval.

use super::{ApprovalFile, Reviewer, WorkspaceReview, config::guarded_settings, entry};
use crate::{
    TimeAndSeed,
    group::MutationGroup,
    notices::{NoticeTopic, WorkspaceNotices},
};
use authority::{Snapshot, boards_touched, proposals::risks};
use shared_protocol::{
    BoardId, BoardKind, Change, Proposal, ProposalSubject, Refusal, RefusalCode,
    proposal::{ProposedAction, ReviewVerdict, Risk},
    review::{ApprovalArea, ApprovalGrant, AuditEntry, AuditEvent, StandingApproval},
    terraform::TerraformOperation,
    v0::UtcTimestamp,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

const MAX_APPROVALS: usize = 100;

impl MutationGroup<'_> {
    pub fn grant(
        &mut self,
        grant: ApprovalGrant,
        for_this_run: bool,
        reviewer: &Reviewer,
        moment: TimeAndSeed,
    ) -> Result<StandingApproval, Refusal> {
        let wrong = |message: &str| Err(Refusal::new(RefusalCode::BadRequest, message));
        if grant.scope.0.is_empty() {
            return wrong("The scope is empty. Name at least one area.");
        }
        if grant.expires.is_some_and(|end| end <= moment.time) {
            return wrong("The end of the approval is in the past. Choose a later time.");
        }
        if let Some(board) = grant.boards.iter().find(|board| self.state.board(**board).is_none()) {
            return Err(
                Refusal::new(RefusalCode::NotFound, format!("there is no board {board}")).field("boards")
            );
        }
        self.require_key()?;
        if self.review.approvals.len() >= MAX_APPROVALS {
            let message = format!("The limit of {MAX_APPROVALS} standing approvals is reached.");
            return Err(Refusal::new(RefusalCode::LimitExceeded, message).hint("Revoke one first."));
        }
        let id =
            self.review.approvals.iter().map(|known| known.id).max().unwrap_or(0).max(self.review.stamp())
                + 1;
        let by = reviewer.name.clone();
        let approval = StandingApproval { id, grant, by, granted: moment.time, for_this_run, used: 0 };
        Arc::make_mut(&mut self.review.approvals).push(approval.clone());
        self.changed_approvals();
        let reason = Some(self.words_of(&approval));
        let line = AuditEntry {
            by: Some(reviewer.name.clone()),
            approval: Some(id),
            reason,
            grant: Some(approval.grant.clone()),
            ..entry(AuditEvent::Grant, reviewer.channel, moment.time)
        };
        self.append_audit(line);
        Ok(approval)
    }

    /// Describes the approval in full, so that the audit is complete by itself.
    fn words_of(&self, approval: &StandingApproval) -> String {
        let StandingApproval { grant, for_this_run, .. } = approval;
        let client = match &grant.client {
            Some(name) => format!("clients named {name:?} (unverified)"),
            None => "all clients".to_owned(),
        };
        let name = |id: &BoardId| match self.state.board(*id) {
            Some(board) => format!("{} ({id})", board.name),
            None => id.to_string(),
        };
        let boards: Vec<String> = grant.boards.iter().map(name).collect();
        let boards = if boards.is_empty() { "all boards".to_owned() } else { boards.join(", ") };
        let end = match (grant.expires, *for_this_run) {
            (Some(end), _) => format!("until {}", UtcTimestamp::of_millis(end).as_str()),
            (None, true) => "for this run".to_owned(),
            (None, false) => "until it is revoked".to_owned(),
        };
        format!("{} for {client} on {boards}, {end}", grant.scope)
    }

    pub fn revoke(&mut self, id: u64, reviewer: &Reviewer, moment: TimeAndSeed) -> Result<(), Refusal> {
        if !self.review.approvals.iter().any(|approval| approval.id == id) {
            return Err(Refusal::new(RefusalCode::NotFound, format!("there is no standing approval {id}")));
        }
        self.require_key()?;
        Arc::make_mut(&mut self.review.approvals).retain(|approval| approval.id != id);
        self.changed_approvals();
        self.pending.revoked = true;
        let line = AuditEntry {
            by: Some(reviewer.name.clone()),
            approval: Some(id),
            ..entry(AuditEvent::Revoke, reviewer.channel, moment.time)
        };
        self.append_audit(line);
        Ok(())
    }

    fn changed_approvals(&mut self) {
        self.review.stamp += 1;
        self.pending.approvals = true;
    }

    /// The first approval that covers all of a proposal.
    pub(super) fn approval_for(&self, proposal: &Proposal, now: u64) -> Option<StandingApproval> {
        // Without a key the acceptance could not be signed, so a person must look.
        if self.review.approvals.is_empty() || !self.has_key() {
            return None;
        }
        // No approval covers a run whose planning executes or sends something: no person would see it.
        if let Some(ProposedAction::Run { board, operation, .. }) = &proposal.act
            && !self.workspace.review.costs.runs_unattended(&self.state, *board, *operation)
        {
            return None;
        }
        let mut risks = risks(&self.state, &proposal.changes);
        if self.workspace.review.costs.cost_rises(&self.state, proposal) {
            risks.insert(Risk::CostUp);
        }
        let covers = |approval: &&StandingApproval| covers(approval, &self.state, proposal, &risks, now);
        self.review.approvals.iter().find(covers).cloned()
    }

    pub(super) fn count_approval_use(&mut self, id: u64) {
        if let Some(approval) =
            Arc::make_mut(&mut self.review.approvals).iter_mut().find(|known| known.id == id)
        {
            approval.used += 1;
        }
        self.changed_approvals();
    }

    /// A yes to a whole proposal. The approval confirms its removals, because its scope names destruction.
    pub(super) fn approved(&self, proposal: &Proposal) -> Result<ReviewVerdict, Refusal> {
        Ok(ReviewVerdict {
            proposal: proposal.id,
            version: proposal.version,
            hash: proposal.content_hash()?,
            base: self.review.queue.base(proposal),
            chosen: None,
            confirmed: proposal.subjects().into_iter().collect(),
            // No approval covers a run that needs a plan.
            plan: None,
        })
    }
}

impl WorkspaceReview {
    /// Keeps standing approvals in this file from now on, and reads the entries of this workspace.
    pub(crate) fn keep_approvals_in(
        &mut self,
        path: PathBuf,
        workspace: &Path,
        notices: &mut WorkspaceNotices,
    ) {
        let file = ApprovalFile::new(path, workspace);
        match file.read() {
            Ok(approvals) => self.state.approvals = Arc::new(approvals),
            Err(error) => {
                notices.set(NoticeTopic::Approvals, format!("No standing approval is in effect: {error}."))
            }
        }
        self.approval_file = Some(file);
    }

    /// Writes approvals as they will be after a revocation, before that is acknowledged.
    pub(crate) fn revoke_approvals(&self, approvals: &[StandingApproval]) -> Result<(), Refusal> {
        let written = self.approval_file.as_ref().map_or(Ok(()), |file| {
            let stored = file.read()?;
            let kept: Vec<StandingApproval> =
                permanent(approvals).filter(|known| stored.iter().any(|one| one.id == known.id)).collect();
            file.write(&kept)
        });
        written.map_err(|error| {
            Refusal::new(RefusalCode::StorageError, format!("The approval was not revoked: {error}"))
                .hint("Free some disk space or fix the file, then revoke it again.")
        })
    }

    /// Writes approvals once their grant is in the journal. A failure leaves them valid until Draftboard is closed.
    pub(crate) fn keep_approvals(&self, notices: &mut WorkspaceNotices) {
        let Some(file) = &self.approval_file else { return };
        let approvals: Vec<StandingApproval> = permanent(&self.state.approvals).collect();
        match file.write(&approvals) {
            Ok(()) => notices.clear(&NoticeTopic::Approvals),
            Err(error) => {
                let text = format!("Standing approvals granted now end when Draftboard is closed: {error}.");
                notices.set(NoticeTopic::Approvals, text);
            }
        }
    }
}

/// The standing approvals of a workspace, as the user's configuration has them.
pub(crate) fn read_approvals(file: PathBuf, workspace: &Path) -> Result<Vec<StandingApproval>, String> {
    ApprovalFile::new(file, workspace).read().map_err(|error| error.to_string())
}

/// Approvals of the command line end with this run.
fn permanent(approvals: &[StandingApproval]) -> impl Iterator<Item = StandingApproval> + '_ {
    approvals.iter().filter(|approval| !approval.for_this_run).cloned()
}

fn covers(
    approval: &StandingApproval,
    state: &Snapshot,
    proposal: &Proposal,
    risks: &BTreeSet<Risk>,
    now: u64,
) -> bool {
    let ApprovalGrant { client, scope, boards, expires } = &approval.grant;
    if expires.is_some_and(|end| end <= now)
        || client.as_ref().is_some_and(|name| *name != proposal.proposer.name)
    {
        return false;
    }
    let Some(areas) = area_of(state, proposal) else { return false };
    let within = boards.is_empty()
        || (proposal.act.is_none()
            && !proposal.changes.iter().any(|change| matches!(change, Change::Source { .. }))
            && boards_touched(state, &proposal.changes).iter().all(|board| boards.contains(board)));
    within && !areas.is_empty() && areas.iter().all(|area| scope.covers(*area, risks))
}

/// The areas that a proposal concerns; `None` when no approval can cover it.
pub fn area_of(state: &Snapshot, proposal: &Proposal) -> Option<BTreeSet<ApprovalArea>> {
    match &proposal.act {
        None => {}
        Some(ProposedAction::Run {
            operation: TerraformOperation::Init | TerraformOperation::Validate | TerraformOperation::Plan,
            ..
        }) => {
            return Some(BTreeSet::from([ApprovalArea::TerraformPlan]));
        }
        Some(ProposedAction::Config { before, after }) if !guarded_settings(before, after).is_empty() => {
            return None;
        }
        Some(ProposedAction::Save | ProposedAction::Config { .. }) => {
            return Some(BTreeSet::from([ApprovalArea::Diagram]));
        }
        Some(
            ProposedAction::StartPreview { .. }
            | ProposedAction::StopPreview { .. }
            | ProposedAction::NavigatePreview { .. },
        ) => {
            return Some(BTreeSet::from([ApprovalArea::Interface]));
        }
        Some(
            ProposedAction::Run { .. }
            | ProposedAction::Open { .. }
            | ProposedAction::New { .. }
            | ProposedAction::Call { .. },
        ) => return None,
    }
    let mut areas = BTreeSet::new();
    let added = proposal.changes.iter().filter_map(|change| match change {
        Change::Board { id, after: Some(board), .. } => Some((*id, board.kind)),
        _ => None,
    });
    let added: std::collections::BTreeMap<_, _> = added.collect();
    for change in &proposal.changes {
        match ProposalSubject::of_change(change) {
            ProposalSubject::Source(path) if path.as_str().starts_with("components/") => {
                areas.insert(ApprovalArea::Interface);
            }
            ProposalSubject::Source(_) => drop(areas.insert(ApprovalArea::Bundles)),
            ProposalSubject::Override(_) => drop(areas.insert(ApprovalArea::Interface)),
            _ => {}
        }
    }
    for board in boards_touched(state, &proposal.changes) {
        let kind = state.board(board).map(|board| board.kind).or_else(|| added.get(&board).copied());
        areas.insert(if kind == Some(BoardKind::Interface) {
            ApprovalArea::Interface
        } else {
            ApprovalArea::Diagram
        });
    }
    Some(areas)
}
