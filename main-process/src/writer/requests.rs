//! Requests that concern the workspace alone. The writer handles them for the window and for terminals; without a running
//! Draftboard the command line handles them itself.

use shared_protocol::{
    Actor, Override, OverrideKey, Refusal,
    messages::{AppliedCommand, OperationLogEntry, Patch, WorkbenchInstanceView, WorkspaceProblem},
    request::Request,
    requests::{
        ChangeBundle, ChangeLinks, CheckBundle, DescribeInstance, DrawMap, ExportBoard, ExportedFile,
        ListDiagnostics, ListEntities, ListLinks, ListOverrides, ListProblems, MeasureCoverage, ReadAudit,
        ReadDocument, ReadKnowledge, ReadLog, ReadOperations, ReadPatches, ReadSchema, RedoLast,
        ResolveBoard, RevertOperation, RunCommand, SaveFiles, SavedFiles, SearchEntities, ShowEntity,
        UndoLast,
    },
    review::AuditLine,
    trace_link::TraceLinksView,
};
use std::{path::Path, sync::Arc};
use workspace::{Mutation, TimeAndSeed, Workspace};

/// The workspace for the time of one request, and the patches that the request made.
pub(crate) struct WorkspaceTurn<'a> {
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) actor: &'a Actor,
    pub(crate) moment: TimeAndSeed,
    pub(crate) patches: Vec<Patch>,
}

impl WorkspaceTurn<'_> {
    fn publish_patches<T>(&mut self, (made, patches): (T, Vec<Patch>)) -> T {
        self.patches = patches;
        made
    }

    fn execute(&mut self, mutation: &Mutation) -> Result<AppliedCommand, Refusal> {
        let executed = self.workspace.execute(mutation, self.actor, self.moment)?;
        Ok(self.publish_patches(executed))
    }
}

/// A request that one workspace handles.
pub(crate) trait WorkspaceRequest: Request {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal>;
}

impl WorkspaceRequest for RunCommand {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<AppliedCommand, Refusal> {
        turn.execute(&Mutation::Run(Box::new(self.command)))
    }
}

impl WorkspaceRequest for UndoLast {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<AppliedCommand, Refusal> {
        turn.execute(&Mutation::Undo)
    }
}

impl WorkspaceRequest for RedoLast {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<AppliedCommand, Refusal> {
        turn.execute(&Mutation::Redo)
    }
}

impl WorkspaceRequest for RevertOperation {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<AppliedCommand, Refusal> {
        turn.execute(&Mutation::Revert { revision: self.revision, partial: self.partial })
    }
}

impl WorkspaceRequest for SaveFiles {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<SavedFiles, Refusal> {
        turn.workspace.save().map(|(revision, files)| SavedFiles { revision, files })
    }
}

impl WorkspaceRequest for ResolveBoard {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<AppliedCommand, Refusal> {
        let resolved = turn.workspace.resolve(self.board, self.keep, turn.moment)?;
        Ok(turn.publish_patches(resolved))
    }
}

impl WorkspaceRequest for ListLinks {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<TraceLinksView, Refusal> {
        Ok(turn.workspace.links().as_ref().clone())
    }
}

impl WorkspaceRequest for ChangeLinks {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<AppliedCommand, Refusal> {
        let changed = turn.workspace.change_links(&self.change, turn.actor, turn.moment)?;
        Ok(turn.publish_patches(changed))
    }
}

impl WorkspaceRequest for ListEntities {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        turn.workspace.bundles().list_entities(&self.bundle)
    }
}

impl WorkspaceRequest for ShowEntity {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        turn.workspace.bundles().show_entity(&self.entity)
    }
}

impl WorkspaceRequest for ReadSchema {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        turn.workspace.bundles().read_schema(&self.bundle, &self.entity_type)
    }
}

impl WorkspaceRequest for SearchEntities {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        turn.workspace.bundles().search(self.bundle.as_deref(), &self.query, self.limit)
    }
}

impl WorkspaceRequest for ListDiagnostics {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        turn.workspace.bundles().list_diagnostics(&self.bundle)
    }
}

impl WorkspaceRequest for MeasureCoverage {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        turn.workspace.bundles().measure_coverage(&self.bundle)
    }
}

impl WorkspaceRequest for ReadKnowledge {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        turn.workspace.bundles().read_knowledge(&self.bundle)
    }
}

impl WorkspaceRequest for CheckBundle {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        turn.workspace.bundles().check(&self.bundle, &self.changes)
    }
}

impl WorkspaceRequest for ChangeBundle {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<AppliedCommand, Refusal> {
        let changed = turn.workspace.change_bundle(&self, turn.actor, turn.moment)?;
        Ok(turn.publish_patches(changed))
    }
}

impl WorkspaceRequest for DrawMap {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        let drawn = turn.workspace.draw_map(&self, turn.actor, turn.moment)?;
        Ok(turn.publish_patches(drawn))
    }
}

impl WorkspaceRequest for ReadLog {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Vec<OperationLogEntry>, Refusal> {
        turn.workspace.log(self.limit as usize)
    }
}

impl WorkspaceRequest for ReadOperations {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Vec<OperationLogEntry>, Refusal> {
        turn.workspace.operations(&self.revisions)
    }
}

impl WorkspaceRequest for ReadPatches {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Option<Vec<Patch>>, Refusal> {
        turn.workspace.changes_since(self.since)
    }
}

impl WorkspaceRequest for ListProblems {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Vec<WorkspaceProblem>, Refusal> {
        Ok(turn.workspace.validate())
    }
}

impl WorkspaceRequest for ReadDocument {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        Ok(turn.workspace.snapshot().to_document())
    }
}

impl WorkspaceRequest for ListOverrides {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Self::Response, Refusal> {
        let state = turn.workspace.snapshot();
        let standing = |(key, over): (&OverrideKey, &Arc<Override>)| {
            (key.clone(), Override::clone(over), state.resolve_override(key, over))
        };
        Ok(state.overrides().map(standing).collect())
    }
}

impl WorkspaceRequest for DescribeInstance {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<WorkbenchInstanceView, Refusal> {
        Ok(describe_closed(turn.workspace))
    }
}

impl WorkspaceRequest for ReadAudit {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<Vec<AuditLine>, Refusal> {
        turn.workspace.audit(self.after, self.limit)
    }
}

impl WorkspaceRequest for ExportBoard {
    fn handle(self, turn: &mut WorkspaceTurn<'_>) -> Result<ExportedFile, Refusal> {
        let bytes = board_export::export(turn.workspace.snapshot(), self.board, Path::new(&self.path))?;
        Ok(ExportedFile { path: self.path, bytes })
    }
}

/// Describes a workspace that no Draftboard has open.
pub(super) fn describe_closed(workspace: &Workspace) -> WorkbenchInstanceView {
    let snapshot = workspace.snapshot();
    WorkbenchInstanceView {
        pid: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace: workspace.root().display().to_string(),
        revision: snapshot.revision(),
        saved: workspace.saved_revision(),
        window: false,
        boards: snapshot.boards().count() as u64,
        nodes: snapshot.node_count() as u64,
        edges: snapshot.edge_count() as u64,
        held: workspace.held_boards(),
        notices: workspace.status().notices,
        on_screen: None,
    }
}
