//! A group of mutations: decided one on the other, made durable together, then acknowledged. Under load many commands share
//! one write to the disk; a failed write refuses all of them and changes nothing.

use super::{
    ReviewState, SpecBundles, Workspace, error::storage, history::without_prefix, links::TraceLinkEndSources,
    notices::NoticeTopic, proof::WorkspaceProof, review::UnwrittenReviewRows, storage::WorkspaceFileContext,
};
use authority::{RebaseResult, Snapshot, UndoHistory, boards_touched, decide, rebase};
use journal::AuditSigner;
use shared_protocol::{
    Actor, Change, Command, ElementId, Operation, OperationKind, Refusal, RefusalCode, Revision,
    change::inverse,
    limits::MAX_HISTORY_OPERATIONS,
    messages::{AppliedCommand, Patch},
};
use std::collections::BTreeSet;

/// A change of the graph.
#[derive(Debug, Clone, PartialEq)]
pub enum Mutation {
    Run(Box<Command>),
    Undo,
    Redo,
    Revert {
        revision: Revision,
        partial: bool,
    },
    /// Several operations at once, as one: a proposal that was accepted in parts.
    RevertAll {
        summary: String,
        revisions: Vec<Revision>,
        partial: bool,
    },
    /// Changes that were decided on the present state.
    Decided {
        summary: String,
        changes: Vec<Change>,
    },
    /// Changes that were made elsewhere for an earlier state.
    Import {
        summary: String,
        changes: Vec<Change>,
    },
    /// An edit of a file by another program, already rebased onto the present state.
    External {
        summary: String,
        changes: Vec<Change>,
    },
}

/// The time and the seed of ids, which come from the outside so that tests are exact.
#[derive(Debug, Clone, Copy)]
pub struct TimeAndSeed {
    /// Milliseconds since 1970, UTC.
    pub time: u64,
    pub seed: u64,
}

pub struct MutationGroup<'w> {
    pub(super) workspace: &'w mut Workspace,
    pub(super) state: Snapshot,
    bundles: SpecBundles,
    history: UndoHistory,
    operations: Vec<Operation>,
    pub(super) review: ReviewState,
    pub(super) pending: UnwrittenReviewRows,
}

impl Workspace {
    pub fn begin(&mut self) -> MutationGroup<'_> {
        MutationGroup {
            state: self.snapshot.clone(),
            bundles: self.bundles.clone(),
            history: self.history.order.clone(),
            operations: Vec::new(),
            review: self.review.state.clone(),
            pending: UnwrittenReviewRows::default(),
            workspace: self,
        }
    }

    /// One mutation, durable when it returns.
    pub fn execute(
        &mut self,
        mutation: &Mutation,
        actor: &Actor,
        moment: TimeAndSeed,
    ) -> Result<(AppliedCommand, Vec<Patch>), Refusal> {
        let mut group = self.begin();
        let applied = group.run(mutation, actor, moment)?;
        let patches = group.commit()?;
        Ok((applied, patches))
    }

    /// Brings the parts that are derived from the snapshot in step with it.
    fn update_derived(&mut self, operations: &[Operation], bundles: SpecBundles) {
        let Self { storage, snapshot, notices, sources, overrides, components, .. } = self;
        let mut context = WorkspaceFileContext { storage, snapshot, notices };
        sources.write_touched(operations, &mut context);
        overrides.write_touched(operations, &mut context);
        if components.update(operations, snapshot, notices) {
            self.compose_registry();
        }
        if self.bundles != bundles {
            self.bundles = bundles;
            self.bundles.update_notices(&mut self.notices);
        }
        let ends = TraceLinkEndSources { snapshot: &self.snapshot, bundles: &self.bundles };
        self.links.update(operations, ends, &mut self.notices);
    }

    fn compact(&mut self) {
        let journal = &mut self.storage.journal;
        if journal.should_compact() {
            match journal.checkpoint(&self.snapshot.to_document(), MAX_HISTORY_OPERATIONS) {
                Ok(()) => self.notices.clear(&NoticeTopic::Compaction),
                Err(error) => {
                    let text = format!("the journal was not compacted: {error}");
                    self.notices.set(NoticeTopic::Compaction, text);
                }
            }
        }
    }
}

impl MutationGroup<'_> {
    /// Decides a mutation on what the group has so far. It counts only after [`Self::commit`].
    pub fn run(
        &mut self,
        mutation: &Mutation,
        actor: &Actor,
        moment: TimeAndSeed,
    ) -> Result<AppliedCommand, Refusal> {
        let (kind, summary, changes, created) = match mutation {
            Mutation::Run(command) => {
                let decision = match &**command {
                    Command::PromoteOverrides(which) => self.promote_value(which, moment)?,
                    command => decide(&self.state, command, moment.seed)?,
                };
                (OperationKind::Edit, decision.summary, decision.changes, decision.created)
            }
            Mutation::Undo => {
                let of = self.history.next_undo().ok_or_else(|| nothing_to("undo"))?;
                let undone = self.operation(of)?;
                let changes =
                    self.fit(&inverse(&undone.changes)).require_complete(&self.state, "undoing this")?;
                (
                    OperationKind::Undo(of),
                    format!("Undo: {}", without_prefix(&undone.summary)),
                    changes,
                    Vec::new(),
                )
            }
            Mutation::Redo => {
                let of = self.history.next_redo().ok_or_else(|| nothing_to("redo"))?;
                let undone = self.operation(of)?;
                let changes =
                    self.fit(&inverse(&undone.changes)).require_complete(&self.state, "redoing this")?;
                (
                    OperationKind::Redo(of),
                    format!("Redo: {}", without_prefix(&undone.summary)),
                    changes,
                    Vec::new(),
                )
            }
            Mutation::Revert { revision, partial } => {
                let reverted = self.operation(*revision)?;
                let rebased = self.fit(&inverse(&reverted.changes));
                let summary = format!("Revert {revision}: {}", reverted.summary);
                let changes = if *partial {
                    rebased.fitting
                } else {
                    rebased.require_complete(&self.state, &summary)?
                };
                (OperationKind::Revert(*revision), summary, changes, Vec::new())
            }
            Mutation::RevertAll { summary, revisions, partial } => {
                let mut newest_first = revisions.clone();
                newest_first.sort_unstable_by_key(|revision| std::cmp::Reverse(*revision));
                newest_first.dedup();
                let newest = *newest_first.first().ok_or_else(|| nothing_to("revert"))?;
                let mut back = Vec::new();
                for revision in newest_first {
                    back.extend(inverse(&self.operation(revision)?.changes));
                }
                let rebased = self.fit(&back);
                let changes = if *partial {
                    rebased.fitting
                } else {
                    rebased.require_complete(&self.state, summary)?
                };
                (OperationKind::Revert(newest), summary.clone(), changes, Vec::new())
            }
            Mutation::Import { summary, changes } => {
                let rebased = self.fit(changes);
                if let Some((_, error)) = rebased.conflicts.first() {
                    let message = format!("the workspace has changed in the meantime: {error}");
                    return Err(Refusal::new(RefusalCode::Conflict, message).hint("Try again."));
                }
                (OperationKind::Edit, summary.clone(), rebased.fitting, Vec::new())
            }
            Mutation::Decided { summary, changes } | Mutation::External { summary, changes } => {
                (OperationKind::Edit, summary.clone(), changes.clone(), Vec::new())
            }
        };
        if changes.is_empty() {
            return Ok(AppliedCommand { revision: self.state.revision(), summary, created });
        }
        if !matches!(mutation, Mutation::External { .. }) {
            self.workspace.boards.refuse_held(&self.state, &changes)?;
        }
        let applied = self.push(kind, summary, changes, created, (actor, moment))?;
        if let Some(newest) = self.operations.pop() {
            self.rebase_proposals(&newest.changes, actor, moment.time);
            self.operations.push(newest);
        }
        Ok(applied)
    }

    /// Makes an operation of changes that fit, on what the group has so far.
    pub(super) fn push(
        &mut self,
        kind: OperationKind,
        summary: String,
        mut changes: Vec<Change>,
        created: Vec<ElementId>,
        (actor, moment): (&Actor, TimeAndSeed),
    ) -> Result<AppliedCommand, Refusal> {
        let revision = self.state.revision().next();
        let unapplied = |error: authority::ApplyError| {
            Refusal::new(
                RefusalCode::Internal,
                format!("a decided change did not apply ({error}); nothing was changed"),
            )
        };
        let mut state = self.state.clone();
        state.apply(revision, &changes).map_err(unapplied)?;
        if let Some(bundles) = self.bundles.updated(&self.workspace.config.bundles, &state, &changes) {
            let is_held = |board| self.workspace.boards.is_held(board);
            let maps = self.bundles.maps_in_step(&bundles, &state, &changes, is_held, moment.seed);
            if !maps.is_empty() {
                changes.extend(maps);
                state = self.state.clone();
                state.apply(revision, &changes).map_err(unapplied)?;
            }
            self.bundles = bundles;
        }
        self.state = state;
        self.history.record(revision, kind);
        let applied = AppliedCommand { revision, summary: summary.clone(), created };
        self.operations.push(Operation {
            revision,
            time: moment.time,
            actor: actor.clone(),
            kind,
            summary,
            changes,
        });
        Ok(applied)
    }

    /// Refuses a decision that could not be signed.
    pub(super) fn require_key(&self) -> Result<(), Refusal> {
        self.workspace.proof.as_ref().map_or(Ok(()), WorkspaceProof::require_key)
    }

    pub(super) fn has_key(&self) -> bool {
        self.workspace.proof.as_ref().is_none_or(WorkspaceProof::has_key)
    }

    /// Runs all of `run`, or undoes it after an error.
    pub(super) fn atomically<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let before = (self.state.clone(), self.bundles.clone(), self.history.clone());
        let review = (self.review.clone(), self.pending.clone());
        let operations = self.operations.len();
        let done = run(self);
        if done.is_err() {
            (self.state, self.bundles, self.history) = before;
            (self.review, self.pending) = review;
            self.operations.truncate(operations);
        }
        done
    }

    fn fit(&self, changes: &[Change]) -> RebaseResult {
        rebase(&self.state, changes)
    }

    fn operation(&self, revision: Revision) -> Result<Operation, Refusal> {
        if let Some(own) = self.operations.iter().find(|operation| operation.revision == revision) {
            return Ok(own.clone());
        }
        self.workspace.storage.journal.operation(revision).map_err(|error| storage(&error))?.ok_or_else(
            || {
                let message = format!("operation {revision} is not in the journal");
                Refusal::new(RefusalCode::NotFound, message)
                    .hint("`draftboard log` shows the operations that are kept.")
            },
        )
    }

    /// Makes the group durable, then visible. On an error nothing of it happened.
    ///
    /// The order matters. The journal comes before every file, because it is the write-ahead log of the sources and the
    /// overrides. Bundles come before links, which have their ends in them.
    pub fn commit(self) -> Result<Vec<Patch>, Refusal> {
        let Self { workspace, state, bundles, history, operations, review, pending } = self;
        if pending.revoked {
            workspace.review.revoke_approvals(&review.approvals)?;
        }
        let mut rows = pending.rows(&workspace.review.state, &review);
        if operations.is_empty() && rows.is_empty() {
            return Ok(Vec::new());
        }
        workspace.storage.refuse_read_only(&operations, &rows)?;
        let audited = rows.audit.last().map(|entry| entry.time);
        // Ordinary edits write no line, so they wait for no key.
        let signer = audited.and_then(|_| workspace.proof.as_ref()?.signer());
        rows.signer = signer.as_ref().map(|signer| signer as &dyn AuditSigner);
        let before = workspace.history.order.clone();
        workspace.ensure_storage()?;
        workspace.keep_saved_revision();
        let (storage, mut content) = workspace.storage_and_content();
        storage.append(&operations, &rows, &mut content)?;
        drop(rows);
        // Operations that were lost when the journal was rebuilt cannot be undone.
        let history = match workspace.history.order == before {
            true => history,
            false => UndoHistory::from_operations(
                operations.iter().map(|operation| (operation.revision, operation.kind)),
            ),
        };
        if let Some(time) = audited {
            workspace.anchor_audit(time);
        }
        workspace.review.state = review;
        if pending.approvals {
            workspace.review.keep_approvals(&mut workspace.notices);
        }
        let mut touched = BTreeSet::new();
        for operation in &operations {
            // Judged before and after: an added board is known only then, a removed one only before.
            touched.append(&mut boards_touched(&workspace.snapshot, &operation.changes));
            touched.append(&mut boards_touched(&state, &operation.changes));
        }
        workspace.snapshot = state;
        workspace.history.record(&operations, history);
        workspace.update_derived(&operations, bundles);
        let is_taken_back = operations.iter().any(|operation| operation.kind != OperationKind::Edit);
        workspace.boards.mark_unsaved(touched, is_taken_back, &workspace.snapshot);
        workspace.compact();
        Ok(operations.into_iter().map(patch).collect())
    }
}

pub(super) fn patch(operation: Operation) -> Patch {
    let Operation { revision, actor, kind, summary, changes, .. } = operation;
    Patch { revision, actor, kind, summary, changes }
}

fn nothing_to(what: &str) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("nothing to {what}"))
}
