//! The log panel: recent operations, newest first, each with a button to revert it.

use crate::{
    view::{FrameView, WindowAction},
    widgets::{body_font, empty_state_ui, paint_line, row_button_ui, small_font},
    wording::{ago, describe_actor, unix_millis},
};
use egui::{Align2, Role, Sense, Ui, WidgetInfo, vec2};
use shared_protocol::{OperationKind, Refusal, Revision, messages::OperationLogEntry, requests::ReadLog};

const DEFAULT_ENTRIES: u32 = 200;
/// The maximum number of entries per request.
const MAX_ENTRIES: u32 = 10_000;
const ROW_HEIGHT: f32 = 28.0;

#[derive(Default)]
pub(crate) struct LogPanel {
    entries: Vec<OperationLogEntry>,
    /// The log changed since the last request.
    stale: bool,
    is_waiting: bool,
    /// The operation to highlight; the list scrolls to it once it is loaded.
    marked: Option<Revision>,
    unseen: bool,
    /// The number of entries requested.
    reach: u32,
}

impl LogPanel {
    pub(crate) fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// Takes the requested entries. Returns the refusal of a request that failed, which can be sent again.
    pub(crate) fn receive(&mut self, result: Result<Vec<OperationLogEntry>, Refusal>) -> Option<Refusal> {
        self.is_waiting = false;
        result.map(|entries| self.entries = entries).err()
    }

    pub(crate) fn reset(&mut self) {
        *self = Self { stale: true, ..Self::default() };
    }

    /// Highlights an operation and scrolls to it.
    pub(crate) fn go_to(&mut self, revision: Revision) {
        (self.marked, self.unseen) = (Some(revision), true);
    }

    /// Returns the index of the highlighted operation once, and requests older entries if it is not loaded.
    fn place_of_marked(&mut self, now: Revision) -> Option<usize> {
        let marked = self.marked.filter(|_| self.unseen)?;
        let place = self.entries.iter().position(|entry| entry.revision == marked);
        let needed = u32::try_from(now.0.saturating_sub(marked.0) + 1).unwrap_or(u32::MAX).min(MAX_ENTRIES);
        if place.is_none() && needed > self.reach.max(DEFAULT_ENTRIES) {
            self.reach = needed;
            self.stale = true;
        }
        self.unseen = place.is_none() && (self.stale || self.is_waiting);
        place
    }

    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let place = self.place_of_marked(view.snapshot.revision());
        // Sends one request per change; an empty or missing answer is not requested again.
        if self.stale && !self.is_waiting && view.snapshot.revision().0 > 0 {
            (self.stale, self.is_waiting) = (false, true);
            let read = ReadLog { limit: self.reach.max(DEFAULT_ENTRIES) };
            view.act(WindowAction::request_result(read, WindowAction::LogRead));
        }
        if self.entries.is_empty() {
            empty_state_ui(ui, view.theme, "No operations yet", "Changes appear here and can be reverted.");
            return;
        }
        let now = unix_millis();
        ui.spacing_mut().item_spacing.y = 0.0;
        let mut area = egui::ScrollArea::vertical().auto_shrink([false, false]);
        if let Some(place) = place {
            area = area
                .vertical_scroll_offset((place as f32 * ROW_HEIGHT - ui.available_height() / 2.0).max(0.0));
        }
        area.show_rows(ui, ROW_HEIGHT, self.entries.len(), |ui, range| {
            for entry in self.entries.get(range).unwrap_or_default() {
                let marked = self.marked == Some(entry.revision);
                entry_ui(ui, view, entry, marked, now);
            }
        });
    }
}

fn entry_ui(ui: &mut Ui, view: &FrameView<'_>, entry: &OperationLogEntry, marked: bool, now: u64) {
    let theme = view.theme;
    let (rect, row) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::hover());
    if !ui.is_rect_visible(rect) {
        return;
    }
    let name = format!("Operation {}: {}", entry.revision, describe_entry(entry));
    row.widget_info(|| WidgetInfo::selected(Role::ListItem, true, marked, &name));
    if marked {
        ui.painter().rect_filled(rect, 4, theme.selection);
    }
    let room = rect.shrink2(vec2(6.0, 0.0));
    let number = room.with_max_x(room.left() + 44.0);
    paint_line(
        ui,
        number,
        Align2::LEFT_CENTER,
        &entry.revision.to_string(),
        small_font(ui),
        theme.text_subtle,
    );
    let note = format!("{} · {}", describe_actor(entry), ago(now, entry.time));
    let right = room.with_max_x(room.right() - 76.0).with_min_x(room.left() + room.width() * 0.5);
    let width = paint_line(ui, right, Align2::RIGHT_CENTER, &note, small_font(ui), theme.text_muted);
    let summary = room.with_min_x(number.right() + 4.0).with_max_x(right.right() - width - 12.0);
    paint_line(ui, summary, Align2::LEFT_CENTER, &describe_entry(entry), body_font(ui), theme.text);
    let button =
        egui::Rect::from_center_size(egui::pos2(room.right() - 32.0, room.center().y), vec2(62.0, 22.0));
    let response = row_button_ui(ui, button, entry.revision.0, "Revert");
    let response = response.accessible_name(format!("Revert {}", entry.summary));
    if response.on_hover_text("Reverts this operation and keeps later ones").clicked() {
        view.act(WindowAction::Revert { revision: entry.revision, partial: false });
    }
}

fn describe_entry(entry: &OperationLogEntry) -> String {
    match entry.kind {
        OperationKind::Edit => entry.summary.clone(),
        OperationKind::Undo(of) => format!("Undo of {of} · {}", entry.summary),
        OperationKind::Redo(of) => format!("Redo of {of} · {}", entry.summary),
        OperationKind::Revert(of) => format!("Revert of {of} · {}", entry.summary),
    }
}
