//! The router: sends each request of a window or a terminal to the part that owns it, on the thread of the connection and
//! without a lock.
//!
//! ```text
//!                            ┌─▶ writer           content, review, files, opening workspaces
//! window ───┐                ├─▶ agents           mode, port, token, clients
//!           ├▶ RequestRouter ┼─▶ Terraform        files, cost, runs, plans
//! terminal ─┘                ├─▶ previews         sessions
//!                            ├─▶ managed servers  start, stop, restart, import, calls
//!                            └─▶ process          quit, recent workspaces, templates, problem report
//! ```
//!
//! Owns: that every request has exactly one owner, in one total match. Must not know: how a connection encodes a response.

use crate::{
    background,
    writer::{ProcessHandle, Services, WriterHandle},
};
use managed_servers::RequestOrigin;
use shared_protocol::{
    Actor, ActorKind,
    request::ResponseChannel,
    requests::{RevertOperation, RunCommand, WorkbenchRequest},
};
use std::path::Path;
use workspace::{Mutation, template_boards};

#[derive(Clone)]
pub(crate) struct RequestRouter {
    pub(crate) writer: WriterHandle,
    pub(crate) services: Services,
    pub(crate) process: ProcessHandle,
}

impl RequestRouter {
    /// Sends a request to its owner. The response goes to `channel`, once.
    pub(crate) fn route(&self, request: WorkbenchRequest, actor: Actor, channel: impl ResponseChannel) {
        use WorkbenchRequest as R;
        let Self { writer, services, process } = self;
        let Services { agents, terraform, previews, managed_servers } = services;
        let is_window = actor.kind == ActorKind::Window;
        let by = || {
            let way = if is_window { "window" } else { "terminal" };
            RequestOrigin { name: actor.name.clone(), channel: way }
        };
        match request {
            R::RunCommand(RunCommand { command }) => {
                writer.mutate(Mutation::Run(Box::new(command)), actor, channel.typed());
            }
            R::UndoLast(_) => writer.mutate(Mutation::Undo, actor, channel.typed()),
            R::RedoLast(_) => writer.mutate(Mutation::Redo, actor, channel.typed()),
            R::RevertOperation(RevertOperation { revision, partial }) => {
                writer.mutate(Mutation::Revert { revision, partial }, actor, channel.typed());
            }
            R::SaveFiles(request) => writer.request(request, actor, channel.typed()),
            R::ResolveBoard(request) => writer.request(request, actor, channel.typed()),
            R::ReadLog(request) => writer.request(request, actor, channel.typed()),
            R::ReadOperations(request) => writer.request(request, actor, channel.typed()),
            R::ReadPatches(request) => writer.request(request, actor, channel.typed()),
            R::ListProblems(request) => writer.request(request, actor, channel.typed()),
            R::ReadDocument(request) => writer.request(request, actor, channel.typed()),
            R::ListOverrides(request) => writer.request(request, actor, channel.typed()),
            R::ListLinks(request) => writer.request(request, actor, channel.typed()),
            R::ChangeLinks(request) => writer.request(request, actor, channel.typed()),
            R::ReadAudit(request) => writer.request(request, actor, channel.typed()),
            R::ReadAuditPage(request) => writer.read_audit_page(request, actor, channel.typed()),
            R::VerifyAudit(_) => writer.verify_audit(channel.typed()),
            R::ExportAudit(request) => writer.export_audit(request.path, actor, channel.typed()),
            R::ExportBoard(request) => writer.export(request, channel.typed()),
            R::DescribeInstance(_) => writer.describe_instance(channel.typed()),
            R::ListEntities(request) => writer.request(request, actor, channel.typed()),
            R::ShowEntity(request) => writer.request(request, actor, channel.typed()),
            R::ReadSchema(request) => writer.request(request, actor, channel.typed()),
            R::SearchEntities(request) => writer.request(request, actor, channel.typed()),
            R::ListDiagnostics(request) => writer.request(request, actor, channel.typed()),
            R::MeasureCoverage(request) => writer.request(request, actor, channel.typed()),
            R::ReadKnowledge(request) => writer.request(request, actor, channel.typed()),
            R::CheckBundle(request) => writer.request(request, actor, channel.typed()),
            R::ChangeBundle(request) => writer.request(request, actor, channel.typed()),
            R::DrawMap(request) => writer.request(request, actor, channel.typed()),

            R::OpenWorkspace(request) => writer.open(request.path, is_window, channel.typed()),
            R::CreateWorkspace(request) => writer.create(request, is_window, channel.typed()),
            R::OpenExample(_) => writer.open_example(channel.typed()),
            R::StartDemo(_) => writer.start_demo(channel.typed()),
            R::ImportFolder(request) => writer.import_folder(request.path, actor, channel.typed()),
            R::RaiseWindow(_) => writer.raise_window(channel.typed()),
            R::ListRecents(_) => process.list_recents(channel.typed()),
            R::ForgetRecent(request) => process.forget_recent(Path::new(&request.path), channel.typed()),
            R::CloseTour(_) => channel.typed().send(process.close_tour()),
            R::ListTemplates(_) => channel.typed().send(Ok(template_boards())),
            R::ReportProblem(_) => background::spawn("problem-report", channel.typed(), |responder| {
                responder.send(Ok(crash_reports::problem_report()));
            }),
            R::Quit(_) => {
                process.quit();
                channel.typed().send(Ok(()));
            }

            R::ViewAgents(request) => agents.request(request, channel.typed()),
            R::SetAgentMode(request) => agents.request(request, channel.typed()),
            R::SetAgentPort(request) => agents.request(request, channel.typed()),
            R::RestartAgents(request) => agents.request(request, channel.typed()),
            R::RotateToken(request) => agents.request(request, channel.typed()),
            R::PauseClient(request) => agents.request(request, channel.typed()),
            R::ResumeClient(request) => agents.request(request, channel.typed()),
            R::DisconnectClient(request) => agents.request(request, channel.typed()),
            R::TestConnection(request) => agents.request(request, channel.typed()),
            R::ReadClientConfig(request) => agents.request(request, channel.typed()),

            R::GenerateHcl(request) => terraform.request(request, actor, channel.typed()),
            R::WriteHcl(request) => terraform.request(request, actor, channel.typed()),
            R::EstimateCost(request) => terraform.request(request, actor, channel.typed()),
            R::ListMissingPrices(request) => terraform.request(request, actor, channel.typed()),
            R::StartRun(request) => terraform.request(request, actor, channel.typed()),
            R::CancelRun(request) => terraform.request(request, actor, channel.typed()),
            R::ListRuns(request) => terraform.request(request, actor, channel.typed()),
            R::ReadRunLines(request) => terraform.request(request, actor, channel.typed()),
            R::ReadPlan(request) => terraform.request(request, actor, channel.typed()),
            R::ImportBoard(request) => terraform.request(request, actor, channel.typed()),

            R::ListPreviews(request) => previews.request(request, channel.typed()),
            R::StartPreview(request) => previews.request(request, channel.typed()),
            R::StopPreview(request) => previews.request(request, channel.typed()),
            R::RestartPreview(request) => previews.request(request, channel.typed()),
            R::ClosePreview(request) => previews.request(request, channel.typed()),
            R::NavigatePreview(request) => previews.request(request, channel.typed()),
            R::SetPreviewScreen(request) => previews.request(request, channel.typed()),
            R::SetPreviewMode(request) => previews.request(request, channel.typed()),
            R::SelectInstance(request) => previews.request(request, channel.typed()),
            R::ReadPreviewLog(request) => previews.request(request, channel.typed()),
            R::CapturePreview(request) => previews.request(request, channel.typed()),

            R::ListServers(request) => managed_servers.request(request, by(), channel.typed()),
            R::ShowServer(request) => managed_servers.request(request, by(), channel.typed()),
            R::StartServer(request) => managed_servers.request(request, by(), channel.typed()),
            R::StopServer(request) => managed_servers.request(request, by(), channel.typed()),
            R::RestartServer(request) => managed_servers.request(request, by(), channel.typed()),
            R::DisableServer(request) => managed_servers.request(request, by(), channel.typed()),
            R::AddServer(request) => managed_servers.request(request, by(), channel.typed()),
            R::WithdrawTool(request) => managed_servers.request(request, by(), channel.typed()),
            R::ReadServerLog(request) => managed_servers.request(request, by(), channel.typed()),
            R::ListImportSources(request) => managed_servers.request(request, by(), channel.typed()),
            R::PreviewServerImport(request) => managed_servers.request(request, by(), channel.typed()),
            R::ImportServers(request) => managed_servers.request(request, by(), channel.typed()),
            R::SearchServerRegistry(request) => managed_servers.request(request, by(), channel.typed()),
            R::CallServerTool(request) => managed_servers.request(request, by(), channel.typed()),
            R::ReloadManifests(request) => managed_servers.request(request, by(), channel.typed()),
        }
    }
}
