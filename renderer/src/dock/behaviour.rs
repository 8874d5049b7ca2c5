//! The look and behaviour of the dock's tiles: tabs in theme colours, and accessible names for every control.

use super::tiles::{DockTiles, TILE_GAP};
use crate::{
    panel_id::{PanelId, PanelSide},
    widgets::{TabButton, fold_button_ui, tab_ui},
};
use canvas::theme::WorkbenchTheme;
use egui::{
    Color32, CursorIcon, Frame, Id, Key, Margin, Response, Sense, Stroke, Style, Ui, UiBuilder, Visuals,
    WidgetText,
};
use egui_tiles::{
    Behavior, EditAction, ResizeState, SimplificationOptions, TabState, Tabs, TileId, Tiles, UiResponse,
};

const TAB_BAR_HEIGHT: f32 = 30.0;
/// The minimum size of a tile in points.
const MIN_TILE_SIZE: f32 = 90.0;

/// The panels as the dock needs them.
pub(crate) trait DockContent {
    fn panel_ui(&mut self, panel: PanelId, ui: &mut Ui);
    fn title(&self, panel: PanelId) -> String;
    fn close(&mut self, panel: PanelId);
    fn fold(&mut self, panel: PanelId);
    fn move_to(&mut self, panel: PanelId, side: PanelSide);
}

pub(super) struct DockBehaviour<'a> {
    theme: &'a WorkbenchTheme,
    content: &'a mut dyn DockContent,
    /// The group that shows only the canvas, and so has no tab bar.
    bare: Option<TileId>,
    canvas: Option<TileId>,
    canvas_group: Option<TileId>,
    focus_request: Option<PanelId>,
    pub(super) used: Option<PanelId>,
    pub(super) edited: bool,
    pub(super) dropped: bool,
}

impl<'a> DockBehaviour<'a> {
    pub(super) fn new(
        tiling: &DockTiles,
        theme: &'a WorkbenchTheme,
        content: &'a mut dyn DockContent,
        wanted: Option<PanelId>,
    ) -> Self {
        let canvas = tiling.canvas();
        Self {
            theme,
            content,
            bare: tiling.canvas_only_group(),
            canvas,
            canvas_group: canvas.and_then(|canvas| tiling.tree.tiles.parent_of(canvas)),
            focus_request: wanted,
            used: None,
            edited: false,
            dropped: false,
        }
    }

    fn tab_menu_ui(&mut self, ui: &mut Ui, panel: PanelId) {
        for (side, text) in [
            (PanelSide::Left, "Move to the left"),
            (PanelSide::Right, "Move to the right"),
            (PanelSide::Bottom, "Move to the bottom"),
        ] {
            if ui.button(text).clicked() {
                self.content.move_to(panel, side);
            }
        }
        ui.separator();
        if ui.button("Close").clicked() {
            self.content.close(panel);
        }
    }
}

impl Behavior<PanelId> for DockBehaviour<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: TileId, panel: &mut PanelId) -> UiResponse {
        let room = ui.max_rect();
        ui.set_clip_rect(room.intersect(ui.clip_rect()));
        let margin = panel.definition().margin;
        ui.painter().rect_filled(room, 0, self.theme.surface_panel);
        // Widget ids depend on the panel and not on its position, so typed text, scroll offset and focus move with it.
        let builder =
            UiBuilder::new().max_rect(room - margin).scope_id(Id::unique(("panel", panel.keyword())));
        ui.scope_builder(builder, |ui| self.content.panel_ui(*panel, ui));
        if ui.input(|input| input.pointer.any_pressed()) && ui.rect_contains_pointer(room) {
            self.used = Some(*panel);
        }
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, panel: &PanelId) -> WidgetText {
        self.content.title(*panel).into()
    }

    fn tab_ui(
        &mut self,
        tiles: &mut Tiles<PanelId>,
        ui: &mut Ui,
        id: Id,
        tile: TileId,
        state: &TabState,
    ) -> Response {
        let text = self.tab_title_for_tile(tiles, tile);
        let draggable = self.is_tile_draggable(tiles, tile);
        let sense = if draggable { Sense::click_and_drag() } else { Sense::click() };
        let tab = TabButton { id, text: text.text(), is_selected: state.active, sense };
        let response = tab_ui(ui, self.theme, tab);
        let Some(panel) = tiles.get_pane(&tile).copied() else { return response };
        if self.focus_request == Some(panel) {
            response.request_focus();
            self.used = Some(panel);
        }
        if response.clicked() || response.drag_started() {
            self.used = Some(panel);
        }
        if panel == PanelId::Canvas {
            return response;
        }
        let delete = response.has_focus()
            && ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, Key::Delete));
        if response.middle_clicked() || delete {
            self.content.close(panel);
        }
        response.context_menu(|ui| self.tab_menu_ui(ui, panel));
        response
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<PanelId>,
        ui: &mut Ui,
        _tile: TileId,
        tabs: &Tabs,
        _offset: &mut f32,
    ) {
        let front = tabs.active.and_then(|active| tiles.get_pane(&active)).copied();
        let Some(panel) = front.filter(|panel| *panel != PanelId::Canvas) else { return };
        ui.add_space(4.0);
        let name = format!("Collapse {}", panel.definition().title.to_lowercase());
        if fold_button_ui(ui, self.theme, &name).clicked() {
            self.content.fold(panel);
        }
    }

    fn drag_ui(&mut self, tiles: &Tiles<PanelId>, ui: &mut Ui, tile: TileId) {
        let text = self.tab_title_for_tile(tiles, tile);
        Frame::popup(ui.style())
            .inner_margin(Margin::symmetric(10, 6))
            .stroke(Stroke::new(1.0, self.theme.accent))
            .show(ui, |ui| ui.label(text));
    }

    fn tab_title_for_tile(&mut self, tiles: &Tiles<PanelId>, tile: TileId) -> WidgetText {
        match tiles.get_pane(&tile) {
            Some(panel) => self.content.title(*panel).into(),
            // Seen only while a group is dragged.
            None => "Panels".into(),
        }
    }

    fn is_tile_draggable(&self, _tiles: &Tiles<PanelId>, tile: TileId) -> bool {
        Some(tile) != self.canvas && Some(tile) != self.canvas_group
    }

    fn is_tab_bar_visible(&self, tile: TileId, _tabs: &Tabs) -> bool {
        Some(tile) != self.bare
    }

    fn on_edit(&mut self, action: EditAction) {
        self.edited = true;
        self.dropped |= action == EditAction::TileDropped;
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            all_panes_must_have_tabs: true,
            flatten_tabs_in_tabs: true,
            ..SimplificationOptions::default()
        }
    }

    /// Disabled because the affected group would depend on the pointer. The command table has commands for panels.
    fn cycle_tabs_with_keyboard(&self) -> bool {
        false
    }

    fn tab_hover_cursor_icon(&self) -> CursorIcon {
        CursorIcon::Default
    }

    fn tab_bar_height(&self, _style: &Style) -> f32 {
        TAB_BAR_HEIGHT
    }

    fn gap_width(&self, _style: &Style) -> f32 {
        TILE_GAP
    }

    fn min_size(&self) -> f32 {
        MIN_TILE_SIZE
    }

    fn tab_bar_color(&self, _visuals: &Visuals) -> Color32 {
        self.theme.surface_panel
    }

    fn resize_stroke(&self, _style: &Style, state: ResizeState) -> Stroke {
        match state {
            ResizeState::Idle => Stroke::new(TILE_GAP, self.theme.border),
            ResizeState::Hovering | ResizeState::Dragging => Stroke::new(2.0, self.theme.accent),
        }
    }

    fn drag_preview_stroke(&self, _visuals: &Visuals) -> Stroke {
        Stroke::new(1.5, self.theme.accent)
    }

    fn drag_preview_color(&self, _visuals: &Visuals) -> Color32 {
        self.theme.accent.gamma_multiply(0.18)
    }

    fn dragged_overlay_color(&self, _visuals: &Visuals) -> Color32 {
        self.theme.surface_panel.gamma_multiply(0.6)
    }
}
