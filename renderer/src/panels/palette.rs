//! The palette panel: types allowed on the board, by category, to search, click or drag onto the canvas.

use crate::{
    picker::rank,
    view::{FrameView, WindowAction},
    widgets::{
        ListRow, body_font, disclosure_ui, empty_state_ui, paint_line, paint_type_mark, row_ui,
        search_field_ui,
    },
};
use egui::{Align2, Key, Rect, Sense, Ui, Vec2, pos2};
use shared_protocol::{BoardKind, TypeDef, TypeId};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The payload of a drag from the palette.
#[derive(Debug, Clone)]
pub(crate) struct DraggedType(pub(crate) TypeId);

#[derive(Default)]
pub(crate) struct PalettePanel {
    query: String,
    closed: BTreeSet<String>,
}

impl PalettePanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let Some(kind) = view.board_kind() else {
            empty_state_ui(ui, view.theme, "No board", "Open or create a board to add nodes.");
            return;
        };
        let field = search_field_ui(ui, view.theme, &mut self.query, "Search types", "Search types");
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        ui.add_space(4.0);
        let found = by_category(view, kind, &self.query);
        if entered && let Some(best) = best(&found) {
            view.act(WindowAction::Add(best.id.clone()));
        }
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            if found.is_empty() {
                empty_state_ui(ui, view.theme, "No matching types", "Try a different search, or clear it.");
            }
            let searching = !self.query.trim().is_empty();
            for (category, types) in &found {
                // Search results ignore folded categories.
                let mut open = searching || !self.closed.contains(*category);
                disclosure_ui(ui, view.theme, category, Some(types.len()), &mut open);
                if !searching {
                    if open {
                        self.closed.remove(*category);
                    } else {
                        self.closed.insert((*category).to_owned());
                    }
                }
                if open {
                    for (_, def) in types {
                        type_row_ui(ui, view, def);
                    }
                    ui.add_space(6.0);
                }
            }
        });
    }
}

type RankedTypes<'a> = Vec<(u32, &'a Arc<TypeDef>)>;

fn by_category<'a>(view: &FrameView<'a>, kind: BoardKind, query: &str) -> BTreeMap<&'a str, RankedTypes<'a>> {
    let mut found: BTreeMap<&str, RankedTypes<'_>> = BTreeMap::new();
    for def in view.snapshot.registry().types().filter(|def| def.is_allowed_on(kind)) {
        let more = format!("{} {} {}", def.category, def.id, def.description);
        if let Some(rank) = rank(query, &def.title, &more) {
            found.entry(def.category.as_str()).or_default().push((rank, def));
        }
    }
    for types in found.values_mut() {
        types.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.title.cmp(&b.1.title)));
    }
    found
}

fn best<'a>(found: &BTreeMap<&str, RankedTypes<'a>>) -> Option<&'a Arc<TypeDef>> {
    found.values().flatten().min_by_key(|(rank, _)| *rank).map(|(_, def)| *def)
}

fn type_row_ui(ui: &mut Ui, view: &FrameView<'_>, def: &TypeDef) {
    let row = ListRow { name: &def.title, selected: false, sense: Sense::click_and_drag() };
    let response = row_ui(ui, view.theme, row, |ui, room| {
        let mark = Rect::from_center_size(pos2(room.left() + 10.0, room.center().y), Vec2::splat(20.0));
        paint_type_mark(ui.painter(), mark, view.theme, Some(def));
        let room = room.with_min_x(mark.right() + 8.0);
        paint_line(ui, room, Align2::LEFT_CENTER, &def.title, body_font(ui), view.theme.text);
    });
    response.dnd_set_drag_payload(DraggedType(def.id.clone()));
    if response.clicked() && !view.is_held() {
        view.act(WindowAction::Add(def.id.clone()));
    }
    if !response.dragged() && !def.description.is_empty() {
        response.on_hover_ui(|ui| {
            ui.set_max_width(260.0);
            ui.label(&def.title);
            crate::widgets::muted_ui(ui, view.theme, def.description.as_str());
        });
    }
}
