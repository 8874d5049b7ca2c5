//! Quick add: a searchable list of types at the pointer. Opened from a port, it also connects the new node.

use crate::{
    node_placement::{container_at, fitting_port, parent_for},
    picker::{PickerEntry, PickerIcon, PickerPopup, SearchPicker, rank},
    view::{FrameView, WindowAction},
    widgets::PopupPosition,
};
use egui::{Context, Pos2};
use shared_protocol::{BoardPoint, EdgeEndpoint, TypeDef};
use std::ops::ControlFlow;

const WIDTH: f32 = 300.0;

pub(crate) struct QuickAdd {
    screen: Pos2,
    at: BoardPoint,
    from: Option<EdgeEndpoint>,
    picker: SearchPicker,
}

impl QuickAdd {
    pub(crate) fn new(screen: Pos2, at: BoardPoint, from: Option<EdgeEndpoint>) -> Self {
        Self { screen, at, from, picker: SearchPicker::default() }
    }

    /// Returns `false` when the list closes.
    pub(crate) fn show_ui(&mut self, context: &Context, view: &FrameView<'_>) -> bool {
        let types = candidates(view, self.at, self.from.as_ref(), &self.picker.query);
        let entries: Vec<PickerEntry<'_>> = types
            .iter()
            .map(|def| PickerEntry {
                title: def.title.clone(),
                note: def.category.clone(),
                mark: PickerIcon::Type(Some(def)),
            })
            .collect();
        let hint = if self.from.is_some() { "Search types to connect" } else { "Search types to add" };
        let place = PopupPosition::At(self.screen);
        let popup = PickerPopup { id: "quick add", place, width: WIDTH, name: "Quick add", hint };
        let ControlFlow::Break(chosen) = self.picker.popup_ui(context, view.theme, popup, &entries, |_| {})
        else {
            return true;
        };
        if let Some(def) = chosen.and_then(|index| types.get(index)) {
            view.act(match &self.from {
                Some(from) => {
                    WindowAction::AddConnected { type_id: def.id.clone(), at: self.at, from: from.clone() }
                }
                None => WindowAction::AddAt { type_id: def.id.clone(), at: self.at },
            });
        }
        false
    }
}

/// Types that are allowed at the position and, when opened from a port, that a rule connects with it. Best match first.
fn candidates<'a>(
    view: &FrameView<'a>,
    at: BoardPoint,
    from: Option<&EdgeEndpoint>,
    query: &str,
) -> Vec<&'a TypeDef> {
    let Some(board) = view.board() else { return Vec::new() };
    let inner = container_at(view.snapshot, board.id, at);
    let mut found: Vec<(u32, &TypeDef)> = view
        .snapshot
        .registry()
        .types()
        .filter(|def| from.is_none_or(|from| fitting_port(view.snapshot, from, def).is_some()))
        .filter(|def| parent_for(view.snapshot, board, inner, def).is_ok())
        .filter_map(|def| {
            let more = format!("{} {} {}", def.category, def.id, def.description);
            Some((rank(query, &def.title, &more)?, def.as_ref()))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.title.cmp(&b.1.title)));
    found.into_iter().map(|(_, def)| def).collect()
}
