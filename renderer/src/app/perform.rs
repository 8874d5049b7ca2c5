//! Performs the actions of panels.

pub(super) use crate::panels::notices::capitalised;

use super::{CreatedElements, Pending, Workbench};
use crate::{
    dialogs::Modal,
    features::{
        inspector::InspectorMessage,
        review::{ReviewFeature, ReviewMessage},
    },
    frame::{Feature, MainRequest},
    link_to::LinkTo,
    panel_id::PanelId,
    panels::notices::Tone,
    placing::{add_at, add_connected, parent_for},
    terraform_answers::TerraformPending,
    tour::Tour,
    view::Action,
};
use egui::Context;
use shared_protocol::{
    AddNode, BoardId, Command, ElementId, Endpoint, NodeRef, Point, Refusal, TypeId, mcp::McpRequest,
    messages::Request, previews::PreviewRequest,
};
use std::{cmp::Ordering, collections::BTreeSet};

impl Workbench {
    pub(super) fn perform(&mut self, action: Action, context: &Context) {
        match action {
            Action::Do(id) => self.run_command(id, context),
            Action::Run(command) => self.run(command),
            Action::Ask(request) => {
                let pending = match request {
                    Request::Terraform(ref request) => Pending::Terraform(TerraformPending::of(request)),
                    Request::Log { .. } => Pending::Log,
                    Request::AuditView { .. } => Pending::Audit,
                    Request::AuditExport { .. } => Pending::AuditExport,
                    Request::Preview(PreviewRequest::Log { session, .. }) => Pending::PreviewLog(session),
                    Request::Mcp(McpRequest::ClientConfig { .. }) => Pending::Agents { copy: true },
                    Request::Mcp(_) => Pending::Agents { copy: false },
                    Request::Open(_)
                    | Request::New { .. }
                    | Request::OpenExample
                    | Request::ImportFolder(_)
                    | Request::Templates
                    | Request::Recents
                    | Request::ForgetRecent(_) => Pending::Welcome,
                    Request::StartDemo => Pending::Demo,
                    Request::Revert { revision, partial: false } => Pending::Revert(revision),
                    _ => Pending::Other,
                };
                if pending == Pending::Demo {
                    self.tour = Some(Tour::Starting { by_command: self.overlays.welcome.is_none() });
                }
                self.ask(request, pending);
            }
            Action::Select(selection) => self.select(selection, context),
            Action::Reveal(element) => self.reveal(element, context),
            Action::OpenBoard(board) => {
                self.open_board(board, context);
                self.show_canvas();
            }
            Action::Add(type_id) => self.run_or_refuse(|workbench| workbench.add(&type_id)),
            Action::AddAt { type_id, at } => self.run_or_refuse(|workbench| workbench.add_at(&type_id, at)),
            Action::AddConnected { type_id, at, from } => {
                self.run_or_refuse(|workbench| workbench.add_connected(&type_id, at, &from));
            }
            Action::ShowPanel(panel) => self.dock.show(panel),
            Action::ClosePanel(panel) => self.dock.close(panel),
            Action::MovePanel(panel, side) => self.dock.move_to(panel, side),
            Action::NewBoard(kind) => self.dialogs.open(Modal::new_board(kind)),
            Action::GoToField(element, key) => {
                self.reveal(element, context);
                self.dock.show(PanelId::Inspector);
                self.deliver(InspectorMessage::GoToField(key), context);
            }
            Action::Refuse(refusal) => self.notices.refuse(&refusal),
            Action::ShowOperation(revision) => {
                self.dock.show(PanelId::Log);
                self.panels.log.go_to(revision);
            }
            Action::AskPath(purpose) => self.ask_path(purpose, context),
            Action::Spec(action) => self.perform_spec(action, context),
            Action::LinkFrom(end) => {
                let popup = self.view().map(|view| LinkTo::new(&view, end));
                self.overlays.link_to = popup;
            }
            Action::Offer { refusal, text, action } => self.notices.offer(&refusal, text, *action),
            Action::Notify { message, details, button } => {
                let button = button.map(|(text, action)| (text, *action));
                self.notices.tell_with(Tone::Good, message, details, button);
            }
            Action::Warn { message, details } => self.notices.tell(Tone::Bad, message, details),
            Action::SelectCreated(elements) => {
                self.session.created = CreatedElements::Select(elements);
                self.select_created(context);
            }
            Action::CloseDialog => self.dialogs.close(),
            Action::DropNudges => self.nudge.give_up(),
            Action::Review(request) => {
                let request = MainRequest::Review(request);
                let pending = Pending::Review(ReviewFeature::pending(&request));
                self.request(request, pending);
            }
            Action::OpenProposal(id) => self.deliver(ReviewMessage::Open(id), context),
            Action::CloseProposal => self.deliver(ReviewMessage::Close, context),
            Action::StartPreview(shown) => self.start_preview(shown, context),
            Action::LookAt(session) => self.session.looked_at = Some(session),
            Action::SetOverriding(on) => self.session.overriding = on,
            Action::Promote(which) => {
                self.ask(Request::Run(Command::PromoteOverrides(which)), Pending::Promote);
            }
            Action::Gesture(session, gesture) => {
                if let Err(error) = self.link.preview(session, gesture) {
                    tracing::debug!(%error, "the preview was not told");
                }
            }
            Action::Upstream { ticket, ask } => self.ask_upstream(ticket, ask),
            Action::OpenServer(server) => {
                self.panels.upstreams.open(server);
                self.dock.show(PanelId::Upstreams);
            }
            Action::TakeBack(revision) => {
                let Some(newest) = self.workspace().map(|workspace| workspace.snapshot.revision()) else {
                    return;
                };
                let request = match newest.cmp(&revision) {
                    Ordering::Equal => Request::Undo,
                    // The patch of the operation has not arrived yet.
                    Ordering::Less => Request::Revert { revision, partial: false },
                    Ordering::Greater => {
                        let more = vec!["Revert it in the log to keep what came after it.".to_owned()];
                        let message = "Nothing was undone: the workspace has changed since.";
                        return self.notices.tell(Tone::Bad, message, more);
                    }
                };
                self.ask(request, Pending::Revert(revision));
            }
        }
    }

    /// Sends a change. Created elements are selected when they arrive.
    pub(super) fn run(&mut self, command: Command) {
        let select_created = selects_what_it_makes(&command);
        self.ask(Request::Run(command), Pending::Change { select_created });
    }

    fn run_or_refuse(&mut self, command: impl FnOnce(&Self) -> Result<Option<Command>, Refusal>) {
        match command(self) {
            Ok(Some(command)) => self.run(command),
            Ok(None) => {}
            Err(refusal) => self.notices.refuse(&refusal),
        }
    }

    pub(super) fn select(&mut self, selection: BTreeSet<ElementId>, context: &Context) {
        if self.session.selection != selection {
            self.session.selection = selection;
            self.presence_changed(context);
        }
    }

    pub(super) fn open_board(&mut self, board: BoardId, context: &Context) {
        if self.session.board == Some(board) {
            return;
        }
        self.session.board = Some(board);
        self.session.selection.clear();
        self.session.reveal.clear();
        self.overlays.quick_add = None;
        self.overlays.connect_to = None;
        self.overlays.context_menu = None;
        self.presence_changed(context);
    }

    fn reveal(&mut self, element: ElementId, context: &Context) {
        let Some(workspace) = self.workspace() else { return };
        let (board, nodes) = match element {
            ElementId::Board(board) => (Some(board), Vec::new()),
            ElementId::Node(id) => (workspace.snapshot.node(id).map(|node| node.board), vec![id]),
            ElementId::Edge(id) => match workspace.snapshot.edge(id) {
                Some(edge) => (Some(edge.board), vec![edge.source.node, edge.target.node]),
                None => (None, Vec::new()),
            },
        };
        let Some(board) = board else { return };
        self.open_board(board, context);
        if !matches!(element, ElementId::Board(_)) {
            self.select([element].into(), context);
            self.session.reveal = nodes;
        }
        self.show_canvas();
    }

    /// Another panel may be in front of the canvas.
    pub(super) fn show_canvas(&mut self) {
        if !self.dock.is_in_front(PanelId::Canvas) {
            self.dock.show(PanelId::Canvas);
        }
    }

    /// Adds a node to the selected container or one around it if that accepts the type, else to the board.
    fn add(&self, type_id: &TypeId) -> Result<Option<Command>, Refusal> {
        let Some(view) = self.view() else { return Ok(None) };
        let Some(board) = view.board() else { return Ok(None) };
        let def = view.snapshot.registry().require(type_id)?;
        let selected = view.selected_nodes();
        let inner = if let [only] = selected.as_slice() { Some(*only) } else { None };
        let parent = parent_for(view.snapshot, board, inner, def)?;
        let mut add = AddNode::new(board.id, type_id.clone());
        add.parent = parent.map(NodeRef::Id);
        Ok(Some(Command::AddNode(add)))
    }

    pub(super) fn add_at(&self, type_id: &TypeId, at: Point) -> Result<Option<Command>, Refusal> {
        let Some(view) = self.view() else { return Ok(None) };
        let Some(board) = view.board() else { return Ok(None) };
        let def = view.snapshot.registry().require(type_id)?;
        Ok(Some(Command::AddNode(add_at(view.snapshot, board, def, at)?)))
    }

    fn add_connected(
        &self,
        type_id: &TypeId,
        at: Point,
        from: &Endpoint,
    ) -> Result<Option<Command>, Refusal> {
        let Some(view) = self.view() else { return Ok(None) };
        let Some(board) = view.board() else { return Ok(None) };
        let def = view.snapshot.registry().require(type_id)?;
        add_connected(view.snapshot, board, def, at, from).map(Some)
    }
}

fn selects_what_it_makes(command: &Command) -> bool {
    match command {
        Command::AddBoard { .. }
        | Command::AddNode(_)
        | Command::Paste { .. }
        | Command::Duplicate { .. } => true,
        Command::Batch { commands, .. } => commands.iter().any(selects_what_it_makes),
        _ => false,
    }
}
