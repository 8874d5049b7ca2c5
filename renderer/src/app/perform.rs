//! Performs the actions of panels.

use super::{CreatedElements, Workbench, dispatch::WindowCommand};
use crate::{
    dialogs::ModalDialog,
    features::{inspector::InspectorMessage, review::ReviewMessage},
    link_to::TraceLinkPicker,
    node_placement::{add_at, add_connected, parent_for},
    panel_id::PanelId,
    panels::notices::ToastTone,
    view::WindowAction,
};
use egui::Context;
use shared_protocol::{
    AddNode, BoardId, BoardPoint, Command, EdgeEndpoint, ElementId, NodeRef, Refusal, RefusalCode, Revision,
    TypeId,
    messages::AppliedCommand,
    requests::{RevertOperation, UndoLast},
};
use std::{cmp::Ordering, collections::BTreeSet};

impl Workbench {
    pub(super) fn perform(&mut self, action: WindowAction, context: &Context) {
        match action {
            WindowAction::Do(id) => self.run_command(id, context),
            WindowAction::Run(command) => self.run(command),
            WindowAction::Request(request) => self.send(request.map(WindowCommand::Action)),
            WindowAction::Revert { revision, partial } => {
                self.request_undo(RevertOperation { revision, partial }, offer_partial(revision));
            }
            WindowAction::Select(selection) => self.select(selection, context),
            WindowAction::Reveal(element) => self.reveal(element, context),
            WindowAction::OpenBoard(board) => {
                self.open_board(board, context);
                self.show_canvas();
            }
            WindowAction::Add(type_id) => self.run_or_refuse(|workbench| workbench.add(&type_id)),
            WindowAction::AddAt { type_id, at } => {
                self.run_or_refuse(|workbench| workbench.add_at(&type_id, at))
            }
            WindowAction::AddConnected { type_id, at, from } => {
                self.run_or_refuse(|workbench| workbench.add_connected(&type_id, at, &from));
            }
            WindowAction::ShowPanel(panel) => self.dock.show(panel),
            WindowAction::ClosePanel(panel) => self.dock.close(panel),
            WindowAction::MovePanel(panel, side) => self.dock.move_to(panel, side),
            WindowAction::NewBoard(kind) => self.dialogs.open(ModalDialog::new_board(kind)),
            WindowAction::GoToField(element, key) => {
                self.reveal(element, context);
                self.dock.show(PanelId::Inspector);
                self.deliver(InspectorMessage::GoToField(key), context);
            }
            WindowAction::Refuse(refusal) => self.notices.refuse(&refusal),
            WindowAction::ShowOperation(revision) => {
                self.dock.show(PanelId::Log);
                self.panels.log.go_to(revision);
            }
            WindowAction::AskPath(purpose) => self.open_path_dialog(purpose, context),
            WindowAction::Spec(action) => self.perform_spec(action, context),
            WindowAction::LinkFrom(end) => {
                let popup = self.view().map(|view| TraceLinkPicker::new(&view, end));
                self.overlays.link_to = popup;
            }
            WindowAction::Offer { refusal, text, action } => self.notices.offer(&refusal, text, *action),
            WindowAction::Notify { message, details, button } => {
                let button = button.map(|(text, action)| (text, *action));
                self.notices.show_with_actions(ToastTone::Good, message, details, button);
            }
            WindowAction::Warn { message, details } => self.notices.show(ToastTone::Bad, message, details),
            WindowAction::SelectCreated(elements) => {
                self.session.created = CreatedElements::Select(elements);
                self.select_created(context);
            }
            WindowAction::WriteNote(elements) => {
                self.session.created = CreatedElements::Write(elements);
                self.select_created(context);
            }
            WindowAction::CopyConfiguration(text) => {
                context.copy_text(text);
                let next = "Paste it into the configuration of your client.".to_owned();
                self.notices.show(ToastTone::Good, "Copied the configuration", vec![next]);
            }
            WindowAction::CloseDialog => self.dialogs.close(),
            WindowAction::DropNudges => self.nudge.clear(),
            WindowAction::OpenProposal(id) => self.deliver(ReviewMessage::Open(id), context),
            WindowAction::CloseProposal => self.deliver(ReviewMessage::Close, context),
            WindowAction::StartPreview(shown) => self.start_preview(shown, context),
            WindowAction::LookAt(session) => self.session.visible_preview = Some(session),
            WindowAction::SetOverriding(on) => self.session.overriding = on,
            WindowAction::Promote(which) => {
                self.change(Command::PromoteOverrides(which), |result| Some(WindowAction::Promoted(result)));
            }
            WindowAction::Gesture(session, gesture) => {
                if let Err(error) = self.link.preview(session, gesture) {
                    tracing::debug!(%error, "cannot send to the preview");
                }
            }
            WindowAction::StartDemo => self.start_demo(),
            WindowAction::OpenServer(server) => {
                self.panels.managed_servers.open(server);
                self.dock.show(PanelId::ManagedServers);
            }
            WindowAction::TakeBack(revision) => {
                let Some(newest) = self.workspace().map(|workspace| workspace.snapshot.revision()) else {
                    return;
                };
                match newest.cmp(&revision) {
                    Ordering::Equal => self.request_undo(UndoLast {}, offer_partial(revision)),
                    // The patch of the operation has not arrived yet.
                    Ordering::Less => {
                        self.perform(WindowAction::Revert { revision, partial: false }, context)
                    }
                    Ordering::Greater => {
                        let more = vec!["Revert it in the log to keep later changes.".to_owned()];
                        let message = "Nothing was undone: the workspace has changed since.";
                        self.notices.show(ToastTone::Bad, message, more);
                    }
                }
            }
            WindowAction::Nudged(revision) => {
                self.nudge.wait_for(revision);
                self.send_nudge_backlog();
            }
            WindowAction::RefuseNudge(refusal) => {
                self.nudge.clear();
                self.notices.refuse(&refusal);
            }
            WindowAction::Promoted(result) => self.receive_promoted(result),
            WindowAction::BoardImported(imported) => self.receive_import(imported, context),
            WindowAction::DemoStarted(result) => self.receive_demo(result),
            WindowAction::ProblemReportRead(text) => {
                if let Some(report) = &mut self.overlays.report {
                    report.receive(text);
                }
            }
            WindowAction::LogRead(result) => self.notices.refuse_if(self.panels.log.receive(result)),
            WindowAction::AuditRead(result) => self.notices.refuse_if(self.panels.audit.receive(result)),
            WindowAction::PreviewLogRead(session, result) => {
                self.notices.refuse_if(self.panels.preview.log.receive(session, result));
            }
            WindowAction::Welcome(response) => self.receive_welcome(response, context),
            WindowAction::ManagedServer { request, response } => {
                self.receive_server_response(request, *response)
            }
        }
    }

    /// Sends a change. Created elements are selected when they arrive.
    pub(super) fn run(&mut self, command: Command) {
        let select_created = selects_what_it_makes(&command);
        self.change(command, move |result| match result {
            Ok(applied) => select_created.then_some(WindowAction::SelectCreated(applied.created)),
            Err(refusal) => Some(WindowAction::Refuse(refusal)),
        });
    }

    fn receive_promoted(&mut self, result: Result<AppliedCommand, Refusal>) {
        match result {
            Ok(applied) => {
                self.session.unsaved.clear();
                self.notices.show(ToastTone::Good, applied.summary, Vec::new());
            }
            Err(refusal) => {
                let failed = refusal.failed.iter();
                let why = failed.map(|failed| (failed.address.clone(), failed.message.clone()));
                self.session.unsaved = why.collect();
                self.notices.refuse(&refusal);
            }
        }
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

    pub(super) fn add_at(&self, type_id: &TypeId, at: BoardPoint) -> Result<Option<Command>, Refusal> {
        let Some(view) = self.view() else { return Ok(None) };
        let Some(board) = view.board() else { return Ok(None) };
        let def = view.snapshot.registry().require(type_id)?;
        Ok(Some(Command::AddNode(add_at(view.snapshot, board, def, at)?)))
    }

    fn add_connected(
        &self,
        type_id: &TypeId,
        at: BoardPoint,
        from: &EdgeEndpoint,
    ) -> Result<Option<Command>, Refusal> {
        let Some(view) = self.view() else { return Ok(None) };
        let Some(board) = view.board() else { return Ok(None) };
        let def = view.snapshot.registry().require(type_id)?;
        add_connected(view.snapshot, board, def, at, from).map(Some)
    }
}

/// Offers to revert the parts that do not conflict.
fn offer_partial(revision: Revision) -> impl Fn(Result<AppliedCommand, Refusal>) -> Option<WindowAction> {
    move |result| match result {
        Ok(_) => None,
        Err(refusal) if refusal.code == RefusalCode::Conflict => {
            let action = Box::new(WindowAction::Revert { revision, partial: true });
            Some(WindowAction::Offer { refusal, text: "Revert partially", action })
        }
        Err(refusal) => Some(WindowAction::Refuse(refusal)),
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
