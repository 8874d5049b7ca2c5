//! The layout of the window: top bars, dock, status bar and popups.

use super::{Workbench, build_view, dispatch::CommandQueue};
use crate::{
    agents::guide::setup_guide_ui,
    commands::CommandId,
    dock::DockContent,
    features::{review::codes_ui, terraform::cost_ui},
    frame::FeatureContext,
    panel_id::{PanelId, PanelSide},
    panels::{
        PanelStates,
        menu_bar::{board_tabs_ui, menu_bar_ui},
        notices::banner_ui,
        status_bar::status_bar_ui,
    },
    shortcuts_sheet::shortcuts_sheet_ui,
    tour::Tour,
    view::WindowAction,
    widgets::empty_state_ui,
};
use canvas::theme::WorkbenchTheme;
use egui::{Context, Frame, Margin, Panel, Ui};

const STATUS_HEIGHT: f32 = 28.0;

fn frame(theme: &WorkbenchTheme, margin: Margin) -> Frame {
    Frame::new().fill(theme.surface_panel).inner_margin(margin)
}

impl Workbench {
    pub(super) fn layout_ui(&mut self, ui: &mut Ui, queue: &mut CommandQueue) {
        self.top_ui(ui, queue);
        if self.replica.workspace().is_none() {
            let theme = &self.theme;
            egui::CentralPanel::default().frame(Frame::new().fill(theme.surface_app)).show(ui, |ui| {
                ui.add_space(ui.available_height() * 0.35);
                empty_state_ui(ui, theme, "Opening the workspace…", "This takes a moment.");
            });
            return;
        }
        self.status_ui(ui, queue);
        egui::CentralPanel::no_frame().show(ui, |ui| self.dock_ui(ui, queue));
    }

    fn top_ui(&mut self, ui: &mut Ui, queue: &mut CommandQueue) {
        let theme = &self.theme;
        let view = build_view(&self.replica, &self.session, theme, self.badge_counts());
        let bar = frame(theme, Margin { left: 8, right: 8, top: 4, bottom: 0 });
        Panel::top("menu bar").frame(bar).show_separator_line(false).show(ui, |ui| {
            queue.actions(|actions| menu_bar_ui(ui, theme, view.as_ref(), |id| self.is_toggled(id), actions));
        });
        let Some(view) = view else { return };
        let tabs = frame(theme, Margin { left: 8, right: 8, top: 2, bottom: 0 });
        Panel::top("board tabs")
            .frame(tabs)
            .show(ui, |ui| queue.actions(|actions| board_tabs_ui(ui, &view, actions)));
        if !view.review.codes.is_empty() {
            Panel::top("codes").frame(Frame::NONE).show(ui, |ui| {
                let context = ui.ctx().clone();
                queue.feature(&view, &context, |cx| codes_ui(ui, cx));
            });
        }
        let sound = view.snapshot.registry().problems().is_empty();
        if !view.status.held.is_empty() || !view.status.notices.is_empty() || !sound {
            Panel::top("banner")
                .frame(Frame::new().fill(theme.border))
                .show(ui, |ui| queue.actions(|actions| banner_ui(ui, &view, actions)));
        }
    }

    fn status_ui(&mut self, ui: &mut Ui, queue: &mut CommandQueue) {
        let theme = &self.theme;
        let Some(view) = build_view(&self.replica, &self.session, theme, self.badge_counts()) else { return };
        let zoom =
            view.board.and_then(|board| self.canvases.get(&board)).map(|canvas| canvas.viewport().zoom);
        Panel::bottom("status bar")
            .frame(frame(theme, Margin::symmetric(10, 0)))
            .exact_size(STATUS_HEIGHT)
            .show(ui, |ui| {
                let context = ui.ctx().clone();
                queue.sender(|commands| {
                    let cx = FeatureContext { view: &view, egui: &context, commands };
                    commands.with_actions(|actions| {
                        status_bar_ui(ui, &view, zoom, |ui| cost_ui(ui, &cx), actions);
                    });
                });
            });
    }

    fn dock_ui(&mut self, ui: &mut Ui, queue: &mut CommandQueue) {
        let theme = self.theme.clone();
        // Taken out while it draws the panels, which belong to the same workbench.
        let mut dock = std::mem::take(&mut self.dock);
        dock.show_ui(ui, &theme, &mut DockedPanels { workbench: self, queue });
        self.dock = dock;
    }

    pub(super) fn overlays_ui(&mut self, context: &Context, queue: &mut CommandQueue) {
        queue.actions(|actions| self.tour_ui(context, actions));
        queue.actions(|actions| self.popups_ui(context, actions));
        let view = build_view(&self.replica, &self.session, &self.theme, self.badge_counts());
        if let Some(view) = view {
            queue.feature(&view, context, |cx| self.terraform.dialog_ui(cx));
        }
    }

    fn popups_ui(&mut self, context: &Context, actions: &mut Vec<WindowAction>) {
        let counts = self.badge_counts();
        let view = build_view(&self.replica, &self.session, &self.theme, counts);
        let overlays = &mut self.overlays;
        if let Some(view) = &view {
            let done = |open: bool| !open;
            if overlays.quick_add.as_mut().is_some_and(|popup| done(popup.show_ui(context, view, actions))) {
                overlays.quick_add = None;
            }
            if overlays.connect_to.as_mut().is_some_and(|popup| done(popup.show_ui(context, view, actions))) {
                overlays.connect_to = None;
            }
            let specs = &mut self.panels.specs;
            let link_to = overlays.link_to.as_mut();
            if link_to.is_some_and(|popup| done(popup.show_ui(context, view, specs, actions))) {
                overlays.link_to = None;
            }
            if overlays.new_entity.as_mut().is_some_and(|popup| done(popup.show_ui(context, view, actions))) {
                overlays.new_entity = None;
            }
            if overlays.context_menu.as_mut().is_some_and(|popup| done(popup.show_ui(context, view, actions)))
            {
                overlays.context_menu = None;
            }
            let welcome = overlays.welcome.as_mut();
            if welcome.is_some_and(|welcome| !welcome.show_ui(context, view, actions)) {
                overlays.welcome = None;
            }
            self.dialogs.show_ui(context, view, actions);
        }
        let palette = overlays.command_palette.as_mut();
        let specs = &mut self.panels.specs;
        if palette
            .is_some_and(|palette| !palette.show_ui(context, view.as_ref(), specs, &self.theme, actions))
        {
            overlays.command_palette = None;
        }
        if overlays.guide {
            overlays.guide = setup_guide_ui(context, &self.theme);
        }
        if overlays.report.as_mut().is_some_and(|report| !report.show_ui(context, &self.theme)) {
            overlays.report = None;
        }
        if overlays.shortcuts {
            overlays.shortcuts = shortcuts_sheet_ui(context, &self.theme);
        }
        if overlays.settings.as_mut().is_some_and(|page| {
            let mcp = self.replica.mcp();
            !page.show_ui(context, &self.theme, &mut self.settings, mcp, view.as_ref(), actions)
        }) {
            overlays.settings = None;
        }
        let card = self.tour.as_ref().and_then(Tour::card_area);
        self.notices.show_ui(context, &self.theme, STATUS_HEIGHT + 12.0, card, actions);
    }
}

/// The panels as content of the dock.
struct DockedPanels<'a> {
    workbench: &'a mut Workbench,
    queue: &'a mut CommandQueue,
}

impl DockContent for DockedPanels<'_> {
    fn panel_ui(&mut self, panel: PanelId, ui: &mut Ui) {
        let Self { workbench, queue } = self;
        if panel == PanelId::Canvas {
            return workbench.board_ui(ui, queue);
        }
        let counts = workbench.badge_counts();
        let view = build_view(&workbench.replica, &workbench.session, &workbench.theme, counts);
        let Some(view) = view else { return };
        let context = &ui.ctx().clone();
        match panel {
            PanelId::Inspector => {
                queue.actions(|actions| workbench.panels.specs.brief_ui(ui, &view, actions));
                queue.feature(&view, context, |cx| workbench.inspector.panel_ui(ui, cx));
            }
            PanelId::Terraform => {
                queue.feature(&view, context, |cx| workbench.terraform.panel_ui(ui, cx));
            }
            PanelId::Hcl => queue.feature(&view, context, |cx| workbench.terraform.hcl_ui(ui, cx)),
            PanelId::Review => queue.feature(&view, context, |cx| workbench.review.queue_ui(ui, cx)),
            PanelId::Proposal => queue.feature(&view, context, |cx| workbench.review.proposal_ui(ui, cx)),
            panel => queue.actions(|actions| workbench.panels.show_ui(panel, ui, &view, actions)),
        }
    }

    fn title(&self, panel: PanelId) -> String {
        PanelStates::title(panel, self.workbench.view().as_ref())
    }

    fn close(&mut self, panel: PanelId) {
        self.queue.push_action(WindowAction::ClosePanel(panel));
    }

    fn fold(&mut self, panel: PanelId) {
        self.queue.push_action(WindowAction::Do(CommandId::Panel(panel)));
    }

    fn move_to(&mut self, panel: PanelId, side: PanelSide) {
        self.queue.push_action(WindowAction::MovePanel(panel, side));
    }
}
