//! The audit panel: events of the review queue, newest first, and the result of verifying the log.
//!
//! Main reads and verifies the log; this panel cannot change it.

mod words;

use crate::{
    view::{ActionQueue, FrameView, PickedPathPurpose, WindowAction},
    widgets::{
        body_font, empty_state_ui, focus_ring, list_rows_ui, muted_ui, paint_line, paint_severity,
        search_field_ui, small_font,
    },
    wording::{ago, unix_millis},
};
use canvas::theme::WorkbenchTheme;
use egui::{Align2, ComboBox, CornerRadius, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use shared_protocol::{
    Refusal, messages::ProblemSeverity, requests::ReadAuditPage, review::AuditView, text::count_noun,
};
use words::{AuditFilter, AuditRow};

/// Lines per request.
const PAGE_LINES: u32 = 200;
const MAX_LINES: usize = 5_000;
const ROW_HEIGHT: f32 = 40.0;
/// Below this width the search field is above the other controls.
const NARROW_WIDTH: f32 = 420.0;

#[derive(Default)]
pub(crate) struct AuditPanel {
    /// Newest first.
    lines: Vec<AuditRow>,
    /// The total number of lines and the first broken one. `None` until main has answered.
    checked: Option<(u64, Option<(u64, String)>)>,
    /// The log may have new lines.
    stale: bool,
    requested: Option<AuditPageRequest>,
    query: String,
    kind: AuditFilter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AuditPageRequest {
    Newest,
    Older,
}

impl AuditPanel {
    pub(crate) fn mark_stale(&mut self) {
        self.stale = true;
    }

    pub(crate) fn reset(&mut self) {
        *self = Self { stale: true, ..Self::default() };
    }

    /// Takes a requested page. Returns the refusal of a request that failed, which can be sent again.
    pub(crate) fn receive(&mut self, result: Result<AuditView, Refusal>) -> Option<Refusal> {
        let requested = self.requested.take();
        let view = match result {
            Ok(view) => view,
            Err(refusal) => return Some(refusal),
        };
        let told: Vec<AuditRow> = view.lines.iter().map(AuditRow::from_line).collect();
        match requested {
            Some(AuditPageRequest::Older) => {
                let end = self.lines.last().map_or(u64::MAX, |last| last.number);
                self.lines.extend(told.into_iter().filter(|line| line.number < end));
            }
            // Older lines are kept unless there is a gap.
            _ => {
                let before = std::mem::replace(&mut self.lines, told);
                if let Some(last) = self.lines.last().map(|last| last.number) {
                    let older = before.into_iter().filter(|line| line.number < last);
                    let older: Vec<AuditRow> = older.collect();
                    if older.first().is_some_and(|first| first.number + 1 == last) {
                        self.lines.extend(older);
                    }
                }
            }
        }
        self.lines.truncate(MAX_LINES);
        self.checked = Some((view.total, view.broken));
        None
    }

    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        if self.stale && self.requested.is_none() {
            self.stale = false;
            self.request(AuditPageRequest::Newest, view.actions);
        }
        match &self.checked {
            None => return drop(muted_ui(ui, view.theme, "Loading the audit log…")),
            Some((0, None)) => {
                return empty_state_ui(
                    ui,
                    view.theme,
                    "No audit entries yet",
                    "Proposals, decisions and tool calls appear here, each with its author and time.",
                );
            }
            Some(_) => {}
        }
        self.controls_ui(ui, view.theme, view.actions);
        self.verdict_ui(ui, view.theme);
        self.lines_ui(ui, view);
    }

    fn request(&mut self, page: AuditPageRequest, actions: &ActionQueue) {
        self.requested = Some(page);
        let before = self.lines.last().filter(|_| page == AuditPageRequest::Older).map(|last| last.number);
        let read = ReadAuditPage { before, limit: PAGE_LINES };
        actions.push(WindowAction::request_result(read, WindowAction::AuditRead));
    }

    fn controls_ui(&mut self, ui: &mut Ui, theme: &WorkbenchTheme, actions: &ActionQueue) {
        let is_narrow = ui.available_width() < NARROW_WIDTH;
        if is_narrow {
            search_field_ui(ui, theme, &mut self.query, "Filter", "Filter the audit");
        }
        ui.horizontal(|ui| {
            let kinds = ComboBox::from_id_salt("audit kinds").selected_text(self.kind.label()).width(120.0);
            let chosen = kinds.show_ui(ui, |ui| {
                for kind in AuditFilter::ALL {
                    ui.selectable_value(&mut self.kind, kind, kind.label());
                }
            });
            chosen.response.widget_info(|| {
                WidgetInfo::labeled(
                    Role::ComboBox,
                    true,
                    format!("Filter by kind: {}", self.kind.label().to_lowercase()),
                )
            });
            if ui
                .button("Export…")
                .on_hover_text("Saves all lines to a file that can be verified elsewhere")
                .clicked()
            {
                actions.push(WindowAction::AskPath(PickedPathPurpose::ExportAudit));
            }
            let again = ui.add_enabled(self.requested.is_none(), egui::Button::new("Verify again"));
            if again.on_hover_text("Reads the whole log and verifies its hash chain").clicked() {
                self.stale = true;
            }
            if !is_narrow {
                search_field_ui(ui, theme, &mut self.query, "Filter", "Filter the audit");
            }
        });
    }

    /// Shows whether the hash chain is intact.
    fn verdict_ui(&self, ui: &mut Ui, theme: &WorkbenchTheme) {
        let Some((total, broken)) = &self.checked else { return };
        ui.horizontal_wrapped(|ui| {
            let (mark, _) = ui.allocate_exact_size(vec2(14.0, 16.0), Sense::hover());
            let text = match broken {
                None => {
                    paint_tick(ui, mark, theme);
                    format!("Verified: {}, hash chain intact", count_noun(*total as usize, "line"))
                }
                Some((number, problem)) => {
                    paint_severity(ui.painter(), mark.center(), theme, ProblemSeverity::Error);
                    let next = "The log was edited or the disk failed. Compare it with a backup.";
                    format!("Line {number} {problem}. {next}")
                }
            };
            ui.add(egui::Label::new(egui::RichText::new(text).small()).wrap());
        });
    }

    fn lines_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let query = self.query.trim().to_lowercase();
        let fits = |line: &&AuditRow| self.kind.matches(line) && line.contains(&query);
        let shown: Vec<&AuditRow> = self.lines.iter().filter(fits).collect();
        let broken = self.checked.as_ref().and_then(|(_, broken)| broken.as_ref()).map(|(number, _)| *number);
        let first = self.lines.last().map_or(0, |last| last.number);
        let has_older = first > 1 && self.lines.len() < MAX_LINES;
        let is_filtered = shown.len() < self.lines.len();
        let now = unix_millis();
        // One extra row for the footer.
        let rows = shown.len() + 1;
        let mut older = false;
        list_rows_ui(ui, ROW_HEIGHT, rows, |ui, range| {
            for place in range {
                match shown.get(place) {
                    Some(line) => row_ui(ui, view, line, broken == Some(line.number), now),
                    None => {
                        older =
                            below_ui(ui, view.theme, shown.len(), self.lines.len(), is_filtered, has_older)
                    }
                }
            }
        });
        if older && self.requested.is_none() {
            self.request(AuditPageRequest::Older, view.actions);
        }
    }
}

/// The row below the lines. Returns whether older lines were requested.
fn below_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    shown: usize,
    read: usize,
    is_filtered: bool,
    has_older: bool,
) -> bool {
    ui.horizontal(|ui| {
        ui.set_height(ROW_HEIGHT);
        if is_filtered {
            muted_ui(ui, theme, format!("{shown} of the latest {}", count_noun(read, "line")));
        }
        has_older && ui.button("Load older lines").clicked()
    })
    .inner
}

fn row_ui(ui: &mut Ui, view: &FrameView<'_>, line: &AuditRow, is_broken: bool, now: u64) {
    let theme = view.theme;
    let sense = if line.proposal.is_some() { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), sense);
    if !ui.is_rect_visible(rect) {
        return;
    }
    let role = if line.proposal.is_some() { Role::Button } else { Role::ListItem };
    response.widget_info(|| {
        WidgetInfo::labeled(role, true, format!("Line {}: {}", line.number, line.event_text))
    });
    if response.sense.senses_click() && response.hovered() {
        ui.painter().rect_filled(rect, CornerRadius::same(4), theme.hover);
    }
    focus_ring(ui, theme, rect, &response);
    if response.clicked()
        && let Some(proposal) = line.proposal
    {
        view.act(WindowAction::OpenProposal(proposal));
    }
    let room = rect.shrink2(vec2(6.0, 3.0));
    let number = room.with_max_x(room.left() + 44.0);
    paint_line(ui, number, Align2::LEFT_CENTER, &line.number.to_string(), small_font(ui), theme.text_subtle);
    if is_broken {
        paint_severity(
            ui.painter(),
            pos2(number.right() - 8.0, rect.center().y),
            theme,
            ProblemSeverity::Error,
        );
    }
    let text = room.with_min_x(number.right() + 4.0);
    let (top, bottom) = (text.with_max_y(text.center().y), text.with_min_y(text.center().y));
    let age = line.time.map_or_else(String::new, |time| ago(now, time));
    let width = paint_line(ui, top, Align2::RIGHT_CENTER, &age, small_font(ui), theme.text_muted);
    let top = top.with_max_x(top.right() - width - 10.0);
    paint_line(ui, top, Align2::LEFT_CENTER, &line.event_text, body_font(ui), theme.text);
    paint_line(ui, bottom, Align2::LEFT_CENTER, &line.details, small_font(ui), theme.text_muted);
    let moment = line.time.map_or_else(String::new, words::format_time);
    response.on_hover_text([line.event_text.as_str(), &line.details, &moment].join("\n").trim().to_owned());
}

/// Draws a tick because the fonts lack the character.
fn paint_tick(ui: &Ui, rect: egui::Rect, theme: &WorkbenchTheme) {
    let (c, line) = (rect.center(), egui::Stroke::new(1.8, theme.success));
    ui.painter().line_segment([c + vec2(-4.5, 0.5), c + vec2(-1.5, 3.5)], line);
    ui.painter().line_segment([c + vec2(-1.5, 3.5), c + vec2(4.5, -3.5)], line);
}
