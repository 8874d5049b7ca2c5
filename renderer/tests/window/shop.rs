//! A main process in a few lines: it holds the truth with the real authority, and a test reads what the window sent.

use crate::terraform_answers::Terraform;
use authority::{Snapshot, TypeRegistry, decide};
use crossbeam_channel::{Receiver, Sender, unbounded};
use egui_kittest::{
    Harness,
    kittest::{NodeT, Queryable},
};
use renderer::{MainConnection, MainConnectionEvent, Workbench};
use serde::Serialize;
use shared_protocol::{
    Actor, ActorKind, AddNode, BoardId, BoardKind, BoardPoint, Command, EdgeEndpointRef, ElementId,
    GraphDocument, NodeId, Refusal,
    decisions::{PersonDecision, WindowRequest},
    framing::encode_response,
    mcp::McpView,
    messages::{
        AppliedCommand, FromRenderer, FullWorkspaceView, OperationLogEntry, Patch, Presence, RecentWorkspace,
        RegistryView, ToRenderer, WorkspaceStatus, WorkspaceTemplate,
    },
    preview_sessions::{PreviewId, PreviewLogLine},
    requests::{
        ExportAudit, ExportBoard, ExportedFile, OpenedWorkspace, ReadAuditPage, ReadClientConfig,
        ReadOperations, RunCommand, SavedFiles, StartedDemo, WorkbenchRequest,
    },
};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

pub(crate) struct Main {
    from_window: Receiver<FromRenderer>,
    to_window: Sender<MainConnectionEvent>,
    pub(crate) snapshot: Snapshot,
    pub(crate) status: WorkspaceStatus,
    pub(crate) presence: Presence,
    pub(crate) log: Vec<OperationLogEntry>,
    /// Newest first.
    pub(crate) audit: shared_protocol::review::AuditView,
    pub(crate) terraform: Terraform,
    pub(crate) reviews: crate::proposals::Reviews,
    pub(crate) managed_servers: crate::managed_servers_answers::ManagedServers,
    /// Read while looking for something else.
    unheard: Vec<FromRenderer>,
    seed: u64,
    /// The node that came last.
    newest: Option<NodeId>,
    /// Something was answered the last time.
    busy: bool,
}

impl Main {
    pub(crate) fn new() -> (Self, MainConnection) {
        let (outgoing, from_window) = unbounded();
        let (to_window, incoming) = unbounded();
        let registry = TypeRegistry::compose(&catalogue::built_in(), &BTreeMap::new());
        let main = Self {
            from_window,
            to_window,
            snapshot: Snapshot::new(Arc::new(registry)),
            status: WorkspaceStatus::default(),
            presence: Presence::default(),
            log: Vec::new(),
            audit: Default::default(),
            terraform: Terraform::default(),
            reviews: Default::default(),
            managed_servers: Default::default(),
            unheard: Vec::new(),
            seed: 1,
            newest: None,
            busy: false,
        };
        (main, MainConnection::from_channels(outgoing, incoming))
    }

    pub(crate) fn send(&self, message: ToRenderer) {
        self.to_window.send(MainConnectionEvent::Message(message)).unwrap();
    }

    /// What comes beside the messages: memory.
    pub(crate) fn send_incoming(&self, incoming: MainConnectionEvent) {
        self.to_window.send(incoming).unwrap();
    }

    pub(crate) fn send_workspace(&self) {
        self.send_workspace_at("/home/ada/shop");
    }

    /// The same boards in another folder: another workspace.
    pub(crate) fn send_workspace_at(&self, root: &str) {
        let registry = self.snapshot.registry();
        self.send(ToRenderer::Workspace(Box::new(FullWorkspaceView {
            root: root.into(),
            name: "shop".into(),
            document: self.snapshot.to_document(),
            registry: RegistryView {
                types: registry.types().map(|def| (**def).clone()).collect(),
                rules: registry.rules().to_vec(),
                problems: registry.problems().to_vec(),
            },
            presence: self.presence.clone(),
            status: self.status.clone(),
        })));
    }

    /// Decides and applies, as main does, without telling the window.
    pub(crate) fn quietly(&mut self, command: &Command) -> Result<(Patch, Vec<ElementId>), Refusal> {
        self.seed += 1;
        let decision = decide(&self.snapshot, command, self.seed)?;
        let revision = self.snapshot.revision().next();
        self.snapshot.apply(revision, &decision.changes).unwrap();
        if let Some(ElementId::Node(id)) = decision.created.first() {
            self.newest = Some(*id);
        }
        let actor = Actor::new(ActorKind::Window, "ada");
        let patch = Patch {
            revision,
            actor,
            kind: shared_protocol::OperationKind::Edit,
            summary: decision.summary,
            changes: decision.changes,
        };
        Ok((patch, decision.created))
    }

    /// Somebody else changed something.
    pub(crate) fn run(&mut self, command: Command) -> Vec<ElementId> {
        let (patch, created) = self.quietly(&command).unwrap();
        self.send(ToRenderer::Patch(patch));
        created
    }

    pub(crate) fn add_board(&mut self, kind: BoardKind, title: &str) -> BoardId {
        let command = Command::AddBoard { kind, title: title.into(), name: None };
        match self.quietly(&command).unwrap().1[..] {
            [ElementId::Board(id)] => id,
            ref other => panic!("{other:?}"),
        }
    }

    pub(crate) fn add(
        &mut self,
        board: BoardId,
        type_id: &str,
        label: &str,
        parent: Option<NodeId>,
        at: (i32, i32),
    ) -> NodeId {
        let mut add = AddNode::new(board, type_id.parse().unwrap());
        add.label = Some(label.into());
        add.parent = parent.map(Into::into);
        add.at = Some(BoardPoint { x: at.0, y: at.1 });
        match self.quietly(&Command::AddNode(add)).unwrap().1[..] {
            [ElementId::Node(id), ..] => id,
            ref other => panic!("{other:?}"),
        }
    }

    pub(crate) fn connect(&mut self, source: NodeId, target: NodeId) {
        let end = |node: NodeId| EdgeEndpointRef { node: node.into(), port: None };
        self.quietly(&Command::Connect { source: end(source), target: end(target), label: String::new() })
            .unwrap();
    }

    /// Everything the window said since the last time.
    pub(crate) fn heard(&mut self) -> Vec<FromRenderer> {
        let mut heard = std::mem::take(&mut self.unheard);
        heard.extend(self.from_window.try_iter());
        heard
    }

    /// The requests the window made since the last time; none is answered.
    pub(crate) fn requests(&mut self) -> Vec<WorkbenchRequest> {
        let request = |message| match message {
            FromRenderer::Request { request: WindowRequest::Workbench(request), .. } => Some(request),
            _ => None,
        };
        self.heard().into_iter().filter_map(request).filter(|request| !is_lookup(request)).collect()
    }

    /// The number of the first request of this kind; what was sent besides is forgotten.
    pub(crate) fn request_id(&mut self, is_meant: impl Fn(&WorkbenchRequest) -> bool) -> u64 {
        let heard = self.heard();
        let found = heard.iter().find_map(|message| match message {
            FromRenderer::Request { id, request: WindowRequest::Workbench(request) } if is_meant(request) => {
                Some(*id)
            }
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no such request: {heard:?}"))
    }

    /// Something was answered the last time.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Answers every request as main would, and gives them back.
    pub(crate) fn serve(&mut self) -> Vec<WorkbenchRequest> {
        self.serve_with(&mut |_| None)
    }

    /// The same, with answers of somebody else's for some.
    pub(crate) fn serve_with(
        &mut self,
        other: &mut dyn FnMut(&WorkbenchRequest) -> Option<Response>,
    ) -> Vec<WorkbenchRequest> {
        let mut served = Vec::new();
        self.busy = false;
        for message in self.heard() {
            let FromRenderer::Request { id, request } = message else { continue };
            let result = match request {
                WindowRequest::Review(_) | WindowRequest::Decision(PersonDecision::Proposal(_))
                    if self.reviews.silent =>
                {
                    continue;
                }
                WindowRequest::Review(request) => self.answer_review(request),
                WindowRequest::Decision(PersonDecision::Proposal(decision)) => self.answer_decision(decision),
                WindowRequest::Decision(PersonDecision::Upstream(decision)) => {
                    self.managed_servers.decide(decision)
                }
                WindowRequest::Workbench(request) => {
                    let result = other(&request).unwrap_or_else(|| self.answer(&request));
                    if !is_lookup(&request) {
                        served.push(request);
                    }
                    result
                }
            };
            self.busy = true;
            self.send(ToRenderer::Response { request: id, result });
        }
        served
    }

    fn answer(&mut self, request: &WorkbenchRequest) -> Response {
        use WorkbenchRequest as R;
        match request {
            R::RunCommand(RunCommand { command }) => {
                response(self.quietly(command).map(|(patch, created)| {
                    let applied =
                        AppliedCommand { revision: patch.revision, summary: patch.summary.clone(), created };
                    self.send(ToRenderer::Patch(patch));
                    applied
                }))
            }
            R::UndoLast(_)
            | R::RedoLast(_)
            | R::RevertOperation(_)
            | R::ResolveBoard(_)
            | R::ChangeLinks(_)
            | R::ChangeBundle(_) => response(Ok(AppliedCommand {
                revision: self.snapshot.revision(),
                summary: "changed".into(),
                created: Vec::new(),
            })),
            R::ReadLog(_) => response(Ok(&self.log)),
            R::ReadAuditPage(ReadAuditPage { before, limit }) => {
                let mut view = self.audit.clone();
                view.lines.retain(|line| before.is_none_or(|before| line.number < before));
                view.lines.truncate(*limit as usize);
                response(Ok(view))
            }
            R::ExportAudit(ExportAudit { path }) | R::ExportBoard(ExportBoard { path, .. }) => {
                response(Ok(ExportedFile { path: path.clone(), bytes: 7 }))
            }
            R::ReadOperations(ReadOperations { revisions }) => {
                let found = self.log.iter().filter(|entry| revisions.contains(&entry.revision));
                response(Ok(found.cloned().collect::<Vec<_>>()))
            }
            R::SaveFiles(_) => response(Ok(SavedFiles {
                revision: self.snapshot.revision(),
                files: vec!["main.json".into()],
            })),
            R::ReadClientConfig(ReadClientConfig { client }) => response(Ok(format!("what {client} needs"))),
            R::TestConnection(_) | R::ReportProblem(_) | R::ReadKnowledge(_) => response(Ok(String::new())),
            R::SetAgentMode(_) | R::SetAgentPort(_) | R::RestartAgents(_) | R::RotateToken(_) => {
                response(Ok(McpView::default()))
            }
            R::OpenWorkspace(_) | R::CreateWorkspace(_) => response(Ok(OpenedWorkspace::Opened)),
            R::StartDemo(_) => response(Ok(StartedDemo { shows_tour: true })),
            R::ListRecents(_) | R::ForgetRecent(_) => response(Ok(Vec::<RecentWorkspace>::new())),
            R::ListTemplates(_) => response(Ok(Vec::<(WorkspaceTemplate, GraphDocument)>::new())),
            R::StartPreview(_) => response(Ok(PreviewId(1))),
            R::ReadPreviewLog(_) => response(Ok(Vec::<PreviewLogLine>::new())),
            request => self
                .terraform
                .answer(request)
                .or_else(|| self.managed_servers.answer(request))
                .unwrap_or_else(|| response(Ok(()))),
        }
    }
}

/// A response as main encodes it.
pub(crate) type Response = Result<Vec<u8>, Refusal>;

pub(crate) fn response<T: Serialize>(result: Result<T, Refusal>) -> Response {
    result.and_then(|response| encode_response(&response))
}

/// What the window asks for by itself, to show what is looked at.
fn is_lookup(request: &WorkbenchRequest) -> bool {
    use WorkbenchRequest as R;
    matches!(
        request,
        R::ReadOperations(_)
            | R::ReadAuditPage(_)
            | R::ShowServer(_)
            | R::ReadServerLog(_)
            | R::EstimateCost(_)
            | R::GenerateHcl(_)
            | R::ReadPlan(_)
            | R::ListRuns(_)
            | R::ReadRunLines(_)
    )
}

pub(crate) struct App {
    link: Option<MainConnection>,
    workbench: Option<Workbench>,
    lost: Arc<OnceLock<Option<String>>>,
}

impl App {
    /// The reason that the window ended.
    pub(crate) fn lost(&self) -> Option<&str> {
        self.lost.get()?.as_deref()
    }
}

pub(crate) type Window = Harness<'static, App>;

pub(crate) fn open(link: MainConnection, size: (f32, f32), theme: egui::Theme) -> Window {
    let mut window = Harness::builder()
        .with_size(egui::vec2(size.0, size.1))
        .renderer(rasteriser::SnapshotRenderer::new())
        .build_ui_state(
            |ui, app: &mut App| {
                if let Some(link) = app.link.take() {
                    app.workbench = Some(Workbench::new(ui.ctx(), link).reporting_to(Arc::clone(&app.lost)));
                }
                if let Some(workbench) = &mut app.workbench {
                    workbench.receive(ui.ctx());
                    // The whole window, as eframe gives it, without the margin of the harness.
                    let whole = egui::UiBuilder::new().max_rect(ui.ctx().content_rect());
                    workbench.show_ui(&mut ui.new_child(whole));
                }
            },
            App { link: Some(link), workbench: None, lost: Arc::default() },
        );
    window.input_mut().system_theme = Some(theme);
    window.run();
    window
}

/// A small shop: two subnets in a network, a web server, a database, a bucket; and an interface board.
pub(crate) struct Shop {
    pub(crate) main: Main,
    pub(crate) window: Window,
    pub(crate) infrastructure: BoardId,
    pub(crate) network: NodeId,
    pub(crate) subnet: NodeId,
    pub(crate) web: NodeId,
    pub(crate) worker: NodeId,
    pub(crate) bucket: NodeId,
}

impl Shop {
    pub(crate) fn open() -> Self {
        Self::open_as((1440.0, 900.0), egui::Theme::Light, |_| {})
    }

    pub(crate) fn open_as(size: (f32, f32), theme: egui::Theme, prepare: impl FnOnce(&mut Main)) -> Self {
        let (mut main, link) = Main::new();
        let infrastructure = main.add_board(BoardKind::Infrastructure, "Production");
        let network = main.add(infrastructure, "aws/networking/vpc", "Shop network", None, (0, 0));
        let subnet = main.add(infrastructure, "aws/networking/subnet", "Private A", Some(network), (40, 60));
        let web = main.add(infrastructure, "aws/compute/instance", "Web", Some(subnet), (24, 60));
        let worker = main.add(infrastructure, "aws/compute/instance", "Worker", Some(subnet), (24, 160));
        let bucket = main.add(infrastructure, "aws/storage/s3_bucket", "Pictures", None, (700, 60));
        main.add(infrastructure, "notes/sticky", "Ask about retention", None, (700, 200));
        let interface = main.add_board(BoardKind::Interface, "Shop front");
        let page = main.add(interface, "ui.route", "Home", None, (0, 0));
        main.add(interface, "ui.button", "Buy", Some(page), (24, 60));
        prepare(&mut main);
        main.send_workspace();
        let window = open(link, size, theme);
        Self { main, window, infrastructure, network, subnet, web, worker, bucket }
    }

    /// Lets main answer and the window settle, until neither has anything to say.
    pub(crate) fn settle(&mut self) -> Vec<WorkbenchRequest> {
        let mut all = Vec::new();
        loop {
            self.window.run();
            all.extend(self.main.serve());
            if !self.main.busy {
                self.window.run();
                return all;
            }
        }
    }

    /// Clicks the one thing whose name begins like this: nodes on the canvas are called `EC2 instance Web, 1 problem`.
    pub(crate) fn select(&mut self, name: &str) {
        let at = self.rect_of(name).center();
        self.click_at(at);
        self.window.run();
    }

    pub(crate) fn rect_of(&self, name: &str) -> egui::Rect {
        let found: Vec<_> = self
            .window
            .query_all_by_label_contains(name)
            .filter(|node| node.accesskit_node().label().is_some_and(|label| label.starts_with(name)))
            .map(|node| node.rect())
            .collect();
        match found[..] {
            [rect] => rect,
            _ => panic!("{} things are called {name:?}", found.len()),
        }
    }

    /// Whether anything is called or says this.
    pub(crate) fn shows(&self, text: &str) -> bool {
        self.window.query_all_by_label_contains(text).next().is_some()
    }

    pub(crate) fn field(&self, name: &str) -> String {
        let role = egui::accesskit::Role::TextInput;
        self.window.get_by_role_and_label(role, name).value().unwrap_or_default()
    }

    /// Types into a field from scratch; the keyboard stays there.
    pub(crate) fn retype(&mut self, name: &str, text: &str) {
        let role = egui::accesskit::Role::TextInput;
        self.window.get_by_role_and_label(role, name).focus();
        self.window.run();
        self.window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
        self.window.run();
        self.window.get_by_role_and_label(role, name).type_text(text);
        self.window.run();
    }

    /// Types to whatever has the keyboard.
    pub(crate) fn type_keys(&mut self, text: &str) {
        self.window.event(egui::Event::Text(text.into()));
        self.window.run();
    }

    pub(crate) fn press(&mut self, key: egui::Key) {
        self.press_with(egui::Modifiers::NONE, key);
    }

    pub(crate) fn press_with(&mut self, modifiers: egui::Modifiers, key: egui::Key) {
        self.window.key_press_modifiers(modifiers, key);
        self.window.run();
    }

    pub(crate) fn rect_of_containing(&self, text: &str) -> egui::Rect {
        self.window.get_by_label_contains(text).rect()
    }

    /// What the window told main that it has selected.
    pub(crate) fn selected(&mut self) -> std::collections::BTreeSet<ElementId> {
        self.window.run_steps(4);
        for message in self.main.from_window.try_iter().collect::<Vec<_>>() {
            match message {
                FromRenderer::Presence(presence) => self.main.presence = presence,
                other => self.main.unheard.push(other),
            }
        }
        self.main.presence.selection.iter().copied().collect()
    }

    pub(crate) fn click_at(&mut self, at: egui::Pos2) {
        self.click_with(at, egui::Modifiers::NONE);
    }

    pub(crate) fn click_with(&mut self, at: egui::Pos2, modifiers: egui::Modifiers) {
        use egui::{Event, PointerButton};
        self.window.hover_at(at);
        self.window.run();
        for pressed in [true, false] {
            let button = Event::PointerButton { pos: at, button: PointerButton::Primary, pressed, modifiers };
            self.window.event(button);
            self.window.run();
        }
    }

    pub(crate) fn right_click_at(&mut self, at: egui::Pos2) {
        use egui::{Event, Modifiers, PointerButton};
        self.window.hover_at(at);
        self.window.run();
        for pressed in [true, false] {
            let (button, modifiers) = (PointerButton::Secondary, Modifiers::NONE);
            self.window.event(Event::PointerButton { pos: at, button, pressed, modifiers });
            self.window.run();
        }
    }

    pub(crate) fn drag(&mut self, from: egui::Pos2, to: egui::Pos2) {
        use egui::{Event, Modifiers, PointerButton};
        let press = |at, pressed| {
            let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
            Event::PointerButton { pos: at, button, pressed, modifiers }
        };
        self.window.hover_at(from);
        self.window.run();
        self.window.event(press(from, true));
        self.window.run();
        for step in 1..=4_u8 {
            self.window.event(Event::PointerMoved(from.lerp(to, f32::from(step) / 4.0)));
            self.window.run();
        }
        self.window.event(press(to, false));
        self.window.run();
    }

    /// What the window has asked main to remember.
    pub(crate) fn told_window(&mut self) -> String {
        self.selected();
        self.main.presence.window.clone()
    }

    /// A value or a label anywhere in the window, as a screen reader finds it.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.shows(text) || self.window.query_all_by_value(text).next().is_some()
    }

    pub(crate) fn newest(&self) -> Option<NodeId> {
        self.main.newest
    }

    /// The window ends and main starts another one.
    pub(crate) fn reopen_with(&mut self, open: impl FnOnce(&Main, MainConnection) -> Window) {
        let (outgoing, from_window) = unbounded();
        let (to_window, incoming) = unbounded();
        (self.main.from_window, self.main.to_window) = (from_window, to_window);
        self.window = open(&self.main, MainConnection::from_channels(outgoing, incoming));
    }

    pub(crate) fn picture(&mut self, name: &str) {
        picture(&mut self.window, name);
    }
}

pub(crate) fn picture(window: &mut Window, name: &str) {
    let image = window.render().unwrap();
    let folder = std::env::temp_dir().join("draftboard-pictures");
    std::fs::create_dir_all(&folder).unwrap();
    image.save(folder.join(format!("{name}.png"))).unwrap();
}
