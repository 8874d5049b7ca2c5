//! Owns: the positions and sizes of panels, and which groups are collapsed. Must not know: the content of panels.
//!
//! The source of truth is a [`Place`], plain data that commands change and the window saves. Tiles are built from it to
//! draw and drag; changes that a person makes to the tiles are read back into it.

mod behaviour;
mod layout;
mod tiles;

pub(crate) use behaviour::DockContent;
pub(crate) use layout::DockLayout;

use crate::panel_id::{PANELS, PanelId, PanelSide};
use behaviour::DockBehaviour;
use canvas::theme::WorkbenchTheme;
use egui::Ui;
use tiles::DockTiles;

pub(crate) struct Dock {
    place: DockLayout,
    tiling: DockTiles,
    /// The panel shown or used last. It keeps its space in a small window and is the target of "close panel".
    recent: Option<PanelId>,
    /// The panel that gets keyboard focus when it is next drawn.
    focus_request: Option<PanelId>,
}

impl Default for Dock {
    fn default() -> Self {
        Self::from_layout(DockLayout::default())
    }
}

impl Dock {
    pub(crate) fn from_layout(place: DockLayout) -> Self {
        let place = place.normalised();
        Self { tiling: DockTiles::from_layout(&place), place, recent: None, focus_request: None }
    }

    pub(crate) fn place(&self) -> &DockLayout {
        &self.place
    }

    pub(crate) fn is_in_front(&self, panel: PanelId) -> bool {
        let group = self.place.group_of(panel).filter(|group| !group.folded);
        group.and_then(|group| group.front()) == Some(panel) && !self.tiling.is_squeezed(panel)
    }

    pub(crate) fn show(&mut self, panel: PanelId) {
        self.recent = Some(panel);
        if !self.is_in_front(panel) {
            self.update_layout(|place| place.show(panel));
        }
    }

    /// Brings the panel to the front and focuses it. Collapses its group if it is already in front.
    pub(crate) fn toggle(&mut self, panel: PanelId) {
        if self.is_in_front(panel) {
            self.update_layout(|place| place.fold(panel));
        } else {
            self.show(panel);
            self.focus_request = Some(panel);
        }
    }

    pub(crate) fn close(&mut self, panel: PanelId) {
        self.update_layout(|place| place.close(panel));
    }

    /// The panel used last, if it can be closed.
    pub(crate) fn closable(&self) -> Option<PanelId> {
        self.recent.filter(|panel| *panel != PanelId::Canvas && self.is_in_front(*panel))
    }

    pub(crate) fn move_to(&mut self, panel: PanelId, side: PanelSide) {
        self.recent = Some(panel);
        self.update_layout(|place| place.move_to(panel, side));
    }

    pub(crate) fn is_side_shown(&self, side: PanelSide) -> bool {
        let mut shown = false;
        if let Some(part) = self.place.clone().side_mut(side) {
            part.each_group(&mut |group| shown |= !group.folded && group.front().is_some());
        }
        shown
    }

    /// Collapses or expands all groups at a side of the canvas. Shows the side's first home panel if it is empty.
    pub(crate) fn toggle_side(&mut self, side: PanelSide) {
        let fold = self.is_side_shown(side);
        self.update_layout(|place| {
            let Some(part) = place.side_mut(side) else { return };
            part.each_group(&mut |group| group.folded = fold);
        });
        if !fold && !self.is_side_shown(side) {
            let home = PANELS.iter().find(|def| def.home == side);
            if let Some(def) = home {
                self.show(def.id);
            }
        }
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    fn update_layout(&mut self, change: impl FnOnce(&mut DockLayout)) {
        change(&mut self.place);
        self.tiling = DockTiles::from_layout(&self.place);
    }

    pub(crate) fn show_ui(&mut self, ui: &mut Ui, theme: &WorkbenchTheme, content: &mut dyn DockContent) {
        self.tiling.fit(ui.available_rect_before_wrap(), self.recent);
        let mut docking = DockBehaviour::new(&self.tiling, theme, content, self.focus_request.take());
        self.tiling.tree.ui(&mut docking, ui);
        let (edited, dropped) = (docking.edited, docking.dropped);
        self.recent = docking.used.or(self.recent);
        if edited {
            self.tiling.save_sizes();
            self.place = self.tiling.place();
        }
        if dropped {
            // The drop target may be invalid, so the tiles are rebuilt from the saved layout.
            self.tiling = DockTiles::from_layout(&self.place);
            ui.request_repaint();
        }
    }
}
