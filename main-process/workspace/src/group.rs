//! A group of mutations: decided one on the other, made durable together, then acknowledged. Under load many commands share
//! one write to the disk; a failed write refuses all of them and changes nothing.

use super::{About, Desk, SpecBundles, Workspace, error::storage, review::Unwritten};
use authority::{History, Rebased, Snapshot, boards_touched, decide, rebase};
use shared_protocol::{
    Actor, BoardId, Change, Code, Command, ElementId, Operation, OperationKind, Refusal, Revision,
    change::inverse,
    limits::MAX_HISTORY,
    messages::{Applied, Patch},
};
use std::collections::BTreeSet;

/// What changes the graph.
#[derive(Debug, Clone, PartialEq)]
pub enum Mutation {
    Run(Box<Command>),
    Undo,
    Redo,
    Revert {
        revision: Revision,
        partial: bool,
    },
    /// Several operations at once, as one: what came of a proposal that was accepted in parts.
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
    /// Something that was made elsewhere for the state as it was then.
    Import {
        summary: String,
        changes: Vec<Change>,
    },
    /// Somebody else's edit of a file, already fitted to the present state.
    External {
        summary: String,
        changes: Vec<Change>,
    },
}

/// Where ids and times come from: the outside.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Milliseconds since 1970, UTC.
    pub time: u64,
    pub seed: u64,
}

pub struct Group<'w> {
    pub(super) workspace: &'w mut Workspace,
    pub(super) state: Snapshot,
    bundles: SpecBundles,
    history: History,
    operations: Vec<Operation>,
    pub(super) desk: Desk,
    pub(super) unwritten: Unwritten,
}

impl Workspace {
    pub fn begin(&mut self) -> Group<'_> {
        let (state, bundles, history) = (self.snapshot.clone(), self.bundles.clone(), self.history.clone());
        let (desk, unwritten) = (self.desk.clone(), Unwritten::default());
        Group { workspace: self, state, bundles, history, operations: Vec::new(), desk, unwritten }
    }

    /// One mutation, durable when it returns.
    pub fn execute(
        &mut self,
        mutation: &Mutation,
        actor: &Actor,
        moment: Moment,
    ) -> Result<(Applied, Vec<Patch>), Refusal> {
        let mut group = self.begin();
        let applied = group.run(mutation, actor, moment)?;
        let patches = group.commit()?;
        Ok((applied, patches))
    }

    /// Taking something back may lead to what the files hold, and is rare enough to compare.
    fn mark_unsaved(&mut self, touched: BTreeSet<BoardId>, taken_back: bool) {
        for board in touched {
            if taken_back && self.is_as_saved(board) {
                self.unsaved.remove(&board);
            } else {
                self.unsaved.insert(board);
            }
        }
        self.drop_what_is_gone();
    }

    fn compact(&mut self) {
        if self.journal.should_compact() {
            match self.journal.checkpoint(&self.snapshot.to_document(), MAX_HISTORY) {
                Ok(()) => self.in_order(&About::Compaction),
                Err(error) => {
                    self.notice(About::Compaction, format!("the journal was not compacted: {error}"))
                }
            }
        }
    }
}

impl Group<'_> {
    /// Decides a mutation on what the group has so far. It counts only after [`Self::commit`].
    pub fn run(&mut self, mutation: &Mutation, actor: &Actor, moment: Moment) -> Result<Applied, Refusal> {
        let (kind, summary, changes, created) = match mutation {
            Mutation::Run(command) => {
                let decision = match &**command {
                    Command::PromoteOverrides(which) => self.promoted(which, moment)?,
                    command => decide(&self.state, command, moment.seed)?,
                };
                (OperationKind::Edit, decision.summary, decision.changes, decision.created)
            }
            Mutation::Undo => {
                let of = self.history.to_undo().ok_or_else(|| nothing("undo"))?;
                let undone = self.operation(of)?;
                let changes = self.fit(&inverse(&undone.changes)).all(&self.state, "undoing this")?;
                (OperationKind::Undo(of), format!("Undo: {}", plain(&undone.summary)), changes, Vec::new())
            }
            Mutation::Redo => {
                let of = self.history.to_redo().ok_or_else(|| nothing("redo"))?;
                let undone = self.operation(of)?;
                let changes = self.fit(&inverse(&undone.changes)).all(&self.state, "redoing this")?;
                (OperationKind::Redo(of), format!("Redo: {}", plain(&undone.summary)), changes, Vec::new())
            }
            Mutation::Revert { revision, partial } => {
                let reverted = self.operation(*revision)?;
                let rebased = self.fit(&inverse(&reverted.changes));
                let summary = format!("Revert {revision}: {}", reverted.summary);
                let changes = if *partial { rebased.fitting } else { rebased.all(&self.state, &summary)? };
                (OperationKind::Revert(*revision), summary, changes, Vec::new())
            }
            Mutation::RevertAll { summary, revisions, partial } => {
                let mut newest_first = revisions.clone();
                newest_first.sort_unstable_by_key(|revision| std::cmp::Reverse(*revision));
                newest_first.dedup();
                let newest = *newest_first.first().ok_or_else(|| nothing("revert"))?;
                let mut back = Vec::new();
                for revision in newest_first {
                    back.extend(inverse(&self.operation(revision)?.changes));
                }
                let rebased = self.fit(&back);
                let changes = if *partial { rebased.fitting } else { rebased.all(&self.state, summary)? };
                (OperationKind::Revert(newest), summary.clone(), changes, Vec::new())
            }
            Mutation::Import { summary, changes } => {
                let rebased = self.fit(changes);
                if let Some((_, error)) = rebased.conflicts.first() {
                    let message = format!("the workspace changed meanwhile: {error}");
                    return Err(Refusal::new(Code::Conflict, message).hint("Try again."));
                }
                (OperationKind::Edit, summary.clone(), rebased.fitting, Vec::new())
            }
            Mutation::Decided { summary, changes } | Mutation::External { summary, changes } => {
                (OperationKind::Edit, summary.clone(), changes.clone(), Vec::new())
            }
        };
        if changes.is_empty() {
            return Ok(Applied { revision: self.state.revision(), summary, created });
        }
        if !matches!(mutation, Mutation::External { .. }) {
            self.refuse_held(&changes)?;
        }
        let applied = self.push(kind, summary, changes, created, (actor, moment))?;
        if let Some(newest) = self.operations.pop() {
            self.went_on(&newest.changes, actor, moment.time);
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
        (actor, moment): (&Actor, Moment),
    ) -> Result<Applied, Refusal> {
        let revision = self.state.revision().next();
        let unapplied = |error: authority::ApplyError| {
            Refusal::new(
                Code::Internal,
                format!("a decided change did not apply ({error}); nothing was changed"),
            )
        };
        let mut state = self.state.clone();
        state.apply(revision, &changes).map_err(unapplied)?;
        if let Some(bundles) = self.bundles.after(&self.workspace.config.bundles, &state, &changes) {
            let is_held = |board| self.workspace.held.contains_key(&board);
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
        let applied = Applied { revision, summary: summary.clone(), created };
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

    /// Does all of something, or nothing.
    pub(super) fn whole<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let before = (self.state.clone(), self.bundles.clone(), self.history.clone());
        let review = (self.desk.clone(), self.unwritten.clone());
        let operations = self.operations.len();
        let done = run(self);
        if done.is_err() {
            (self.state, self.bundles, self.history) = before;
            (self.desk, self.unwritten) = review;
            self.operations.truncate(operations);
        }
        done
    }

    fn fit(&self, changes: &[Change]) -> Rebased {
        rebase(&self.state, changes)
    }

    fn operation(&self, revision: Revision) -> Result<Operation, Refusal> {
        if let Some(own) = self.operations.iter().find(|operation| operation.revision == revision) {
            return Ok(own.clone());
        }
        self.workspace.journal.operation(revision).map_err(|error| storage(&error))?.ok_or_else(|| {
            let message = format!("operation {revision} is not in the journal");
            Refusal::new(Code::NotFound, message).hint("`draftboard log` shows the operations that are kept.")
        })
    }

    /// A board whose file is damaged or in conflict is not changed until a person has decided.
    pub(super) fn refuse_held(&self, changes: &[Change]) -> Result<(), Refusal> {
        if self.workspace.held.is_empty() {
            return Ok(());
        }
        let touched = boards_touched(&self.state, changes);
        match touched.iter().find_map(|board| Some((board, self.workspace.held.get(board)?))) {
            Some((board, held)) => {
                let name = self
                    .state
                    .board(*board)
                    .map_or_else(|| board.to_string(), |board| board.name.to_string());
                let refusal =
                    Refusal::new(Code::ReadOnly, format!("board {name} is read-only: {}", held.message));
                Err(refusal.hint(
                    "Choose in the banner of the window or with `draftboard resolve`, or correct the file.",
                ))
            }
            None => Ok(()),
        }
    }

    /// Makes the group durable, then visible. On an error nothing of it happened.
    pub fn commit(self) -> Result<Vec<Patch>, Refusal> {
        let Self { workspace, state, bundles, history, operations, desk, unwritten } = self;
        if unwritten.revoked {
            workspace.revoke_approvals(&desk.approvals)?;
        }
        let review = unwritten.rows(&workspace.desk, &desk);
        if operations.is_empty() && review.is_empty() {
            return Ok(Vec::new());
        }
        workspace.refuse_read_only(&operations, &review)?;
        let before = workspace.history.clone();
        workspace.ensure_storage()?;
        workspace.keep_saved_revision();
        workspace.append(&operations, &review)?;
        drop(review);
        // What the journal lost when it was made anew cannot be undone.
        let history = match workspace.history == before {
            true => history,
            false => History::of(operations.iter().map(|operation| (operation.revision, operation.kind))),
        };
        workspace.desk = desk;
        if unwritten.approvals {
            workspace.keep_approvals();
        }
        let mut touched = BTreeSet::new();
        for operation in &operations {
            // Judged before and after: an added board is known only then, a removed one only before.
            touched.append(&mut boards_touched(&workspace.snapshot, &operation.changes));
            touched.append(&mut boards_touched(&state, &operation.changes));
            workspace.summaries.insert(operation.revision, operation.summary.clone());
        }
        while workspace.summaries.len() > MAX_HISTORY {
            workspace.summaries.pop_first();
        }
        workspace.snapshot = state;
        workspace.history = history;
        workspace.write_sources_of(&operations);
        workspace.write_overrides_of(&operations);
        workspace.components_follow(&operations);
        if workspace.bundles != bundles {
            workspace.bundles = bundles;
            workspace.notice_bundles();
        }
        workspace.links_follow(&operations);
        workspace
            .mark_unsaved(touched, operations.iter().any(|operation| operation.kind != OperationKind::Edit));
        workspace.compact();
        Ok(operations.into_iter().map(patch).collect())
    }
}

pub(super) fn patch(operation: Operation) -> Patch {
    let Operation { revision, actor, summary, changes, .. } = operation;
    Patch { revision, actor, summary, changes }
}

/// What was done, without how often it was taken back and done again.
pub(super) fn plain(summary: &str) -> &str {
    summary.strip_prefix("Undo: ").or_else(|| summary.strip_prefix("Redo: ")).unwrap_or(summary)
}

fn nothing(what: &str) -> Refusal {
    Refusal::new(Code::NotFound, format!("there is nothing to {what}"))
}
