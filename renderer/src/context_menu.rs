//! The context menu: commands for the element or board under the pointer.

use crate::{
    commands::{CommandFacts, CommandId, find},
    view::FrameView,
    widgets::{PopupPosition, popup_ui},
};
use egui::{Button, Context, Frame, Pos2};
use std::ops::ControlFlow;

pub(crate) struct ContextMenu {
    at: Pos2,
    /// An element is under the pointer, not the empty board.
    on_element: bool,
    fresh: bool,
}

const ELEMENT_COMMANDS: &[&[CommandId]] = &[
    &[CommandId::OpenEntity, CommandId::PreviewSelection],
    &[CommandId::Rename],
    &[CommandId::Cut, CommandId::Copy, CommandId::Duplicate, CommandId::Delete],
    &[CommandId::AlignLeft, CommandId::AlignTop, CommandId::DistributeHorizontally, CommandId::Tidy],
    &[CommandId::ZoomToSelection],
];
const BOARD_COMMANDS: &[&[CommandId]] = &[
    &[CommandId::QuickAdd, CommandId::AddNote, CommandId::Paste],
    &[CommandId::SelectAll, CommandId::Tidy],
    &[CommandId::ZoomToFit, CommandId::ZoomFull],
    &[CommandId::ExportBoard],
];

impl ContextMenu {
    pub(crate) fn new(at: Pos2, on_element: bool) -> Self {
        Self { at, on_element, fresh: true }
    }

    /// Returns `false` when the menu closes.
    pub(crate) fn show_ui(&mut self, context: &Context, view: &FrameView<'_>) -> bool {
        let facts = CommandFacts::from_view(Some(view));
        let groups = if self.on_element { ELEMENT_COMMANDS } else { BOARD_COMMANDS };
        let is_first_frame = std::mem::replace(&mut self.fresh, false);
        let shown = popup_ui(context, "context menu", PopupPosition::At(self.at), is_first_frame, |ui| {
            Frame::menu(ui.style()).show(ui, |ui| menu_ui(ui, groups, &facts)).inner
        });
        let ControlFlow::Break(chosen) = shown else { return true };
        if let Some(id) = chosen {
            view.act(id);
        }
        false
    }
}

fn menu_ui(ui: &mut egui::Ui, groups: &[&[CommandId]], facts: &CommandFacts<'_>) -> Option<CommandId> {
    ui.set_width(230.0);
    egui::containers::menu::menu_style(ui.style_mut());
    let mut chosen = None;
    ui.with_layout(egui::Layout::top_down_justified(egui::Align::LEFT), |ui| {
        for (index, group) in groups.iter().enumerate() {
            if index > 0 {
                ui.separator();
            }
            for def in group.iter().filter_map(|id| find(*id)) {
                let keys = def.keys.first().map(|keys| keys.text()).unwrap_or_default();
                let button = Button::new(def.caption(facts).into_owned()).shortcut_text(keys);
                if ui.add_enabled(def.is_enabled(facts), button).clicked() {
                    chosen = Some(def.id);
                }
            }
        }
    });
    chosen
}
