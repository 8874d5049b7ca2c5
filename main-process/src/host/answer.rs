//! Answering a request on a workspace. The writer does this for the window and for terminals; without a running Draftboard
//! the command line does it itself.

use shared_protocol::{
    Actor, BoardId, Code, Override, OverrideKey, Refusal,
    link::LinkRequest,
    messages::{Answer, InstanceView, Patch, Request},
};
use std::{path::Path, sync::Arc};
use workspace::{Moment, Mutation, Workspace};

/// What a request did.
pub(crate) struct Asked {
    pub(crate) result: Result<Answer, Refusal>,
    pub(crate) patches: Vec<Patch>,
}

/// The mutation that a request asks for, if it does.
pub(super) fn mutation(request: &Request) -> Option<Mutation> {
    match request {
        Request::Run(command) => Some(Mutation::Run(Box::new(command.clone()))),
        Request::Undo => Some(Mutation::Undo),
        Request::Redo => Some(Mutation::Redo),
        Request::Revert { revision, partial } => {
            Some(Mutation::Revert { revision: *revision, partial: *partial })
        }
        _ => None,
    }
}

/// Carries out a request that concerns the workspace alone.
pub(crate) fn ask(workspace: &mut Workspace, request: &Request, actor: &Actor, moment: Moment) -> Asked {
    let mut patches = Vec::new();
    let result = match request {
        Request::Run(_) | Request::Undo | Request::Redo | Request::Revert { .. } => mutation(request)
            .ok_or_else(|| Refusal::new(Code::Internal, "a mutation that is none"))
            .and_then(|mutation| workspace.execute(&mutation, actor, moment))
            .map(|(applied, made)| {
                patches = made;
                Answer::Applied(applied)
            }),
        Request::Save => workspace.save().map(|(revision, files)| Answer::Saved { revision, files }),
        Request::Resolve { board, keep } => {
            workspace.resolve(*board, *keep, moment).map(|(applied, made)| {
                patches = made;
                Answer::Applied(applied)
            })
        }
        Request::Link(LinkRequest::List) => Ok(Answer::Links(Box::new(workspace.links().as_ref().clone()))),
        Request::Link(request) => workspace.change_links(request, actor, moment).map(|(applied, made)| {
            patches = made;
            Answer::Applied(applied)
        }),
        Request::Log { limit } => workspace.log(*limit as usize).map(Answer::Log),
        Request::Operations(revisions) => workspace.operations(revisions).map(Answer::Log),
        Request::ChangesSince(revision) => workspace.changes_since(*revision).map(Answer::Changes),
        Request::Bundle(request) => workspace.ask_bundles(request, actor, moment).map(|(answer, made)| {
            patches = made;
            answer
        }),
        Request::Problems => Ok(Answer::Problems(workspace.validate())),
        Request::Overrides => {
            let state = workspace.snapshot();
            let standing = |(key, over): (&OverrideKey, &Arc<Override>)| {
                (key.clone(), Override::clone(over), state.standing(key, over))
            };
            Ok(Answer::Overrides(state.overrides().map(standing).collect()))
        }
        Request::Document => Ok(Answer::Document(Box::new(workspace.snapshot().to_document()))),
        Request::Instance => Ok(Answer::Instance(at_rest(workspace))),
        Request::Audit { after, limit } => workspace.audit(*after, *limit).map(Answer::Audit),
        Request::Export { board, path } => export(workspace, *board, path),
        Request::ProblemReport => Ok(Answer::ProblemReport(crash_reports::problem_report())),
        Request::Open(_)
        | Request::New { .. }
        | Request::OpenExample
        | Request::StartDemo
        | Request::CloseTour
        | Request::ImportFolder(_)
        | Request::Templates
        | Request::Recents
        | Request::ForgetRecent(_)
        | Request::Mcp(_)
        | Request::Terraform(_)
        | Request::Preview(_)
        | Request::Upstream(_)
        | Request::AuditView { .. }
        | Request::AuditExport { .. }
        | Request::Raise
        | Request::Quit => Err(Refusal::new(Code::BadRequest, "no Draftboard is running that could do this")),
    };
    Asked { result, patches }
}

/// A workspace as it is when no Draftboard runs on it.
pub(super) fn at_rest(workspace: &Workspace) -> InstanceView {
    let snapshot = workspace.snapshot();
    InstanceView {
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

fn export(workspace: &Workspace, board: BoardId, path: &str) -> Result<Answer, Refusal> {
    let bytes = crate::export::export(workspace.snapshot(), board, Path::new(path))?;
    Ok(Answer::Exported { path: path.to_owned(), bytes })
}
