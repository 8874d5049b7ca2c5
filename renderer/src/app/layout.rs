//! The layout of the window: top bars, dock, status bar and popups.

use super::{Workbench, build_view, dispatch::CommandQueue};
use crate::{
    agents::guide::setup_guide_ui,
    commands::CommandId,
    dock::DockContent,
    features::{review::codes_ui, terraform::cost_ui},
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
            menu_bar_ui(ui, theme, view.as_ref(), |id| self.is_toggled(id), &self.session.actions);
        });
        let Some(view) = view else { return };
        let tabs = frame(theme, Margin { left: 8, right: 8, top: 2, bottom: 0 });
        Panel::top("board tabs").frame(tabs).show(ui, |ui| board_tabs_ui(ui, &view));
        if !view.review.codes.is_empty() {
            Panel::top("codes").frame(Frame::NONE).show(ui, |ui| {
                let context = ui.ctx().clone();
                queue.feature(&view, &context, |cx| codes_ui(ui, cx));
            });
        }
        let sound = view.snapshot.registry().problems().is_empty();
        if !view.status.held.is_empty() || !view.status.notices.is_empty() || !sound {
            Panel::top("banner").frame(Frame::new().fill(theme.border)).show(ui, |ui| banner_ui(ui, &view));
        }
        queue.collect(view.actions);
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
                queue.feature(&view, &context, |cx| status_bar_ui(ui, &view, zoom, |ui| cost_ui(ui, cx)));
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
        self.tour_ui(context);
        self.popups_ui(context);
        queue.collect(&self.session.actions);
        let view = build_view(&self.replica, &self.session, &self.theme, self.badge_counts());
        if let Some(view) = view {
            queue.feature(&view, context, |cx| self.terraform.dialog_ui(cx));
        }
    }

    fn popups_ui(&mut self, context: &Context) {
        let actions = &self.session.actions;
        let counts = self.badge_counts();
        let view = build_view(&self.replica, &self.session, &self.theme, counts);
        let overlays = &mut self.overlays;
        if let Some(view) = &view {
            let specs = &mut self.panels.specs;
            close_unless(&mut overlays.quick_add, |popup| popup.show_ui(context, view));
            close_unless(&mut overlays.connect_to, |popup| popup.show_ui(context, view));
            close_unless(&mut overlays.link_to, |popup| popup.show_ui(context, view, specs));
            close_unless(&mut overlays.new_entity, |popup| popup.show_ui(context, view));
            close_unless(&mut overlays.context_menu, |popup| popup.show_ui(context, view));
            close_unless(&mut overlays.welcome, |page| page.show_ui(context, view));
            self.dialogs.show_ui(context, view);
        }
        let specs = &mut self.panels.specs;
        close_unless(&mut overlays.command_palette, |palette| {
            palette.show_ui(context, view.as_ref(), specs, &self.theme, actions)
        });
        if overlays.guide {
            overlays.guide = setup_guide_ui(context, &self.theme);
        }
        close_unless(&mut overlays.report, |report| report.show_ui(context, &self.theme));
        if overlays.shortcuts {
            overlays.shortcuts = shortcuts_sheet_ui(context, &self.theme);
        }
        close_unless(&mut overlays.settings, |page| {
            let mcp = &self.replica.mcp;
            page.show_ui(context, &self.theme, &mut self.settings, mcp, view.as_ref(), actions)
        });
        let card = self.tour.as_ref().and_then(Tour::card_area);
        self.notices.show_ui(context, &self.theme, STATUS_HEIGHT + 12.0, card, actions);
    }
}

/// Closes a popup when showing it returns `false`.
fn close_unless<T>(popup: &mut Option<T>, show_ui: impl FnOnce(&mut T) -> bool) {
    popup.take_if(|shown| !show_ui(shown));
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
                workbench.panels.specs.brief_ui(ui, &view);
                queue.feature(&view, context, |cx| workbench.inspector.panel_ui(ui, cx));
            }
            PanelId::Terraform => {
                queue.feature(&view, context, |cx| workbench.terraform.panel.show_ui(ui, cx));
            }
            PanelId::Hcl => queue.feature(&view, context, |cx| workbench.terraform.hcl.show_ui(ui, cx)),
            PanelId::Review => queue.feature(&view, context, |cx| workbench.review.queue_ui(ui, cx)),
            PanelId::Proposal => queue.feature(&view, context, |cx| workbench.review.proposal_ui(ui, cx)),
            panel => workbench.panels.show_ui(panel, ui, &view),
        }
        queue.collect(view.actions);
    }

    fn title(&self, panel: PanelId) -> String {
        PanelStates::title(panel, self.workbench.view().as_ref())
    }

    fn close(&mut self, panel: PanelId) {
        self.queue.act(WindowAction::ClosePanel(panel));
    }

    fn fold(&mut self, panel: PanelId) {
        self.queue.act(WindowAction::Do(CommandId::Panel(panel)));
    }

    fn move_to(&mut self, panel: PanelId, side: PanelSide) {
        self.queue.act(WindowAction::MovePanel(panel, side));
    }
}
