//! The workbench: draws one frame after another. Holds the state of the window; everything else is in the replica.

mod canvas_area;
mod dispatch;
mod keys;
mod layout;
mod managed_servers;
mod messages;
mod nudge;
mod perform;
mod previews;
mod proposal_board;
mod remember;
mod run_command;
mod specs;
mod terraform;
mod tour;

use crate::{
    command_palette::CommandPalette,
    connect_picker::ConnectPicker,
    context_menu::ContextMenu,
    dialogs::OpenDialogs,
    dock::{Dock, DockLayout},
    features::{
        inspector::InspectorFeature,
        review::{ProposedWorkspace, ReviewFeature},
        terraform::TerraformFeature,
    },
    link_to::TraceLinkPicker,
    main_connection::MainConnection,
    main_request::ResponseHandler,
    panel_id::PanelId,
    panels::{PanelStates, notices::Toasts},
    presence::PresenceDebounce,
    quick_add::QuickAdd,
    replica::{Replica, ReplicatedWorkspace},
    report_problem::ProblemReportDialog,
    saved_state::WindowSettings,
    settings_page::SettingsPage,
    specs::NewEntityPicker,
    terraform_answers::TerraformAnswers,
    tour::Tour,
    view::{ActionQueue, FrameView, SpecHistory},
    welcome::WelcomePage,
};
use canvas::{Canvas, theme::WorkbenchTheme};
use dispatch::{CommandQueue, WindowCommand};
use egui::{Context, Ui, ViewportCommand};
use nudge::NudgeQueue;
use shared_protocol::{
    BoardId, ElementId, NodeId, OverrideKey, Revision,
    messages::{DesignerActivity, ViewRect},
    preview_sessions::PreviewId,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

/// The designer's place: board, selection, pages and previews.
#[derive(Default)]
pub(crate) struct WindowSession {
    pub(crate) board: Option<BoardId>,
    pub(crate) selection: BTreeSet<ElementId>,
    pub(crate) history: SpecHistory,
    /// Nodes to bring into view once the canvas has its size.
    reveal: Vec<NodeId>,
    created: CreatedElements,
    pub(crate) terraform: TerraformAnswers,
    review: ReviewMode,
    visible_preview: Option<PreviewId>,
    /// The preview panel was in front in this frame.
    previewing: bool,
    /// The inspector sets overrides while a preview is visible.
    overriding: bool,
    /// The last selection in a component preview.
    picked: Option<(PreviewId, String)>,
    /// Overrides that could not be saved to their source, and the reasons.
    unsaved: BTreeMap<OverrideKey, String>,
    /// Requested by the panels of this frame.
    actions: ActionQueue,
}

/// Elements that a command created, selected as soon as the replica has them.
#[derive(Default)]
enum CreatedElements {
    #[default]
    None,
    Select(Vec<ElementId>),
    /// A note, selected and opened for writing.
    Write(Vec<ElementId>),
}

/// The relation of the window to the open proposal.
#[derive(Default)]
enum ReviewMode {
    #[default]
    Off,
    Looking,
    /// The reviewer edits the proposal: the proposed state is shown instead of the workspace.
    Editing(Arc<ProposedWorkspace>),
}

impl ReviewMode {
    fn edited_workspace(&self) -> Option<&Arc<ProposedWorkspace>> {
        if let Self::Editing(edited) = self { Some(edited) } else { None }
    }
}

#[derive(Default)]
struct PopupOverlays {
    quick_add: Option<QuickAdd>,
    connect_to: Option<ConnectPicker>,
    link_to: Option<TraceLinkPicker>,
    new_entity: Option<NewEntityPicker>,
    context_menu: Option<ContextMenu>,
    command_palette: Option<CommandPalette>,
    shortcuts: bool,
    guide: bool,
    report: Option<ProblemReportDialog>,
    settings: Option<SettingsPage>,
    welcome: Option<WelcomePage>,
}

impl PopupOverlays {
    /// Returns whether a popup has the keyboard.
    fn take_keys(&self) -> bool {
        self.quick_add.is_some()
            || self.connect_to.is_some()
            || self.link_to.is_some()
            || self.new_entity.is_some()
            || self.context_menu.is_some()
            || self.command_palette.is_some()
            || self.shortcuts
            || self.guide
            || self.report.is_some()
            || self.settings.is_some()
            || self.welcome.is_some()
    }
}

pub struct Workbench {
    link: MainConnection,
    loss_reason: Arc<OnceLock<Option<String>>>,
    replica: Replica,
    session: WindowSession,
    canvases: BTreeMap<BoardId, Canvas>,
    /// Boards that were shown, and so have a viewport.
    fitted: BTreeSet<BoardId>,
    canvas_area: Option<ViewRect>,
    activity: DesignerActivity,
    theme: WorkbenchTheme,
    settings: WindowSettings,
    /// As last sent to main.
    sent_settings: WindowSettings,
    /// Only settings changed here are saved, so that an unreadable file is not overwritten with defaults.
    has_changed_settings: bool,
    dock: Dock,
    /// As last sent to main.
    sent_layout: DockLayout,
    panels: PanelStates,
    inspector: InspectorFeature,
    review: ReviewFeature,
    terraform: TerraformFeature,
    overlays: PopupOverlays,
    tour: Option<Tour>,
    dialogs: OpenDialogs,
    notices: Toasts,
    /// What becomes of the response to each request.
    pending: BTreeMap<u64, ResponseHandler<WindowCommand>>,
    nudge: NudgeQueue,
    presence: PresenceDebounce,
    counts: Option<(Revision, Option<BoardId>, (usize, usize))>,
    title: String,
    /// The workspace that this window was set up for.
    opened_root: Option<String>,
    /// A widget had the keyboard in the last frame: Esc releases it before a command sees the key.
    had_focus: bool,
    /// A person closed the window and main was notified.
    is_quitting: bool,
}

impl Workbench {
    pub fn new(context: &Context, link: MainConnection) -> Self {
        context.options_mut(|options| {
            // The canvas and the menus use these keys.
            options.quit_shortcuts.clear();
            options.zoom_with_keyboard = false;
        });
        let workbench = Self {
            link,
            loss_reason: Arc::default(),
            replica: Replica::default(),
            session: WindowSession::default(),
            canvases: BTreeMap::new(),
            fitted: BTreeSet::new(),
            canvas_area: None,
            activity: DesignerActivity::Nothing,
            theme: WorkbenchTheme::light(),
            settings: WindowSettings::default(),
            sent_settings: WindowSettings::default(),
            has_changed_settings: false,
            dock: Dock::default(),
            sent_layout: DockLayout::default(),
            panels: PanelStates::default(),
            inspector: InspectorFeature::default(),
            review: ReviewFeature::default(),
            terraform: TerraformFeature::default(),
            overlays: PopupOverlays::default(),
            tour: None,
            dialogs: OpenDialogs::default(),
            notices: Toasts::default(),
            pending: BTreeMap::new(),
            nudge: NudgeQueue::default(),
            presence: PresenceDebounce::default(),
            counts: None,
            title: String::new(),
            opened_root: None,
            had_focus: false,
            is_quitting: false,
        };
        workbench.apply_settings(context);
        workbench
    }

    /// Sets where to report the reason that the workspace was lost.
    #[must_use]
    pub fn reporting_to(mut self, lost: Arc<OnceLock<Option<String>>>) -> Self {
        self.loss_reason = lost;
        self
    }

    pub fn show_ui(&mut self, ui: &mut Ui) {
        let context = ui.ctx().clone();
        self.follow_theme(&context);
        self.count();
        let mut queue = CommandQueue::default();
        let had_popup = self.has_popup();
        self.update_review_mode(&context);
        self.session.previewing = self.dock.is_in_front(PanelId::Preview);
        self.commit_pending_input(&context, &mut queue);
        self.follow_terraform(&context, &mut queue);
        self.keys(&context, &mut queue);
        self.layout_ui(ui, &mut queue);
        self.overlays_ui(&context, &mut queue);
        self.receive_dialogs(&mut queue);
        self.execute(queue, &context);
        self.send_spec_requests();
        self.schedule_presence_if_changed(&context);
        self.update_activity(&context, had_popup);
        self.send_presence(&context);
        self.title(&context);
        if self.link.has_unsent() {
            context.request_repaint();
        }
        self.had_focus = context.memory(|memory| memory.focused().is_some());
    }

    fn workspace(&self) -> Option<&ReplicatedWorkspace> {
        self.replica.workspace()
    }

    fn view(&self) -> Option<FrameView<'_>> {
        build_view(&self.replica, &self.session, &self.theme, self.badge_counts())
    }

    fn badge_counts(&self) -> (usize, usize) {
        self.counts.map_or((0, 0), |(_, _, counts)| counts)
    }

    /// Follows the system theme unless a person chose one.
    fn follow_theme(&mut self, context: &Context) {
        let dark = context.theme() == egui::Theme::Dark;
        self.theme = if dark { self.dark_theme() } else { WorkbenchTheme::light() };
    }

    /// Counts once per revision, because it walks the board.
    fn count(&mut self) {
        let Some(workspace) = self.replica.workspace() else { return };
        let (revision, board) = (workspace.snapshot.revision(), self.session.board);
        if self.counts.is_some_and(|(at, of, _)| (at, of) == (revision, board)) {
            return;
        }
        let counts = board.map_or((0, 0), |board| {
            (workspace.snapshot.nodes_on(board).count(), workspace.snapshot.edges_on(board).count())
        });
        self.counts = Some((revision, board, counts));
    }

    fn commit_pending_input(&mut self, context: &Context, queue: &mut CommandQueue) {
        let view = build_view(&self.replica, &self.session, &self.theme, self.badge_counts());
        if let Some(view) = view {
            queue.feature(&view, context, |cx| self.inspector.commit_unfocused_field(cx));
        }
    }

    fn receive_dialogs(&mut self, queue: &mut CommandQueue) {
        let root = self.replica.workspace().map_or("", |workspace| workspace.root.as_str());
        if let Some(action) = self.dialogs.receive(root) {
            queue.act(action);
        }
    }

    fn title(&mut self, context: &Context) {
        let title = match self.workspace() {
            Some(workspace) => format!("Draftboard — {}", workspace.name),
            None => "Draftboard".to_owned(),
        };
        if title != self.title {
            context.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }
}

/// Builds a view from some fields, so that the others can be changed meanwhile.
fn build_view<'a>(
    replica: &'a Replica,
    session: &'a WindowSession,
    theme: &'a WorkbenchTheme,
    counts: (usize, usize),
) -> Option<FrameView<'a>> {
    let workspace = replica.workspace()?;
    let edited = session.review.edited_workspace().map(Arc::as_ref);
    let sessions = &replica.previews.sessions;
    let looked_at =
        sessions.iter().find(|other| Some(other.id) == session.visible_preview).or(sessions.last());
    Some(FrameView {
        workspace,
        root: &workspace.root,
        name: &workspace.name,
        snapshot: edited.map_or(&workspace.snapshot, |edited| &edited.after),
        problems: edited.map_or(&workspace.problems, |edited| &edited.problems),
        problem_counts: edited.map_or(&workspace.problem_counts, |edited| &edited.problem_counts),
        links: &replica.links,
        review: &replica.review,
        managed_servers: &replica.managed_servers,
        is_reviewing: matches!(session.review, ReviewMode::Looking),
        is_proposed: edited.is_some(),
        status: &workspace.status,
        mcp: &replica.mcp,
        bundles: &replica.bundles,
        history: &session.history,
        terraform: &replica.terraform,
        terraform_answers: &session.terraform,
        previews: &replica.previews,
        visible_preview: looked_at,
        is_previewing: session.previewing,
        is_overriding: session.overriding && session.previewing && looked_at.is_some(),
        unsaved: &session.unsaved,
        board: session.board,
        selection: &session.selection,
        theme,
        actions: &session.actions,
        counts,
    })
}

impl eframe::App for Workbench {
    fn logic(&mut self, context: &Context, _frame: &mut eframe::Frame) {
        self.receive(context);
        if !self.is_quitting && context.input(|input| input.viewport().close_requested()) {
            self.leave();
        }
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.show_ui(ui);
    }

    fn clear_color(&self, _visuals: &egui::Visuals) -> [f32; 4] {
        self.theme.surface_app.to_normalized_gamma_f32()
    }
}
