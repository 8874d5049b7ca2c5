//! The router: sends each request of a window or a terminal to the part that owns it, on the thread of the connection and
//! without a lock.
//!
//! ```text
//!                    ┌─▶ writer           content, review, files, opening workspaces
//! window ──┐         ├─▶ agents           mode, port, token, clients
//!          ├▶ Router ┼─▶ Terraform        files, cost, runs, plans
//! terminal ┘         ├─▶ previews         sessions
//!                    ├─▶ managed servers  start, stop, restart, import, calls
//!                    └─▶ process          quit, recent workspaces, templates, problem report
//! ```
//!
//! Owns: that every request has exactly one owner, in one total match. Must not know: how a connection encodes a response.

use crate::{
    background,
    responses::ResponseChannel,
    upstreams,
    writer::{ProcessHandle, Services, WriterHandle, terraform_answer},
};
use shared_protocol::{
    Actor, ActorKind, GraphDocument,
    messages::{WorkbenchRequest, WorkbenchResponse},
    preview_sessions::PreviewResponse,
    requests::{
        AskBundles, ChangeLinks, ExportBoard, ExportedFile, ListLinks, ListOverrides, ListProblems,
        ReadAudit, ReadAuditPage, ReadDocument, ReadLog, ReadOperations, ReadPatches, ResolveBoard,
        SaveFiles, SavedFiles,
    },
    trace_link::TraceLinkRequest,
};
use std::path::Path;
use workspace::{Mutation, template_boards};

#[derive(Clone)]
pub(crate) struct Router {
    pub(crate) writer: WriterHandle,
    pub(crate) services: Services,
    pub(crate) process: ProcessHandle,
}

impl Router {
    /// Sends a request to its owner. The response goes to `channel`, once.
    pub(crate) fn route(&self, request: WorkbenchRequest, actor: Actor, channel: impl ResponseChannel) {
        let Self { writer, services, process } = self;
        let is_window = actor.kind == ActorKind::Window;
        match request {
            WorkbenchRequest::Run(command) => {
                writer.mutate(
                    Mutation::Run(Box::new(command)),
                    actor,
                    channel.typed(WorkbenchResponse::Applied),
                );
            }
            WorkbenchRequest::Undo => {
                writer.mutate(Mutation::Undo, actor, channel.typed(WorkbenchResponse::Applied))
            }
            WorkbenchRequest::Redo => {
                writer.mutate(Mutation::Redo, actor, channel.typed(WorkbenchResponse::Applied))
            }
            WorkbenchRequest::Revert { revision, partial } => {
                let mutation = Mutation::Revert { revision, partial };
                writer.mutate(mutation, actor, channel.typed(WorkbenchResponse::Applied));
            }
            WorkbenchRequest::Save => {
                let shell = |SavedFiles { revision, files }| WorkbenchResponse::Saved { revision, files };
                writer.request(SaveFiles {}, actor, channel.typed(shell));
            }
            WorkbenchRequest::Resolve { board, keep } => {
                writer.request(
                    ResolveBoard { board, keep },
                    actor,
                    channel.typed(WorkbenchResponse::Applied),
                );
            }
            WorkbenchRequest::Log { limit } => {
                writer.request(ReadLog { limit }, actor, channel.typed(WorkbenchResponse::Log))
            }
            WorkbenchRequest::Operations(revisions) => {
                writer.request(ReadOperations { revisions }, actor, channel.typed(WorkbenchResponse::Log));
            }
            WorkbenchRequest::ChangesSince(since) => {
                writer.request(ReadPatches { since }, actor, channel.typed(WorkbenchResponse::Changes));
            }
            WorkbenchRequest::Problems => {
                writer.request(ListProblems {}, actor, channel.typed(WorkbenchResponse::Problems))
            }
            WorkbenchRequest::Document => {
                let shell = |document: GraphDocument| WorkbenchResponse::Document(Box::new(document));
                writer.request(ReadDocument {}, actor, channel.typed(shell));
            }
            WorkbenchRequest::Overrides => {
                writer.request(ListOverrides {}, actor, channel.typed(WorkbenchResponse::Overrides))
            }
            WorkbenchRequest::Instance => {
                writer.describe_instance(channel.typed(WorkbenchResponse::Instance))
            }
            WorkbenchRequest::Export { board, path } => {
                writer.export(ExportBoard { board, path }, channel.typed(exported_response));
            }
            WorkbenchRequest::Bundle(request) => {
                writer.request(AskBundles { request }, actor, channel.typed(answer))
            }
            WorkbenchRequest::Link(TraceLinkRequest::List) => {
                writer.request(
                    ListLinks {},
                    actor,
                    channel.typed(|view| WorkbenchResponse::Links(Box::new(view))),
                );
            }
            WorkbenchRequest::Link(change) => {
                writer.request(ChangeLinks { change }, actor, channel.typed(WorkbenchResponse::Applied));
            }
            WorkbenchRequest::Audit { after, limit } => {
                writer.request(ReadAudit { after, limit }, actor, channel.typed(WorkbenchResponse::Audit));
            }
            WorkbenchRequest::AuditView { before, limit } => {
                let shell = |view| WorkbenchResponse::AuditView(Box::new(view));
                writer.read_audit_page(ReadAuditPage { before, limit }, actor, channel.typed(shell));
            }
            WorkbenchRequest::AuditExport { path } => {
                writer.export_audit(path, actor, channel.typed(exported_response))
            }
            WorkbenchRequest::Open(path) => {
                writer.open(path, is_window, channel.typed(WorkbenchResponse::from))
            }
            WorkbenchRequest::New { path, template } => {
                writer.create(path, template, is_window, channel.typed(WorkbenchResponse::from));
            }
            WorkbenchRequest::OpenExample => writer.open_example(channel.typed(|()| WorkbenchResponse::Done)),
            WorkbenchRequest::StartDemo => {
                writer.start_demo(channel.typed(|tour| WorkbenchResponse::Demo { tour }))
            }
            WorkbenchRequest::ImportFolder(folder) => {
                writer.import_folder(folder, actor, channel.typed(WorkbenchResponse::Terraform));
            }
            WorkbenchRequest::Raise => writer.raise_window(channel.typed(|()| WorkbenchResponse::Done)),
            WorkbenchRequest::Mcp(request) => services.agents.request(request, channel.typed(answer)),
            WorkbenchRequest::Terraform(request) => {
                services.terraform.request(request, actor, channel.typed(answer).map(terraform_answer));
            }
            WorkbenchRequest::Preview(request) => {
                services.previews.request(request, channel.typed(answer).map(preview_answer))
            }
            WorkbenchRequest::Upstream(request) => {
                let way = if is_window { "window" } else { "terminal" };
                let by = upstreams::RequestOrigin { name: actor.name, channel: way };
                services.upstreams.request(
                    request,
                    by,
                    channel.typed(answer).map(WorkbenchResponse::Upstream),
                );
            }
            WorkbenchRequest::Recents => process.list_recents(channel.typed(WorkbenchResponse::Recents)),
            WorkbenchRequest::ForgetRecent(path) => {
                process.forget_recent(Path::new(&path), channel.typed(WorkbenchResponse::Recents));
            }
            WorkbenchRequest::CloseTour => {
                channel.typed(|()| WorkbenchResponse::Done).send(process.close_tour())
            }
            WorkbenchRequest::Templates => {
                channel.typed(WorkbenchResponse::Templates).send(Ok(template_boards()))
            }
            WorkbenchRequest::ProblemReport => {
                background::spawn(
                    "problem-report",
                    channel.typed(WorkbenchResponse::ProblemReport),
                    |responder| {
                        responder.send(Ok(crash_reports::problem_report()));
                    },
                );
            }
            WorkbenchRequest::Quit => {
                process.quit();
                channel.typed(|()| WorkbenchResponse::Done).send(Ok(()));
            }
        }
    }
}

/// The response of a service, which is an [`Answer`] already.
fn answer(answer: WorkbenchResponse) -> WorkbenchResponse {
    answer
}

fn preview_answer(answer: PreviewResponse) -> WorkbenchResponse {
    match answer {
        PreviewResponse::Done => WorkbenchResponse::Done,
        PreviewResponse::Saved { path, bytes } => WorkbenchResponse::Exported { path, bytes },
        other => WorkbenchResponse::Preview(other),
    }
}

fn exported_response(ExportedFile { path, bytes }: ExportedFile) -> WorkbenchResponse {
    WorkbenchResponse::Exported { path, bytes }
}
