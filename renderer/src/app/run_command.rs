//! Runs the commands of the command table.

use super::Workbench;
use crate::{
    clipboard,
    command_palette::CommandPalette,
    commands::CommandId as Id,
    connect_picker::ConnectPicker,
    dialogs::ModalDialog,
    features::{
        inspector::InspectorMessage,
        review::{ProposalPresentation, ReviewMessage},
        terraform::TerraformMessage,
    },
    link_to::TraceLinkPicker,
    node_placement::container_at,
    panel_id::PanelId,
    panels::{managed_servers::AddServerMethod, notices::ToastTone},
    quick_add::QuickAdd,
    report_problem::ProblemReportDialog,
    saved_state::ThemeChoice,
    settings_page::SettingsPage,
    trace_links::end_of,
    view::{PickedPathPurpose, WindowAction},
    welcome::WelcomePage,
};
use authority::may_contain;
use canvas::Canvas;
use egui::{Context, ViewportCommand};
use shared_protocol::text::count_noun;
use shared_protocol::{
    BoardId, BoardKind, BoardPoint, Command, ElementId, GraphFragment, NodeId, NodeRef,
    command::{DistributeAxis, NodeAlignment},
    preview_wire::PreviewMode,
    requests::{Quit, RedoLast, ReportProblem, SaveFiles, UndoLast},
};

const NOTE: &str = "notes/sticky";
const ZOOM_STEP: f32 = 1.25;
const FIT_PADDING: f32 = 48.0;

impl Workbench {
    pub(super) fn run_command(&mut self, id: Id, context: &Context) {
        match id {
            Id::Welcome => self.overlays.welcome = Some(WelcomePage::default()),
            Id::OpenFolder => self.open_path_dialog(PickedPathPurpose::OpenWorkspace, context),
            Id::OpenExample => self.perform(WindowAction::open_example(), context),
            Id::StartDemo => self.start_demo(),
            Id::Save => self.save(context),
            Id::ExportBoard => self.export(context),
            Id::Quit => self.request(Quit {}, WindowAction::of_refusal),
            Id::Undo => self.request_undo(UndoLast {}, WindowAction::of_refusal),
            Id::Redo => self.request_undo(RedoLast {}, WindowAction::of_refusal),
            Id::Cut => {
                self.copy(context);
                self.delete();
            }
            Id::Copy => self.copy(context),
            // The pasted text arrives as a separate event.
            Id::Paste => context.send_viewport_cmd(ViewportCommand::RequestPaste),
            Id::Duplicate => {
                self.on_selected(|nodes| Command::Duplicate { nodes, offset: BoardPoint { x: 24, y: 24 } })
            }
            Id::Delete => self.delete(),
            Id::SelectAll => self.select_all(context),
            Id::Deselect => self.select(Default::default(), context),
            Id::Rename => self.rename(),
            Id::QuickAdd => self.quick_add(context),
            Id::ConnectTo => self.connect_to(),
            Id::LinkTo => self.link_to(),
            Id::AddNote => self.add_note(),
            Id::EnterContainer => self.enter_container(context),
            Id::LeaveContainer => self.leave_container(context),
            Id::AlignLeft => self.align(NodeAlignment::Left),
            Id::AlignRight => self.align(NodeAlignment::Right),
            Id::AlignTop => self.align(NodeAlignment::Top),
            Id::AlignBottom => self.align(NodeAlignment::Bottom),
            Id::AlignCentre => self.align(NodeAlignment::Centre),
            Id::AlignMiddle => self.align(NodeAlignment::Middle),
            Id::DistributeHorizontally => {
                self.on_selected(|nodes| Command::Distribute { nodes, along: DistributeAxis::Horizontal });
            }
            Id::DistributeVertically => {
                self.on_selected(|nodes| Command::Distribute { nodes, along: DistributeAxis::Vertical })
            }
            Id::Tidy => self.tidy_selection(),
            Id::Nudge(towards, reach) => self.nudge(towards.step(reach)),
            Id::NewBoard => {
                let kind =
                    self.view().and_then(|view| view.board_kind()).unwrap_or(BoardKind::Infrastructure);
                self.dialogs.open(ModalDialog::new_board(kind));
            }
            Id::RenameBoard => self.rename_board(),
            Id::RemoveBoard => {
                if let Some(board) = self.session.board {
                    self.dialogs.open(ModalDialog::RemoveBoard { board });
                }
            }
            Id::NewEntity
            | Id::EditEntity
            | Id::DeleteEntity
            | Id::OpenEntity
            | Id::SpecBack
            | Id::SpecForward
            | Id::DrawMap
            | Id::ShowOnMap
            | Id::Coverage
            | Id::Knowledge => self.run_spec_command(id, context),
            Id::ZoomIn | Id::ZoomOut | Id::ZoomFull | Id::ZoomToFit | Id::ZoomToSelection => {
                self.zoom(id, context)
            }
            Id::ToggleSide(side) => self.dock.toggle_side(side),
            Id::Panel(panel) => self.dock.toggle(panel),
            Id::ClosePanel => {
                if let Some(panel) = self.dock.closable() {
                    self.dock.close(panel);
                }
            }
            Id::ResetLayout => self.dock.reset(),
            Id::ToggleMinimap => self.settings.minimap = !self.settings.minimap,
            Id::LightTheme => self.settings.theme = ThemeChoice::Light,
            Id::DarkTheme => self.settings.theme = ThemeChoice::Dark,
            Id::HighContrastTheme => self.settings.theme = ThemeChoice::HighContrast,
            Id::SystemTheme => self.settings.theme = ThemeChoice::System,
            Id::CommandPalette => self.overlays.command_palette = Some(CommandPalette::default()),
            Id::Shortcuts => self.overlays.shortcuts = true,
            Id::ReportProblem => {
                self.overlays.report = Some(ProblemReportDialog::default());
                let read = WindowAction::ProblemReportRead;
                self.perform(WindowAction::request_then(ReportProblem {}, read), context);
            }
            Id::AddServer => self.add_server(AddServerMethod::Form),
            Id::ImportServers => self.add_server(AddServerMethod::Programs),
            Id::SearchRegistry => self.add_server(AddServerMethod::Registry),
            Id::SetupGuide => self.overlays.guide = true,
            Id::PreviewSelection
            | Id::PreviewInspect
            | Id::PreviewRestart
            | Id::PreviewStop
            | Id::PreviewClose => self.run_preview_command(id, context),
            Id::Run(operation) => self.deliver(TerraformMessage::Run(operation), context),
            Id::CancelRun => self.deliver(TerraformMessage::CancelRun, context),
            Id::ShowChanges => self.deliver(TerraformMessage::ShowChanges, context),
            Id::ImportTerraform => self.open_path_dialog(PickedPathPurpose::ImportTerraform, context),
            Id::Settings => self.overlays.settings = Some(SettingsPage::default()),
            Id::ReviewNext => self.deliver(ReviewMessage::Step { forwards: true }, context),
            Id::ReviewPrevious => self.deliver(ReviewMessage::Step { forwards: false }, context),
            Id::ReviewTick => self.deliver(ReviewMessage::Tick, context),
            Id::ReviewDecide => self.deliver(ReviewMessage::Decide, context),
            Id::ReviewPlan => self.deliver(ReviewMessage::ShowPlan, context),
            Id::ReviewNewest => self.deliver(ReviewMessage::OpenNewest, context),
            Id::ReviewBlink => self.deliver(ReviewMessage::Blink, context),
            Id::ReviewOverlay => self.deliver(ReviewMessage::SetLook(ProposalPresentation::Overlay), context),
            Id::ReviewSideBySide => {
                self.deliver(ReviewMessage::SetLook(ProposalPresentation::SideBySide), context)
            }
            Id::ReviewList => self.deliver(ReviewMessage::SetLook(ProposalPresentation::List), context),
            Id::CloseProposal => self.deliver(ReviewMessage::Close, context),
        }
    }

    /// Returns whether a toggle is on, for the marks in menus.
    pub(super) fn is_toggled(&self, id: Id) -> bool {
        match id {
            Id::ToggleSide(side) => self.dock.is_side_shown(side),
            Id::Panel(panel) => self.dock.is_in_front(panel),
            Id::ToggleMinimap => self.settings.minimap,
            Id::PreviewInspect => {
                let looked_at = self.view().and_then(|view| view.visible_preview);
                looked_at.is_some_and(|session| session.mode == PreviewMode::Inspect)
            }
            Id::ReviewOverlay => {
                self.review.is_reviewing() && self.review.look() == ProposalPresentation::Overlay
            }
            Id::ReviewSideBySide => self.review.look() == ProposalPresentation::SideBySide,
            Id::ReviewList => self.review.look() == ProposalPresentation::List,
            Id::LightTheme => self.settings.theme == ThemeChoice::Light,
            Id::DarkTheme => self.settings.theme == ThemeChoice::Dark,
            Id::HighContrastTheme => self.settings.theme == ThemeChoice::HighContrast,
            Id::SystemTheme => self.settings.theme == ThemeChoice::System,
            _ => false,
        }
    }

    pub(super) fn open_path_dialog(&mut self, purpose: PickedPathPurpose, context: &Context) {
        let root = self.replica.workspace().map_or("", |workspace| workspace.root.as_str());
        self.dialogs.open_path_dialog(purpose, root, context);
    }

    /// Saves, including text that is being typed in the inspector.
    fn save(&mut self, context: &Context) {
        self.deliver(InspectorMessage::CommitText, context);
        if self.dock.is_in_front(PanelId::Reader) {
            self.save_page();
        }
        self.perform(
            WindowAction::request_then(SaveFiles {}, |saved| match saved.files.len() {
                0 => WindowAction::notify("Saved", vec!["There were no unsaved changes.".to_owned()]),
                count => WindowAction::notify(format!("Saved {}", count_noun(count, "file")), Vec::new()),
            }),
            context,
        );
    }

    fn export(&mut self, context: &Context) {
        let Some(view) = self.view() else { return };
        let Some(board) = view.board() else { return };
        let purpose =
            PickedPathPurpose::Export { board: board.id, suggestion: format!("{}.png", board.name) };
        self.open_path_dialog(purpose, context);
    }

    fn copy(&mut self, context: &Context) {
        let Some(view) = self.view() else { return };
        if let Some(text) =
            clipboard::fragment(view.snapshot, &view.selected_nodes()).as_ref().and_then(clipboard::to_text)
        {
            context.copy_text(text);
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        let Some(fragment) = clipboard::from_text(text) else {
            let more = vec!["Copy nodes on a board first.".to_owned()];
            self.notices.show(ToastTone::Bad, "The clipboard contains no nodes.", more);
            return;
        };
        let Some(view) = self.view() else { return };
        let Some(board) = view.board() else { return };
        let pointer = self.shown_canvas(board.id).and_then(|canvas| canvas.pointer_board_position());
        let selected = view.selected_nodes();
        let inner = match (pointer, selected.as_slice()) {
            (Some(at), _) => container_at(view.snapshot, board.id, at),
            (None, [only]) => Some(*only),
            (None, _) => None,
        };
        let takes_all = |parent: Option<NodeId>| {
            roots(&fragment).all(|type_id| {
                let def = view.snapshot.registry().get(type_id);
                def.is_none_or(|def| may_contain(view.snapshot, board, parent, def).is_ok())
            })
        };
        let parent = view.snapshot.ancestors(inner).map(|node| node.id).find(|id| takes_all(Some(*id)));
        let origin = view.snapshot.origin_of(parent);
        let at = pointer.map(|at| BoardPoint { x: at.x - origin.x, y: at.y - origin.y });
        let command =
            Command::Paste { board: board.id.into(), parent: parent.map(NodeRef::Id), fragment, at };
        self.run(command);
    }

    fn delete(&mut self) {
        let Some(view) = self.view() else { return };
        let nodes = view.selected_nodes().into_iter().map(NodeRef::Id).collect();
        let command = Command::Remove { nodes, edges: view.selected_edges() };
        self.run(command);
    }

    fn select_all(&mut self, context: &Context) {
        let Some(view) = self.view() else { return };
        let Some(board) = view.board else { return };
        let nodes = view.snapshot.nodes_on(board).map(|node| ElementId::Node(node.id));
        let edges = view.snapshot.edges_on(board).map(|edge| ElementId::Edge(edge.id));
        let all = nodes.chain(edges).collect();
        self.select(all, context);
    }

    fn rename(&mut self) {
        let Some(view) = self.view() else { return };
        let (nodes, board) = (view.selected_nodes(), view.board);
        if let ([node], Some(canvas)) = (&nodes[..], board.and_then(|board| self.shown_canvas_mut(board))) {
            canvas.rename(*node);
        }
    }

    fn rename_board(&mut self) {
        let Some(board) = self.view().and_then(|view| view.board().cloned()) else { return };
        let (title, name) = (board.title, board.name.to_string());
        self.dialogs.open(ModalDialog::RenameBoard { board: board.id, title, name });
    }

    fn quick_add(&mut self, context: &Context) {
        let Some(canvas) = self.session.board.and_then(|board| self.shown_canvas(board)) else { return };
        let middle = context.content_rect().center() - egui::vec2(150.0, 120.0);
        let (screen, at) = match (context.pointer_latest_pos(), canvas.pointer_board_position()) {
            (Some(screen), Some(at)) => (screen, at),
            _ => (middle, canvas.centre()),
        };
        self.overlays.quick_add = Some(QuickAdd::new(screen, at, None));
    }

    /// Connects the selected node to another one from a list.
    fn connect_to(&mut self) {
        let Some(view) = self.view() else { return };
        let [from] = view.selected_nodes()[..] else {
            let more = vec!["Select the node to connect from.".to_owned()];
            return self.notices.show(ToastTone::Bad, "Select exactly one node to connect.", more);
        };
        if let Some(from) = view.snapshot.node(from) {
            self.overlays.connect_to = Some(ConnectPicker::new(view.snapshot, from));
        }
    }

    /// Links the selected node to an element of another domain from a list.
    fn link_to(&mut self) {
        let Some(view) = self.view() else { return };
        let [from] = view.selected_nodes()[..] else {
            let more = vec!["Select the node to link from.".to_owned()];
            return self.notices.show(ToastTone::Bad, "Select exactly one node to link.", more);
        };
        let popup = TraceLinkPicker::new(&view, end_of(&view, from));
        self.overlays.link_to = Some(popup);
    }

    /// Adds a note at the pointer and opens it for writing.
    fn add_note(&mut self) {
        let Some(canvas) = self.session.board.and_then(|board| self.shown_canvas(board)) else { return };
        let at = canvas.pointer_board_position().unwrap_or_else(|| canvas.centre());
        let Ok(note) = NOTE.parse() else { return };
        match self.add_at(&note, at) {
            Ok(Some(command)) => {
                self.change(command, |result| {
                    Some(result.map_or_else(WindowAction::Refuse, |applied| {
                        WindowAction::WriteNote(applied.created)
                    }))
                })
            }
            Ok(None) => {}
            Err(refusal) => self.notices.refuse(&refusal),
        }
    }

    /// Selects the first child of each selected node, or shows a node without children in the inspector.
    fn enter_container(&mut self, context: &Context) {
        let Some(view) = self.view() else { return };
        let Some(board) = view.board else { return };
        let inner: Vec<NodeId> = view
            .selected_nodes()
            .into_iter()
            .filter_map(|node| {
                let place = |id: &NodeId| view.snapshot.placement(*id).map(|place| (place.y, place.x, *id));
                view.snapshot.children(board, Some(node)).min_by_key(place)
            })
            .collect();
        if inner.is_empty() {
            self.dock.show(PanelId::Inspector);
        }
        self.go_to(inner, context);
    }

    fn leave_container(&mut self, context: &Context) {
        let Some(view) = self.view() else { return };
        let nodes = view.selected_nodes().into_iter();
        let outer = nodes.filter_map(|id| view.snapshot.node(id).and_then(|node| node.parent)).collect();
        self.go_to(outer, context);
    }

    /// Selects these nodes, if there are any, and brings them into view.
    fn go_to(&mut self, nodes: Vec<NodeId>, context: &Context) {
        if !nodes.is_empty() {
            self.select(nodes.iter().copied().map(ElementId::Node).collect(), context);
            self.session.reveal = nodes;
        }
    }

    fn align(&mut self, to: NodeAlignment) {
        self.on_selected(|nodes| Command::Align { nodes, to });
    }

    fn on_selected(&mut self, command: impl FnOnce(Vec<NodeRef>) -> Command) {
        let nodes: Vec<NodeRef> = self.outermost_selected().into_iter().map(NodeRef::Id).collect();
        if !nodes.is_empty() {
            self.run(command(nodes));
        }
    }

    /// Tidies the selection, or all nodes at the top level of the board.
    fn tidy_selection(&mut self) {
        let Some(view) = self.view() else { return };
        let Some(board) = view.board else { return };
        let selected = self.outermost_selected();
        let nodes: Vec<NodeId> = if selected.len() > 1 {
            selected
        } else {
            view.snapshot.children(board, selected.first().copied()).collect()
        };
        if !nodes.is_empty() {
            self.run(Command::Tidy { nodes: nodes.into_iter().map(NodeRef::Id).collect() });
        }
    }

    /// The canvas of a board, of the workspace or of the proposal that is edited.
    fn shown_canvas(&self, board: BoardId) -> Option<&Canvas> {
        match self.session.review.edited_workspace() {
            Some(_) => self.review.canvases.get(&board),
            None => self.canvases.get(&board),
        }
    }

    fn shown_canvas_mut(&mut self, board: BoardId) -> Option<&mut Canvas> {
        match self.session.review.edited_workspace().cloned() {
            Some(edited) => Some(self.review.canvas(board, &edited)),
            None => self.canvases.get_mut(&board),
        }
    }

    fn zoom(&mut self, id: Id, context: &Context) {
        let view = super::build_view(&self.replica, &self.session, &self.theme, self.badge_counts());
        let Some(view) = view else { return };
        let Some(board) = view.board else { return };
        let Some(canvas) = self.canvases.get_mut(&board) else { return };
        let scene = view.scene(board);
        match id {
            Id::ZoomIn => canvas.zoom_by(ZOOM_STEP),
            Id::ZoomOut => canvas.zoom_by(1.0 / ZOOM_STEP),
            Id::ZoomFull => canvas.set_zoom(1.0),
            Id::ZoomToSelection => canvas.zoom_to(&scene, &view.selected_nodes()),
            _ => canvas.zoom_to_fit(&scene, FIT_PADDING),
        }
        self.presence_changed(context);
    }
}

/// The types of the outermost nodes of a fragment.
fn roots(fragment: &GraphFragment) -> impl Iterator<Item = &shared_protocol::TypeId> {
    fragment.0.nodes.iter().filter(|node| node.parent.is_none()).map(|node| &node.type_id)
}
