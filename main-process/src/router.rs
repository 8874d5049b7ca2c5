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
    host::{ProcessHandle, Services, WriterHandle, terraform_answer},
    responses::ResponseChannel,
    upstreams,
};
use shared_protocol::{
    Actor, ActorKind, Document,
    link::LinkRequest,
    messages::{Answer, Request},
    previews::PreviewAnswer,
    requests::{
        AskBundles, ChangeLinks, ExportBoard, ExportedFile, ListLinks, ListOverrides, ListProblems,
        ReadAudit, ReadAuditPage, ReadDocument, ReadLog, ReadOperations, ReadPatches, ResolveBoard,
        SaveFiles, SavedFiles,
    },
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
    pub(crate) fn route(&self, request: Request, actor: Actor, channel: impl ResponseChannel) {
        let Self { writer, services, process } = self;
        let is_window = actor.kind == ActorKind::Window;
        match request {
            Request::Run(command) => {
                writer.mutate(Mutation::Run(Box::new(command)), actor, channel.typed(Answer::Applied));
            }
            Request::Undo => writer.mutate(Mutation::Undo, actor, channel.typed(Answer::Applied)),
            Request::Redo => writer.mutate(Mutation::Redo, actor, channel.typed(Answer::Applied)),
            Request::Revert { revision, partial } => {
                let mutation = Mutation::Revert { revision, partial };
                writer.mutate(mutation, actor, channel.typed(Answer::Applied));
            }
            Request::Save => {
                let shell = |SavedFiles { revision, files }| Answer::Saved { revision, files };
                writer.request(SaveFiles {}, actor, channel.typed(shell));
            }
            Request::Resolve { board, keep } => {
                writer.request(ResolveBoard { board, keep }, actor, channel.typed(Answer::Applied));
            }
            Request::Log { limit } => writer.request(ReadLog { limit }, actor, channel.typed(Answer::Log)),
            Request::Operations(revisions) => {
                writer.request(ReadOperations { revisions }, actor, channel.typed(Answer::Log));
            }
            Request::ChangesSince(since) => {
                writer.request(ReadPatches { since }, actor, channel.typed(Answer::Changes));
            }
            Request::Problems => writer.request(ListProblems {}, actor, channel.typed(Answer::Problems)),
            Request::Document => {
                let shell = |document: Document| Answer::Document(Box::new(document));
                writer.request(ReadDocument {}, actor, channel.typed(shell));
            }
            Request::Overrides => writer.request(ListOverrides {}, actor, channel.typed(Answer::Overrides)),
            Request::Instance => writer.describe_instance(channel.typed(Answer::Instance)),
            Request::Export { board, path } => {
                writer.export(ExportBoard { board, path }, channel.typed(exported));
            }
            Request::Bundle(request) => writer.request(AskBundles { request }, actor, channel.typed(answer)),
            Request::Link(LinkRequest::List) => {
                writer.request(ListLinks {}, actor, channel.typed(|view| Answer::Links(Box::new(view))));
            }
            Request::Link(change) => {
                writer.request(ChangeLinks { change }, actor, channel.typed(Answer::Applied));
            }
            Request::Audit { after, limit } => {
                writer.request(ReadAudit { after, limit }, actor, channel.typed(Answer::Audit));
            }
            Request::AuditView { before, limit } => {
                let shell = |view| Answer::AuditView(Box::new(view));
                writer.read_audit_page(ReadAuditPage { before, limit }, actor, channel.typed(shell));
            }
            Request::AuditExport { path } => writer.export_audit(path, actor, channel.typed(exported)),
            Request::Open(path) => writer.open(path, is_window, channel.typed(Answer::from)),
            Request::New { path, template } => {
                writer.create(path, template, is_window, channel.typed(Answer::from));
            }
            Request::OpenExample => writer.open_example(channel.typed(|()| Answer::Done)),
            Request::StartDemo => writer.start_demo(channel.typed(|tour| Answer::Demo { tour })),
            Request::ImportFolder(folder) => {
                writer.import_folder(folder, actor, channel.typed(Answer::Terraform));
            }
            Request::Raise => writer.raise_window(channel.typed(|()| Answer::Done)),
            Request::Mcp(request) => services.agents.request(request, channel.typed(answer)),
            Request::Terraform(request) => {
                services.terraform.request(request, actor, channel.typed(answer).map(terraform_answer));
            }
            Request::Preview(request) => {
                services.previews.request(request, channel.typed(answer).map(preview_answer))
            }
            Request::Upstream(request) => {
                let way = if is_window { "window" } else { "terminal" };
                let by = upstreams::By { name: actor.name, way };
                services.upstreams.request(request, by, channel.typed(answer).map(Answer::Upstream));
            }
            Request::Recents => process.list_recents(channel.typed(Answer::Recents)),
            Request::ForgetRecent(path) => {
                process.forget_recent(Path::new(&path), channel.typed(Answer::Recents));
            }
            Request::CloseTour => channel.typed(|()| Answer::Done).send(process.close_tour()),
            Request::Templates => channel.typed(Answer::Templates).send(Ok(template_boards())),
            Request::ProblemReport => {
                background::spawn("problem-report", channel.typed(Answer::ProblemReport), |responder| {
                    responder.send(Ok(crash_reports::problem_report()));
                });
            }
            Request::Quit => {
                process.quit();
                channel.typed(|()| Answer::Done).send(Ok(()));
            }
        }
    }
}

/// The response of a service, which is an [`Answer`] already.
fn answer(answer: Answer) -> Answer {
    answer
}

fn preview_answer(answer: PreviewAnswer) -> Answer {
    match answer {
        PreviewAnswer::Done => Answer::Done,
        PreviewAnswer::Saved { path, bytes } => Answer::Exported { path, bytes },
        other => Answer::Preview(other),
    }
}

fn exported(ExportedFile { path, bytes }: ExportedFile) -> Answer {
    Answer::Exported { path, bytes }
}
