//! The log of the selected session, loaded incrementally.

use crate::{
    view::{FrameView, WindowAction},
    widgets::{muted_ui, paint_line, small_font},
};
use egui::{Align2, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};
use shared_protocol::{
    Refusal,
    preview_sessions::{LogLevel, MAX_PREVIEW_LOG_LINES, PreviewId, PreviewLogLine, PreviewSessionView},
    requests::ReadPreviewLog,
};

const ROW_HEIGHT: f32 = 18.0;

#[derive(Default)]
pub(crate) struct PreviewLog {
    session: Option<PreviewId>,
    lines: Vec<PreviewLogLine>,
    is_waiting: bool,
    /// The number of lines at the last request.
    requested_lines: u64,
}

impl PreviewLog {
    /// Takes the requested lines. Returns the refusal of a request that failed, which can be sent again.
    pub(crate) fn receive(
        &mut self,
        session: PreviewId,
        result: Result<Vec<PreviewLogLine>, Refusal>,
    ) -> Option<Refusal> {
        if self.session == Some(session) {
            self.is_waiting = false;
        }
        let lines = match result {
            Ok(lines) if self.session == Some(session) => lines,
            Ok(_) => return None,
            Err(refusal) => return Some(refusal),
        };
        let last = self.lines.last().map_or(0, |line| line.number);
        self.lines.extend(lines.into_iter().filter(|line| line.number > last));
        let over = self.lines.len().saturating_sub(MAX_PREVIEW_LOG_LINES);
        self.lines.drain(..over);
        None
    }

    pub(super) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, session: &PreviewSessionView) {
        if self.session != Some(session.id) {
            *self = Self { session: Some(session.id), ..Self::default() };
        }
        if session.logged != self.requested_lines && !self.is_waiting {
            (self.is_waiting, self.requested_lines) = (true, session.logged);
            let after = self.lines.last().map_or(0, |line| line.number);
            let (id, read) = (session.id, ReadPreviewLog { session: session.id, after });
            let then = move |result| WindowAction::PreviewLogRead(id, result);
            view.act(WindowAction::request_result(read, then));
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
