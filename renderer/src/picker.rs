//! A searchable list with keyboard navigation, shared by quick add, the command palette and other pickers.

use crate::widgets::{
    ListRow, PopupPosition, ROW_HEIGHT, body_font, paint_icon, paint_line, paint_type_mark, popup_ui, row_ui,
    search_field_ui, small_font,
};
use canvas::theme::WorkbenchTheme;
use egui::{Align2, Context, Key, Modifiers, Rect, Sense, Ui, Vec2, pos2, vec2};
use shared_protocol::TypeDef;
use std::ops::ControlFlow;

pub(crate) struct PickerEntry<'a> {
    pub(crate) title: String,
    /// Muted text at the right.
    pub(crate) note: String,
    pub(crate) mark: PickerIcon<'a>,
}

pub(crate) enum PickerIcon<'a> {
    Type(Option<&'a TypeDef>),
    Icon(&'static str),
}

/// The query and the highlighted row.
#[derive(Debug, Default)]
pub(crate) struct SearchPicker {
    pub(crate) query: String,
    lit: usize,
    shown_before: bool,
    /// Enter arrived in the same frame as typed text. The entries still belong to the old query, so the choice is deferred
    /// by one frame.
    confirmed: bool,
}

/// A picker above everything else.
pub(crate) struct PickerPopup<'a> {
    pub(crate) id: &'static str,
    pub(crate) place: PopupPosition,
    pub(crate) width: f32,
    /// The accessible name and the hint of the search field.
    pub(crate) name: &'a str,
    pub(crate) hint: &'a str,
}

impl SearchPicker {
    /// Draws the picker in a popup, with `header` above the search field. Breaks with the index of the chosen entry, or
    /// with nothing when the popup closes.
    pub(crate) fn popup_ui(
        &mut self,
        context: &Context,
        theme: &WorkbenchTheme,
        popup: PickerPopup<'_>,
        entries: &[PickerEntry<'_>],
        header: impl FnOnce(&mut Ui),
    ) -> ControlFlow<Option<usize>> {
        let is_first = !self.shown_before;
        popup_ui(context, popup.id, popup.place, is_first, |ui| {
            let content = |ui: &mut Ui| {
                ui.set_width(popup.width.min(context.content_rect().width() - 24.0));
                header(ui);
                self.show_ui(ui, theme, popup.name, popup.hint, entries)
            };
            egui::Frame::popup(ui.style()).show(ui, content).inner
        })
    }

    /// Draws the search field and the list. Returns the index of the chosen entry.
    pub(crate) fn show_ui(
        &mut self,
        ui: &mut Ui,
        theme: &WorkbenchTheme,
        name: &str,
        hint: &str,
        entries: &[PickerEntry<'_>],
    ) -> Option<usize> {
        // Consumes the keys before the field handles them, so that its cursor does not move.
        let (down, up, enter) = ui.input_mut(|input| {
            (
                input.count_and_consume_key(Modifiers::NONE, Key::ArrowDown),
                input.count_and_consume_key(Modifiers::NONE, Key::ArrowUp),
                input.consume_key(Modifiers::NONE, Key::Enter),
            )
        });
        let before = self.query.clone();
        let field = search_field_ui(ui, theme, &mut self.query, hint, name);
        if !self.shown_before {
            field.request_focus();
            self.shown_before = true;
        }
        let typed = before != self.query;
        let enter = enter || std::mem::take(&mut self.confirmed);
        if typed && enter {
            self.confirmed = true;
            ui.request_repaint();
        }
        let enter = enter && !typed;
        let last = entries.len().saturating_sub(1);
        self.lit = if typed { 0 } else { (self.lit + down).saturating_sub(up).min(last) };
        let mut chosen = enter.then_some(self.lit).filter(|index| *index < entries.len());

        ui.add_space(4.0);
        let tallest = (ROW_HEIGHT * 9.0).min(ui.ctx().content_rect().height() - 120.0).max(ROW_HEIGHT * 2.0);
        egui::ScrollArea::vertical().max_height(tallest).auto_shrink([false, true]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            if entries.is_empty() {
                ui.add_space(8.0);
                ui.vertical_centered(|ui| {
                    crate::widgets::muted_ui(ui, theme, "No matches. Try another search.")
                });
                ui.add_space(8.0);
            }
            for (index, entry) in entries.iter().enumerate() {
                let lit = index == self.lit;
                let response = entry_ui(ui, theme, entry, lit);
                if lit && (down + up > 0 || typed) {
                    response.scroll_to_me(None);
                }
                if response.clicked() {
                    chosen = Some(index);
                }
            }
        });
        chosen
    }
}

fn entry_ui(ui: &mut Ui, theme: &WorkbenchTheme, entry: &PickerEntry<'_>, lit: bool) -> egui::Response {
    let row = ListRow { name: &entry.title, selected: lit, sense: Sense::click() };
    row_ui(ui, theme, row, |ui, room| {
        let mark = Rect::from_center_size(pos2(room.left() + 9.0, room.center().y), Vec2::splat(18.0));
        match &entry.mark {
            PickerIcon::Type(def) => paint_type_mark(ui.painter(), mark, theme, *def),
            PickerIcon::Icon(icon) => paint_icon(ui.painter(), icon, mark.shrink(2.0), theme.text_muted),
        }
        let room = Rect::from_min_max(room.min + vec2(26.0, 0.0), room.max);
        let note = paint_line(ui, room, Align2::RIGHT_CENTER, &entry.note, small_font(ui), theme.text_subtle);
        let title = room.with_max_x(room.right() - note - 8.0);
        paint_line(ui, title, Align2::LEFT_CENTER, &entry.title, body_font(ui), theme.text);
    })
}

/// Ranks a title against a query. Every word of the query must occur; the start of the title counts most. Lower is
/// better, and `None` is no match.
pub(crate) fn rank(query: &str, title: &str, more: &str) -> Option<u32> {
    let (query, title, more) = (query.trim().to_lowercase(), title.to_lowercase(), more.to_lowercase());
    if query.is_empty() {
        return Some(0);
    }
    if title == query {
        return Some(0);
    }
    if title.starts_with(&query) {
        return Some(1);
    }
    if title.split_whitespace().any(|word| word.starts_with(&query)) {
        return Some(2);
    }
    let whole =
        |word: &str| title.split_whitespace().chain(more.split_whitespace()).any(|known| known == word);
    if title.contains(&query) || query.split_whitespace().all(whole) {
        return Some(3);
    }
    query.split_whitespace().all(|word| title.contains(word) || more.contains(word)).then_some(4)
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn titles_come_before_descriptions() {
        let best = |query: &str, title: &str| rank(query, title, "virtual machine aws/compute/instance");
        assert_eq!(best("instance", "Instance"), Some(0));
        assert_eq!(best("inst", "Instance"), Some(1));
        assert_eq!(best("bal", "Load balancer"), Some(2));
        assert_eq!(best("stan", "Instance"), Some(3));
        assert_eq!(best("aws/compute/instance", "Instance"), Some(3));
        assert_eq!(best("aws machine", "Instance"), Some(4));
        assert_eq!(best("bucket", "Instance"), None);
        assert_eq!(best("  ", "Instance"), Some(0));
    }
}
