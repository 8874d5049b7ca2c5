//! A small list at the pointer: type a word, press Enter, and the node is there, connected if it was asked for from a
//! port.

use crate::{
    picker::{Entry, Mark, Picker, rank},
    placing::{container_at, fitting_port, parent_for},
    view::{Action, View},
};
use egui::{Context, Frame, Id, Key, Modifiers, Order, Pos2};
use shared_protocol::{Endpoint, Point, TypeDef};

const WIDTH: f32 = 300.0;

pub(crate) struct QuickAdd {
    /// Where on the screen the list opens.
    screen: Pos2,
    at: Point,
    from: Option<Endpoint>,
    picker: Picker,
    fresh: bool,
}

impl QuickAdd {
    pub(crate) fn new(screen: Pos2, at: Point, from: Option<Endpoint>) -> Self {
        Self { screen, at, from, picker: Picker::default(), fresh: true }
    }

    /// Gives back `false` when it is done with.
    pub(crate) fn show_ui(&mut self, context: &Context, view: &View<'_>, actions: &mut Vec<Action>) -> bool {
        if context.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
            return false;
        }
        let types = candidates(view, self.at, self.from.as_ref(), &self.picker.query);
        let entries: Vec<Entry<'_>> = types
            .iter()
            .map(|def| Entry {
                title: def.title.clone(),
                note: def.category.clone(),
                mark: Mark::Type(Some(def)),
                enabled: true,
            })
            .collect();
        let area = egui::Area::new(Id::unique("quick add"))
            .order(Order::Foreground)
            .fixed_pos(self.screen)
            .constrain(true)
            .show(context, |ui| {
                Frame::popup(ui.style())
                    .show(ui, |ui| {
                        ui.set_width(WIDTH);
                        let hint = if self.from.is_some() { "What to connect to" } else { "What to add" };
                        self.picker.show_ui(ui, view.theme, ("Quick add", hint), &entries)
                    })
                    .inner
            });
        if let Some(def) = area.inner.and_then(|index| types.get(index)) {
            actions.push(match &self.from {
                Some(from) => {
                    Action::AddConnected { type_id: def.id.clone(), at: self.at, from: from.clone() }
                }
                None => Action::AddAt { type_id: def.id.clone(), at: self.at },
            });
            return false;
        }
        // The click that opened it may still be under way.
        let fresh = std::mem::replace(&mut self.fresh, false);
        fresh || !area.response.clicked_elsewhere()
    }
}

/// The types that may stand there and, from a port, that a rule connects with it; best match first.
fn candidates<'a>(view: &View<'a>, at: Point, from: Option<&Endpoint>, query: &str) -> Vec<&'a TypeDef> {
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
