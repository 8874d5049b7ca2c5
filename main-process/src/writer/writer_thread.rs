//! The writer's thread. Messages that wait together are decided together and share one write to the disk.

mod audit;
mod consequences;
mod opening;
mod overlay;
mod page_pictures;
mod reviewing;

pub(super) use overlay::{ProposalComparison, ProposalOverlayInput};
pub(super) use reviewing::request_plan_of;

use super::{
    LaunchTarget, ProcessHandle, ServeTerminals, Services, Session, WriterHandle, WriterMsg, WriterRequest,
    announcer::ProposalAnnouncer,
    codes::ConfirmationCodes,
    launching::WelcomeState,
    notify::DesktopNotifier,
    publisher::{CommittedChanges, Publisher},
    requests::{WorkspaceRequest, WorkspaceTurn, describe_closed},
    subscriber::Subscriber,
};
use crate::local_user::user_name;
use agents::AgentServerAddress;
use authority::proposals::{AgentCallOutcome, AgentRequest, CallingClient};
use crash_reports::CrashStore;
use crossbeam_channel::{Receiver, RecvTimeoutError, TrySendError};
use journal::FileChange;
use mcp_server::{AgentReplyFn, ReviewSubmitter};
use processes::GuardedProgram;
use shared_protocol::{
    Actor, ElementId, NodeId, Refusal,
    messages::{AppliedCommand, Presence, ToRenderer, WorkbenchInstanceView},
    request::Responder,
    review::AuditEvent,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use user_folders as paths;
use workspace::time_and_seed;
use workspace::{FileChangeOutcome, Mutation, Workspace};

/// Messages taken at once.
const MAX_GROUP: usize = 256;
/// A line of the audit waits this long for others.
const NOTES_WAIT: Duration = Duration::from_millis(5);
/// A deleted journal or lock is detected within this time while nothing changes.
const CHECK_STORAGE_EVERY: Duration = Duration::from_secs(2);
/// A renderer that fell behind is checked this often.
const CATCH_UP_EVERY: Duration = Duration::from_millis(50);

pub(super) struct Writer {
    session: Session,
    handle: WriterHandle,
    process: ProcessHandle,
    publisher: Publisher,
    services: Services,
    terminals: ServeTerminals,
    /// The welcome page that the first window shows over the workspace.
    welcome: Option<WelcomeState>,
    /// The scripted agent, while the demo is open.
    demo: Option<GuardedProgram>,
    /// The address where agents connect; the record of each workspace holds it.
    address: Option<AgentServerAddress>,
    codes: ConfirmationCodes,
    notifier: DesktopNotifier,
    storage_checked: Instant,
    /// `None` with a window, which shows the review queue itself.
    announcer: Option<ProposalAnnouncer>,
    /// The changes of this turn, not published yet.
    committed: CommittedChanges,
    /// The responses of this turn, to be sent after it is published.
    responses: Vec<Box<dyn FnOnce() + Send>>,
}

/// A member of the next group.
enum MutationGroupMember {
    Mutation {
        mutation: Mutation,
        actor: Actor,
        responder: Responder<AppliedCommand>,
    },
    AgentRequest {
        client: Box<CallingClient>,
        request: Box<AgentRequest>,
        reply: AgentReplyFn,
    },
    /// Two for each call of a tool: one write to the disk covers many of them.
    AuditLine {
        event: AuditEvent,
        by: managed_servers::RequestOrigin,
        reason: String,
    },
}

/// The result of a member of the group, which counts when the group is durable.
enum MutationGroupResult {
    Mutation(Responder<AppliedCommand>, Result<AppliedCommand, Refusal>),
    AgentRequest(AgentReplyFn, Box<Result<AgentCallOutcome, Refusal>>),
    AuditLine,
}

impl ReviewSubmitter for WriterHandle {
    /// Submits an agent's request, which joins the next group, and does not wait; a full channel refuses it.
    fn submit(&self, client: CallingClient, request: AgentRequest, reply: AgentReplyFn) {
        match self.messages.try_send(WriterMsg::Submit { client, request, reply }) {
            Ok(()) => {}
            Err(TrySendError::Full(message)) => message.refuse(super::too_many()),
            Err(TrySendError::Disconnected(message)) => message.refuse(super::closing()),
        }
    }
}

impl Writer {
    pub(super) fn new(
        launch: LaunchTarget,
        handle: WriterHandle,
        process: ProcessHandle,
        services: Services,
        terminals: ServeTerminals,
    ) -> Self {
        let LaunchTarget { mut session, welcome, failed: _, approval } = launch;
        let settings = agents::window_settings(&paths::settings()).unwrap_or_else(|error| {
            tracing::warn!(%error, "the settings of the window are ignored");
            String::new()
        });
        let mut publisher = Publisher::new(Subscriber::new(settings), services.clone());
        publisher.publish(CommittedChanges::default(), &session.workspace, Vec::new());
        session.serve(&handle, &terminals);
        session.workspace.price_with(Arc::new(services.terraform.clone()));
        let announcer = (!process.has_window()).then(ProposalAnnouncer::default);
        let mut writer = Self {
            session,
            handle,
            process,
            publisher,
            services,
            terminals,
            welcome,
            demo: None,
            address: None,
            codes: ConfirmationCodes::default(),
            notifier: DesktopNotifier::default(),
            storage_checked: Instant::now(),
            announcer,
            committed: CommittedChanges::default(),
            responses: Vec::new(),
        };
        if let Some(announcer) = &mut writer.announcer {
            let workspace = &writer.session.workspace;
            announcer.announce_waiting(&workspace.review_state().queue, workspace.root());
        }
        if let Some(scope) = approval {
            writer.approve(scope, user_name());
        }
        writer
    }

    pub(super) fn run(mut self, messages: &Receiver<WriterMsg>) {
        loop {
            let limit = if self.owes_window() { CATCH_UP_EVERY } else { self.until_expiry() };
            let first = match messages.recv_timeout(limit.min(CHECK_STORAGE_EVERY)) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    self.check_storage();
                    self.sweep();
                    self.end_turn();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut waiting = Vec::new();
            let mut stop = false;
            for message in std::iter::once(first).chain(messages.try_iter()).take(MAX_GROUP) {
                stop |= self.receive(message, &mut waiting);
            }
            self.gather_notes(messages, &mut waiting, &mut stop);
            self.flush(&mut waiting);
            self.check_storage();
            self.end_turn();
            if stop {
                break;
            }
        }
        self.session.close();
    }

    /// Returns whether the window waits for something that found no room.
    fn owes_window(&self) -> bool {
        let window = &self.publisher.window;
        window.is_behind() || window.changed_proposal(&self.session.workspace).is_some()
    }

    /// Detects a deleted journal or lock, also while requests arrive that change nothing.
    fn check_storage(&mut self) {
        if self.storage_checked.elapsed() >= CHECK_STORAGE_EVERY {
            self.session.workspace.check_storage_health();
            self.storage_checked = Instant::now();
        }
    }

    /// Waits a moment for more lines of the audit when the group has nothing else: nobody waits for them, and they are
    /// written before anything else is done.
    fn gather_notes(
        &mut self,
        messages: &Receiver<WriterMsg>,
        waiting: &mut Vec<MutationGroupMember>,
        stop: &mut bool,
    ) {
        let end = Instant::now() + NOTES_WAIT;
        let are_notes = |waiting: &[MutationGroupMember]| {
            !waiting.is_empty()
                && waiting.iter().all(|waiting| matches!(waiting, MutationGroupMember::AuditLine { .. }))
        };
        while !*stop && are_notes(waiting) && waiting.len() < MAX_GROUP {
            match messages.recv_deadline(end) {
                Ok(message) => *stop |= self.receive(message, waiting),
                Err(_) => return,
            }
        }
    }

    /// Collects the members of the group, and handles any other message in a turn of its own. Returns true at the end.
    fn receive(&mut self, message: WriterMsg, waiting: &mut Vec<MutationGroupMember>) -> bool {
        let member = match message {
            WriterMsg::OfWorkspace { is_closed, message } => {
                if !is_closed.load(std::sync::atomic::Ordering::SeqCst) {
                    return self.receive(*message, waiting);
                }
                message.refuse(super::workspace_closed());
                return false;
            }
            WriterMsg::Mutate { mutation, actor, responder } => {
                MutationGroupMember::Mutation { mutation, actor, responder }
            }
            WriterMsg::Submit { client, request, reply } => MutationGroupMember::AgentRequest {
                client: Box::new(client),
                request: Box::new(request),
                reply,
            },
            WriterMsg::AuditLine { event, by, reason } => {
                MutationGroupMember::AuditLine { event, by, reason }
            }
            WriterMsg::Stop => {
                self.flush(waiting);
                return true;
            }
            WriterMsg::Call(WriterRequest(call)) => return self.run_turn(waiting, |writer| call(Ok(writer))),
            WriterMsg::ActionOutcome { proposal, outcome } => {
                return self.run_turn(waiting, |writer| writer.record_outcome(proposal, outcome));
            }
            WriterMsg::FileChanged(changed) => {
                return self.run_turn(waiting, |writer| writer.file_changed(&changed));
            }
            WriterMsg::Presence(presence) => {
                return self.run_turn(waiting, |writer| writer.set_presence(presence));
            }
            WriterMsg::SelectNode(node) => {
                return self.run_turn(waiting, |writer| select(&mut writer.session.workspace, node));
            }
            WriterMsg::Attach(queue) => {
                return self.run_turn(waiting, |writer| {
                    writer.publisher.window.attach(queue, &writer.session.workspace);
                    if let Some(WelcomeState { folder }) = writer.welcome.take() {
                        writer.publisher.window.notify(ToRenderer::Welcome { folder });
                    }
                    writer.offer_crash_report();
                });
            }
            WriterMsg::Resync => {
                return self
                    .run_turn(waiting, |writer| writer.publisher.window.resync(&writer.session.workspace));
            }
            WriterMsg::Mcp(view) => {
                return self.run_turn(waiting, |writer| writer.publisher.window.send_agents(*view));
            }
            WriterMsg::Terraform(view) => {
                return self.run_turn(waiting, |writer| writer.publisher.window.send_terraform(view));
            }
            WriterMsg::ManagedServers(view) => {
                return self.run_turn(waiting, |writer| writer.publisher.window.send_managed_servers(view));
            }
            WriterMsg::RunLines { run, first, lines } => {
                let message = ToRenderer::RunLines { run, first, lines };
                return self.run_turn(waiting, |writer| writer.publisher.window.notify(message));
            }
            WriterMsg::McpAddress(address) => {
                return self.run_turn(waiting, |writer| {
                    writer.session.record_address(address.as_ref());
                    writer.address = address;
                });
            }
        };
        waiting.push(member);
        false
    }

    /// Handles a message after the group before it. Changes and responses end the turn; all else waits for the end of
    /// the batch.
    fn run_turn(&mut self, waiting: &mut Vec<MutationGroupMember>, handle: impl FnOnce(&mut Self)) -> bool {
        self.flush(waiting);
        handle(self);
        if !self.committed.is_empty() || !self.responses.is_empty() {
            self.end_turn();
        }
        false
    }

    /// Publishes the turn, then sends its responses.
    fn end_turn(&mut self) {
        self.publish();
        for respond in std::mem::take(&mut self.responses) {
            respond();
        }
    }

    fn publish(&mut self) {
        let codes = if self.process.has_window() { self.codes.visible_codes() } else { Vec::new() };
        let committed = std::mem::take(&mut self.committed);
        self.publisher.publish(committed, &self.session.workspace, codes);
    }

    /// Sends a response at the end of the turn.
    pub(super) fn respond(&mut self, respond: impl FnOnce() + Send + 'static) {
        self.responses.push(Box::new(respond));
    }

    /// Decides the group, makes it durable, publishes it, responds.
    fn flush(&mut self, waiting: &mut Vec<MutationGroupMember>) {
        if waiting.is_empty() {
            return;
        }
        let mut group = self.session.workspace.begin();
        let decided: Vec<MutationGroupResult> = waiting
            .drain(..)
            .map(|waiting| match waiting {
                MutationGroupMember::Mutation { mutation, actor, responder } => {
                    MutationGroupResult::Mutation(responder, group.run(&mutation, &actor, time_and_seed()))
                }
                MutationGroupMember::AgentRequest { client, request, reply } => {
                    MutationGroupResult::AgentRequest(
                        reply,
                        Box::new(group.submit(&client, &request, time_and_seed())),
                    )
                }
                MutationGroupMember::AuditLine { event, by, reason } => {
                    group.record_audit_line(event, (by.name, by.channel), reason, time_and_seed());
                    MutationGroupResult::AuditLine
                }
            })
            .collect();
        let committed = group.commit();
        let failed = committed.as_ref().err().cloned();
        self.committed.patches.extend(committed.unwrap_or_default());
        // An action that follows reads the state that led to it.
        self.publish();
        for decided in decided {
            match decided {
                MutationGroupResult::Mutation(responder, result) => {
                    let result = unless_group_failed(&failed, result);
                    self.respond(move || responder.send(result));
                }
                MutationGroupResult::AgentRequest(reply, result) => {
                    let result = unless_group_failed(&failed, *result);
                    self.follow_up(&result);
                    self.respond(move || reply(result));
                }
                MutationGroupResult::AuditLine => {
                    if let Some(refusal) = &failed {
                        tracing::error!(%refusal, "a line of the audit was not written");
                    }
                }
            }
        }
        self.end_turn();
    }

    /// Handles a request that concerns the workspace alone.
    pub(super) fn handle<R: WorkspaceRequest>(
        &mut self,
        request: R,
        actor: &Actor,
    ) -> Result<R::Response, Refusal> {
        let workspace = &mut self.session.workspace;
        let mut turn = WorkspaceTurn { workspace, actor, moment: time_and_seed(), patches: Vec::new() };
        let result = request.handle(&mut turn);
        self.committed.patches.append(&mut turn.patches);
        result
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.session.workspace
    }

    pub(super) fn terraform(&self) -> terraform_runs::TerraformHandle {
        self.services.terraform.clone()
    }

    pub(super) fn previews(&self) -> preview_sessions::PreviewsHandle {
        self.services.previews.clone()
    }

    pub(super) fn describe_instance(&self) -> WorkbenchInstanceView {
        let (pid, window) = (Some(std::process::id()), self.process.has_window());
        let workspace = &self.session.workspace;
        let on_screen = workspace.presence().on_screen().filter(|_| window);
        WorkbenchInstanceView { pid, window, on_screen, ..describe_closed(workspace) }
    }

    pub(super) fn raise_window(&mut self) -> Result<(), Refusal> {
        self.process.require_window()?;
        self.publisher.window.notify(ToRenderer::Raise);
        Ok(())
    }

    fn set_presence(&mut self, mut presence: Presence) {
        if !presence.is_valid() {
            return tracing::warn!("a selection or viewport out of bounds was ignored");
        }
        let settings = std::mem::take(&mut presence.settings);
        self.session.workspace.set_presence(presence);
        self.keep_window_settings(settings);
    }

    /// Keeps the user's settings of the window for every workspace. If they cannot be written, they hold for this run.
    fn keep_window_settings(&mut self, settings: String) {
        let window = &mut self.publisher.window;
        if settings.is_empty() || settings == window.settings {
            return;
        }
        if let Err(error) = agents::keep_window_settings(&paths::settings(), &settings) {
            tracing::warn!(%error, "the settings of the window were not saved");
        }
        window.settings = settings;
    }

    /// Offers the report of a process that ended unexpectedly, once.
    fn offer_crash_report(&mut self) {
        let store = CrashStore::of_user();
        let Some(report) = store.newest_unoffered() else { return };
        self.publisher.window.notify(ToRenderer::CrashReport { headline: report.headline() });
        if let Err(error) = store.mark_offered(&report) {
            tracing::warn!(%error, "a crash report will be offered again");
        }
    }

    fn file_changed(&mut self, changed: &FileChange) {
        let workspace = &mut self.session.workspace;
        let noticed = match changed {
            FileChange::Path(path) => workspace.file_changed(path, time_and_seed()),
            FileChange::Everything => workspace.everything_changed(time_and_seed()),
        };
        self.handle_file_changes(noticed);
    }

    fn handle_file_changes(&mut self, noticed: FileChangeOutcome) {
        self.session.watch_sources();
        self.committed.registry_changed |= noticed.registry_changed;
        self.committed.patches.extend(noticed.patches);
    }
}

/// Selects a node that was selected in a preview. The window follows and sends its presence itself.
fn select(workspace: &mut Workspace, node: NodeId) {
    let Some(board) = workspace.snapshot().node(node).map(|node| node.board) else { return };
    let selection = vec![ElementId::Node(node)];
    let presence = Presence { board: Some(board), selection, ..workspace.presence().clone() };
    workspace.set_presence(presence);
}

/// The result of a member of a group, or the refusal of the group that was not written.
fn unless_group_failed<T>(failed: &Option<Refusal>, result: Result<T, Refusal>) -> Result<T, Refusal> {
    match failed {
        Some(refusal) => result.and(Err(refusal.clone())),
        None => result,
    }
}
