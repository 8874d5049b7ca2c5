//! The log of the selected session, loaded incrementally.

use super::preview_action;
use crate::{
    view::{FrameView, WindowAction},
    widgets::{muted_ui, paint_line, small_font},
};
use egui::{Align2, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};
use shared_protocol::preview_sessions::{
    LogLevel, MAX_PREVIEW_LOG_LINES, PreviewId, PreviewLogLine, PreviewRequest, PreviewSessionView,
};

const ROW_HEIGHT: f32 = 18.0;

#[derive(Default)]
pub(crate) struct PreviewLog {
    session: Option<PreviewId>,
    lines: Vec<PreviewLogLine>,
    is_requested: bool,
    /// The number of lines at the last request.
    requested_lines: u64,
}

impl PreviewLog {
    pub(crate) fn receive(&mut self, session: PreviewId, lines: Vec<PreviewLogLine>) {
        if self.session != Some(session) {
            return;
        }
        self.is_requested = false;
        let last = self.lines.last().map_or(0, |line| line.number);
        self.lines.extend(lines.into_iter().filter(|line| self.session.is_some() && line.number > last));
        let over = self.lines.len().saturating_sub(MAX_PREVIEW_LOG_LINES);
        self.lines.drain(..over);
    }

    /// Clears the pending request after a failure.
    pub(crate) fn clear_request(&mut self, session: PreviewId) {
        if self.session == Some(session) {
            self.is_requested = false;
        }
    }

    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        session: &PreviewSessionView,
        actions: &mut Vec<WindowAction>,
    ) {
        if self.session != Some(session.id) {
            *self = Self { session: Some(session.id), ..Self::default() };
        }
        if session.logged != self.requested_lines && !self.is_requested {
            (self.is_requested, self.requested_lines) = (true, session.logged);
            let after = self.lines.last().map_or(0, |line| line.number);
            actions.push(preview_action(PreviewRequest::Log { session: session.id, after }));
        }
        if self.lines.is_empty() {
            muted_ui(ui, view.theme, "No log lines yet.");
            return;
        }
        ui.spacing_mut().item_spacing.y = 0.0;
        let area = ScrollArea::vertical().auto_shrink(false).stick_to_bottom(true);
        area.show_rows(ui, ROW_HEIGHT, self.lines.len(), |ui, range| {
            for line in self.lines.get(range).unwrap_or_default() {
                line_ui(ui, view, line);
            }
        });
    }
}

fn line_ui(ui: &mut Ui, view: &FrameView<'_>, line: &PreviewLogLine) {
    let theme = view.theme;
    let (word, colour) = match line.level {
        LogLevel::Debug => ("debug", theme.text_subtle),
        LogLevel::Info => ("info", theme.text_muted),
        LogLevel::Warn => ("warn", theme.warning),
        LogLevel::Error => ("error", theme.danger),
    };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::hover());
    let name = format!("{word}: {}", line.message);
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, &name));
    if !ui.is_rect_visible(rect) {
        return;
    }
    paint_line(ui, rect.with_max_x(rect.left() + 40.0), Align2::LEFT_CENTER, word, small_font(ui), colour);
    let text = rect.with_min_x(rect.left() + 44.0);
    paint_line(ui, text, Align2::LEFT_CENTER, &line.message, small_font(ui), theme.text);
    response.on_hover_text(&line.message);
}
