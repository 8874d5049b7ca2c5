//! The error output of a server: loaded incrementally from main, and followed unless a person scrolls away.

use super::pending_requests::{ManagedServersContext, ServerRequestPurpose};
use crate::{view::ManagedServerResponse, widgets::muted_ui, wording::line};
use egui::{Label, RichText, TextStyle, Ui};
use shared_protocol::{
    managed_servers::{ServerBrief, ServerId, ServerLogChunk},
    requests::ReadServerLog,
    text::count_noun,
};
use std::{collections::VecDeque, time::Duration};

/// The maximum number of lines in memory; main keeps no more either.
const MAX_LINES: usize = 5_000;
const ROW_HEIGHT: f32 = 17.0;
/// Seconds between requests while there are no new lines.
const POLL_PAUSE_SECONDS: f64 = 1.0;

#[derive(Default)]
pub(super) struct ServerLogTab {
    server: Option<ServerId>,
    first: u64,
    lines: VecDeque<String>,
    /// The time of the next request after an empty answer.
    retry_at: f64,
    was_empty: bool,
    follows: FollowLog,
}

struct FollowLog(bool);

impl Default for FollowLog {
    fn default() -> Self {
        Self(true)
    }
}

impl ServerLogTab {
    pub(super) fn for_server(id: &ServerId) -> Self {
        Self { server: Some(id.clone()), ..Self::default() }
    }

    pub(super) fn is_for(&self, id: &ServerId) -> bool {
        self.server.as_ref() == Some(id)
    }

    fn end(&self) -> u64 {
        self.first + self.lines.len() as u64
    }

    pub(super) fn receive(&mut self, id: &ServerId, part: ServerLogChunk) {
        if !self.is_for(id) {
            return;
        }
        self.was_empty = part.lines.is_empty();
        if part.lines.is_empty() && part.first < self.end() {
            // The server has fewer lines than are loaded: its log started again.
            self.lines.clear();
            self.first = 0;
            return;
        }
        match self.end().checked_sub(part.first) {
            // Lines in between were discarded, or the log started again.
            None => {
                self.lines.clear();
                self.first = part.first;
                self.lines.extend(part.lines);
            }
            Some(known) => {
                let known = usize::try_from(known).unwrap_or(usize::MAX);
                self.lines.extend(part.lines.into_iter().skip(known));
            }
        }
        let surplus = self.lines.len().saturating_sub(MAX_LINES);
        self.lines.drain(..surplus);
        self.first += surplus as u64;
    }

    pub(super) fn clear_request(&mut self, id: &ServerId) {
        if self.is_for(id) {
            self.was_empty = true;
        }
    }

    pub(super) fn show_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, server: &ServerBrief) {
        self.request(ui, server, cx);
        ui.horizontal_wrapped(|ui| {
            ui.checkbox(&mut self.follows.0, "Follow log");
            if ui.add_enabled(!self.lines.is_empty(), egui::Button::new("Copy all")).clicked() {
                let text: Vec<&str> = self.lines.iter().map(String::as_str).collect();
                ui.ctx().copy_text(text.join("\n"));
            }
            if self.first > 0 {
                let what = count_noun(usize::try_from(self.first).unwrap_or(usize::MAX), "earlier line");
                muted_ui(ui, cx.view.theme, format!("{what} discarded"));
            }
        });
        if self.lines.is_empty() {
            muted_ui(ui, cx.view.theme, "No output yet.");
            return;
        }
        let height = (ui.clip_rect().bottom() - ui.cursor().top() - 8.0).max(ROW_HEIGHT * 8.0);
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.spacing_mut().interact_size.y = ROW_HEIGHT;
        egui::ScrollArea::both()
            .id_salt("log")
            .max_height(height)
            .auto_shrink([false, false])
            .stick_to_bottom(self.follows.0)
            .show_rows(ui, ROW_HEIGHT, self.lines.len(), |ui, range| {
                for text in self.lines.range(range) {
                    ui.horizontal(|ui| {
                        ui.set_height(ROW_HEIGHT);
                        let text = RichText::new(line(text))
                            .text_style(TextStyle::Monospace)
                            .color(cx.view.theme.text);
                        ui.add(Label::new(text).selectable(true).extend());
                    });
                }
            });
    }

    /// Requests the next lines, with a pause after an empty answer.
    fn request(&mut self, ui: &Ui, server: &ServerBrief, cx: &ManagedServersContext<'_>) {
        let purpose = ServerRequestPurpose::Log(server.id.clone());
        if cx.is_open(&purpose) {
            return;
        }
        let now = ui.input(|input| input.time);
        if std::mem::take(&mut self.was_empty) {
            self.retry_at = now + POLL_PAUSE_SECONDS;
        }
        if now < self.retry_at {
            ui.ctx().request_repaint_after(Duration::from_secs_f64(self.retry_at - now));
            return;
        }
        let (id, read) = (server.id.clone(), ReadServerLog { server: server.id.clone(), from: self.end() });
        cx.send(read, purpose, move |part| ManagedServerResponse::Log(id.clone(), part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(numbers: std::ops::Range<u64>) -> ServerLogChunk {
        let lines = numbers.clone().map(|number| number.to_string()).collect();
        ServerLogChunk { first: numbers.start, lines, dropped: 0 }
    }

    #[test]
    fn lines_are_shown_once_and_a_gap_begins_anew() {
        let id = ServerId("files".to_owned());
        let mut log = ServerLogTab::for_server(&id);
        log.receive(&id, part(0..3));
        log.receive(&id, part(2..5));
        assert_eq!(log.lines, ["0", "1", "2", "3", "4"]);
        log.receive(&id, part(9..11));
        assert_eq!((log.first, log.lines.len(), log.end()), (9, 2, 11));
        log.receive(&ServerId("other".to_owned()), part(11..20));
        assert_eq!(log.end(), 11, "of another server");
        log.receive(&id, part(11..MAX_LINES as u64 + 20));
        assert_eq!(log.lines.len(), MAX_LINES);
        log.receive(&id, part(2..2));
        assert_eq!(log.end(), 0, "it was begun anew, and is read from the start");
    }
}
