//! Where the panels stand.

use super::{Workbench, view_of};
use crate::{
    panels::{
        BottomTab, LeftTab, PanelSize,
        menu_bar::{board_tabs_ui, menu_bar_ui},
        notices::banner_ui,
        status_bar::status_bar_ui,
    },
    remembered::{BOTTOM_SIZES, INSPECTOR_SIZES, LEFT_SIZES},
    shortcuts_sheet::shortcuts_sheet_ui,
    view::Action,
    widgets::{close_button_ui, empty_state_ui, tab_ui},
};
use canvas::theme::Theme;
use egui::{Context, Frame, Margin, Panel, Ui, Vec2, containers::panel::PanelState};

const STATUS_HEIGHT: f32 = 28.0;
const NARROW: f32 = 340.0;
const TABS: [(LeftTab, &str); 2] = [(LeftTab::Palette, "Palette"), (LeftTab::Outline, "Outline")];

fn frame(theme: &Theme, margin: Margin) -> Frame {
    Frame::new().fill(theme.surface_panel).inner_margin(margin)
}

/// Notes how large a panel stands there once it has been drawn.
fn see(ui: &Ui, salt: (&str, u32), size: &mut PanelSize, along: impl Fn(Vec2) -> f32) {
    if let Some(panel) = PanelState::load(ui.ctx(), ui.scope_id().with_salt(egui::IdSalt::new(salt))) {
        size.see(along(panel.size()), ui.ctx().content_rect().size());
    }
}

impl Workbench {
    pub(super) fn layout_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        self.top_ui(ui, actions);
        if self.replica.workspace().is_none() {
            let theme = &self.theme;
            egui::CentralPanel::default().frame(Frame::new().fill(theme.surface_app)).show(ui, |ui| {
                ui.add_space(ui.available_height() * 0.35);
                empty_state_ui(ui, theme, "Opening the workspace…", "This takes a moment.");
            });
            return;
        }
        self.status_ui(ui, actions);
        self.bottom_ui(ui, actions);
        self.left_ui(ui, actions);
        self.right_ui(ui, actions);
        egui::CentralPanel::no_frame().show(ui, |ui| self.canvas_ui(ui, actions));
    }

    fn top_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let theme = &self.theme;
        let view = view_of(&self.replica, &self.session, theme, self.counted());
        let bar = frame(theme, Margin { left: 8, right: 8, top: 4, bottom: 0 });
        Panel::top("menu bar").frame(bar).show_separator_line(false).show(ui, |ui| {
            menu_bar_ui(ui, theme, view.as_ref(), |id| self.is_on(id), actions);
        });
        let Some(view) = view else { return };
        let tabs = frame(theme, Margin { left: 8, right: 8, top: 2, bottom: 0 });
        Panel::top("board tabs").frame(tabs).show(ui, |ui| board_tabs_ui(ui, &view, actions));
        if !view.status.held.is_empty() || !view.status.notices.is_empty() {
            Panel::top("banner")
                .frame(Frame::new().fill(theme.border))
                .show(ui, |ui| banner_ui(ui, &view, actions));
        }
    }

    fn status_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let theme = &self.theme;
        let Some(view) = view_of(&self.replica, &self.session, theme, self.counted()) else { return };
        let zoom =
            view.board.and_then(|board| self.canvases.get(&board)).map(|canvas| canvas.viewport().zoom);
        Panel::bottom("status bar")
            .frame(frame(theme, Margin::symmetric(10, 0)))
            .exact_size(STATUS_HEIGHT)
            .show(ui, |ui| status_bar_ui(ui, &view, zoom, actions));
    }

    fn bottom_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let (theme, counts) = (&self.theme, self.counted());
        let Some(view) = view_of(&self.replica, &self.session, theme, counts) else { return };
        let panels = &mut self.panels;
        let (tab, log, problem_list) = (&mut panels.bottom_tab, &mut panels.log, &mut panels.problems);
        let mut close = false;
        let content = |ui: &mut Ui| {
            ui.take_available_space();
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                let count = view.problems.errors() + view.problems.warnings();
                let problems = if count == 0 { "Problems".to_owned() } else { format!("Problems ({count})") };
                for (each, text) in [(BottomTab::Problems, problems.as_str()), (BottomTab::Log, "Log")] {
                    if tab_ui(ui, theme, text, *tab == each).clicked() {
                        *tab = each;
                    }
                }
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    close = close_button_ui(ui, theme, "Close panel").clicked();
                });
            });
            ui.add_space(2.0);
            match tab {
                BottomTab::Problems => problem_list.show_ui(ui, &view, actions),
                BottomTab::Log => log.show_ui(ui, &view, actions),
            }
        };
        let salt = ("bottom panel", panels.generation);
        Panel::bottom(salt)
            .frame(frame(theme, Margin { left: 8, right: 8, top: 0, bottom: 4 }))
            .resizable(true)
            .default_size(
                panels.bottom_size.chosen.unwrap_or_else(|| 190.0_f32.min(ui.available_height() * 0.45)),
            )
            .size_range(BOTTOM_SIZES)
            .show_collapsible(ui, &mut panels.bottom_open, content);
        see(ui, salt, &mut panels.bottom_size, |size| size.y);
        if close {
            panels.bottom_open = false;
        }
    }

    fn left_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let (theme, counts) = (&self.theme, self.counted());
        let Some(view) = view_of(&self.replica, &self.session, theme, counts) else { return };
        let panels = &mut self.panels;
        let (tab, palette, outline) = (&mut panels.left_tab, &mut panels.palette, &mut panels.outline);
        let content = |ui: &mut Ui| {
            ui.take_available_space();
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                for (each, text) in TABS {
                    if tab_ui(ui, theme, text, *tab == each).clicked() {
                        *tab = each;
                    }
                }
            });
            ui.add_space(4.0);
            match tab {
                LeftTab::Palette => palette.show_ui(ui, &view, actions),
                LeftTab::Outline => outline.show_ui(ui, &view, actions),
            }
        };
        let salt = ("left panel", panels.generation);
        let fitting = (ui.available_width() * 0.18).clamp(176.0, 232.0);
        Panel::left(salt)
            .frame(frame(theme, Margin { left: 8, right: 8, top: 2, bottom: 0 }))
            .default_size(panels.left_size.chosen.unwrap_or(fitting))
            .size_range(LEFT_SIZES)
            .show_collapsible(ui, &mut panels.left_open, content);
        see(ui, salt, &mut panels.left_size, |size| size.x);
    }

    fn right_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        // In a very narrow window there is room for one panel beside the board; close the left one to see this.
        if self.panels.left_open && ui.available_width() < NARROW {
            return;
        }
        let (theme, counts) = (&self.theme, self.counted());
        let Some(view) = view_of(&self.replica, &self.session, theme, counts) else { return };
        let panels = &mut self.panels;
        let inspector = &mut panels.inspector;
        let salt = ("inspector", panels.generation);
        let fitting = (ui.available_width() * 0.27).clamp(220.0, 292.0);
        Panel::right(salt)
            .frame(frame(theme, Margin { left: 12, right: 8, top: 8, bottom: 0 }))
            .default_size(panels.inspector_size.chosen.unwrap_or(fitting))
            .size_range(INSPECTOR_SIZES)
            .show_collapsible(ui, &mut panels.inspector_open, |ui| {
                ui.take_available_space();
                inspector.show_ui(ui, &view, actions);
            });
        see(ui, salt, &mut panels.inspector_size, |size| size.x);
    }

    pub(super) fn overlays_ui(&mut self, context: &Context, actions: &mut Vec<Action>) {
        let counts = self.counted();
        let view = view_of(&self.replica, &self.session, &self.theme, counts);
        let overlays = &mut self.overlays;
        if let Some(view) = &view {
            let done = |open: bool| !open;
            if overlays.quick_add.as_mut().is_some_and(|popup| done(popup.show_ui(context, view, actions))) {
                overlays.quick_add = None;
            }
            if overlays.context_menu.as_mut().is_some_and(|popup| done(popup.show_ui(context, view, actions)))
            {
                overlays.context_menu = None;
            }
            self.dialogs.show_ui(context, view, actions);
        }
        let palette = overlays.command_palette.as_mut();
        if palette.is_some_and(|palette| !palette.show_ui(context, view.as_ref(), &self.theme, actions)) {
            overlays.command_palette = None;
        }
        if overlays.shortcuts {
            overlays.shortcuts = shortcuts_sheet_ui(context, &self.theme);
        }
        if overlays
            .settings
            .as_mut()
            .is_some_and(|page| !page.show_ui(context, &self.theme, &mut self.settings))
        {
            overlays.settings = None;
        }
        self.notices.show_ui(context, &self.theme, STATUS_HEIGHT + 12.0, actions);
    }
}
