//! Toasts at the bottom centre, and the banner above the canvas with held boards and workspace notices.

use crate::{
    panel_id::PanelId,
    view::{ActionQueue, FrameView, WindowAction},
    widgets::{close_button_ui, muted_ui, paint_severity, severity_mark_ui},
};
use canvas::theme::WorkbenchTheme;
use egui::{
    Align2, Color32, Context, Frame, Id, Margin, Order, Rangef, Rect, RichText, Sense, Ui, Vec2, vec2,
};
use shared_protocol::{
    Refusal, Revision,
    messages::{ConflictResolution, HeldReason, ProblemSeverity},
    requests::ResolveBoard,
};
use std::time::Duration;

/// Seconds.
const TOAST_SECONDS: f64 = 6.0;
/// Seconds that a toast with a button stays: long enough to read it, decide and reach the button.
const ACTION_TOAST_SECONDS: f64 = 20.0;
/// The maximum number of toasts; the oldest is removed first.
const MAX_TOASTS: usize = 4;
/// The gap between toasts, and between toasts and the area they keep clear of.
const TOAST_GAP: f32 = 8.0;
const MAX_TOAST_WIDTH: f32 = 486.0;
const TOAST_MARGIN: Margin = Margin::symmetric(12, 8);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToastTone {
    Good,
    Bad,
}

#[derive(Debug)]
struct Toast {
    number: u64,
    tone: ToastTone,
    message: String,
    details: Vec<String>,
    offer: Option<(&'static str, WindowAction)>,
    /// The operation that the message reports.
    about: Option<Revision>,
    /// Seconds left; paused while the pointer is over the toast.
    left: f64,
}

#[derive(Debug, Default)]
pub(crate) struct Toasts {
    toasts: Vec<Toast>,
    next: u64,
}

impl Toasts {
    pub(crate) fn show(&mut self, tone: ToastTone, message: impl Into<String>, more: Vec<String>) {
        self.show_with_actions(tone, message, more, None);
    }

    /// Shows a toast with an optional button.
    pub(crate) fn show_with_actions(
        &mut self,
        tone: ToastTone,
        message: impl Into<String>,
        more: Vec<String>,
        offer: Option<(&'static str, WindowAction)>,
    ) {
        let message = message.into();
        // A repeated message replaces the earlier toast.
        self.toasts.retain(|notice| notice.message != message);
        let left = if offer.is_some() { ACTION_TOAST_SECONDS } else { TOAST_SECONDS };
        let about = match &offer {
            Some((_, WindowAction::TakeBack(revision))) => Some(*revision),
            _ => None,
        };
        self.toasts.push(Toast { number: self.next, tone, message, details: more, offer, about, left });
        self.next += 1;
        let surplus = self.toasts.len().saturating_sub(MAX_TOASTS);
        self.toasts.drain(..surplus);
    }

    /// Removes all toasts, because another workspace was opened.
    pub(crate) fn clear(&mut self) {
        self.toasts.clear();
    }

    /// Removes undo buttons for operations that are no longer the newest, because undo would affect another one.
    pub(crate) fn withdraw_undo(&mut self, newest: Revision) {
        for notice in &mut self.toasts {
            let is_late = |(_, action): &mut (_, WindowAction)| matches!(action, WindowAction::TakeBack(revision) if *revision < newest);
            if notice.offer.take_if(is_late).is_some() {
                notice.left = notice.left.min(TOAST_SECONDS);
            }
        }
    }

    /// Removes toasts about an operation that was undone, because they are no longer true.
    pub(crate) fn dismiss_about(&mut self, undone: Revision) {
        self.toasts.retain(|notice| notice.about != Some(undone));
    }

    pub(crate) fn refuse(&mut self, refusal: &Refusal) {
        self.show(ToastTone::Bad, capitalised(&refusal.message), advice(refusal));
    }

    pub(crate) fn refuse_if(&mut self, refusal: Option<Refusal>) {
        if let Some(refusal) = refusal {
            self.refuse(&refusal);
        }
    }

    pub(crate) fn offer(&mut self, refusal: &Refusal, text: &'static str, action: WindowAction) {
        let (message, offer) = (capitalised(&refusal.message), Some((text, action)));
        self.show_with_actions(ToastTone::Bad, message, advice(refusal), offer);
    }

    pub(crate) fn show_ui(
        &mut self,
        context: &Context,
        theme: &WorkbenchTheme,
        bottom: f32,
        keep_clear: Option<Rect>,
        actions: &ActionQueue,
    ) {
        let passed = f64::from(context.input(|input| input.stable_dt)).min(0.5);
        let mut above = bottom;
        let room = context.content_rect();
        if let Some(card) = keep_clear
            && card
                .expand(TOAST_GAP)
                .x_range()
                .intersects(Rangef::point(room.center().x).expand(MAX_TOAST_WIDTH / 2.0))
        {
            above = above.max(room.bottom() - card.top() + TOAST_GAP);
        }
        let mut still_shown = Vec::new();
        // The newest toast is at the bottom.
        for mut notice in std::mem::take(&mut self.toasts).into_iter().rev() {
            let area = egui::Area::new(Id::unique(("notice", notice.number)))
                .order(Order::Foreground)
                .anchor(Align2::CENTER_BOTTOM, vec2(0.0, -above))
                .show(context, |ui| notice_ui(ui, theme, &notice, actions));
            above += area.response.rect.height() + TOAST_GAP;
            if !area.response.contains_pointer() {
                notice.left -= passed;
            }
            if !area.inner && notice.left > 0.0 {
                context.request_repaint_after(Duration::from_millis(250));
                still_shown.push(notice);
            }
        }
        still_shown.reverse();
        self.toasts = still_shown;
    }
}

/// Returns `true` when the toast was dismissed.
fn notice_ui(ui: &mut Ui, theme: &WorkbenchTheme, notice: &Toast, actions: &ActionQueue) -> bool {
    let edge = match notice.tone {
        ToastTone::Good => theme.success,
        ToastTone::Bad => theme.danger,
    };
    Frame::popup(ui.style())
        .inner_margin(TOAST_MARGIN)
        .stroke(egui::Stroke::new(1.0, edge))
        .show(ui, |ui| {
            ui.set_max_width(MAX_TOAST_WIDTH - 2.0 * f32::from(TOAST_MARGIN.left) - 2.0);
            ui.horizontal_top(|ui| {
                let (mark, _) = ui.allocate_exact_size(Vec2::splat(18.0), Sense::hover());
                match notice.tone {
                    ToastTone::Bad => {
                        paint_severity(ui.painter(), mark.center(), theme, ProblemSeverity::Error)
                    }
                    ToastTone::Good => paint_tick(ui, mark, theme),
                }
                let mut done = false;
                ui.vertical(|ui| {
                    ui.set_max_width(390.0);
                    message_ui(ui, &notice.message, theme.text);
                    for line in &notice.details {
                        muted_ui(ui, theme, line.as_str());
                    }
                    if let Some((text, action)) = &notice.offer
                        && ui.button(*text).clicked()
                    {
                        actions.push(action.clone());
                        done = true;
                    }
                });
                close_button_ui(ui, theme, "Dismiss").clicked() || done
            })
            .inner
        })
        .inner
}

/// Shows a message. Lines after the first quote a file and are monospaced.
pub(crate) fn message_ui(ui: &mut Ui, message: &str, color: Color32) {
    let (first, quoted) = message.split_once('\n').unwrap_or((message, ""));
    ui.label(RichText::new(first).color(color));
    if !quoted.is_empty() {
        ui.label(RichText::new(quoted.trim_end()).monospace().color(color));
    }
}

const MAX_FAILED_OVERRIDES: usize = 4;

fn advice(refusal: &Refusal) -> Vec<String> {
    let mut advice = refusal.hints.clone();
    if !refusal.suggestions.is_empty() {
        advice.push(format!("Did you mean {}?", refusal.suggestions.join(", ")));
    }
    // The override lists show all of them.
    let failed = refusal.failed.iter().take(MAX_FAILED_OVERRIDES);
    advice.extend(failed.map(|failed| format!("{}: {}", failed.address, failed.message)));
    if let Some(more) = refusal.failed.len().checked_sub(MAX_FAILED_OVERRIDES + 1) {
        advice.push(format!("… and {} more", more + 1));
    }
    advice
}

fn paint_tick(ui: &Ui, rect: Rect, theme: &WorkbenchTheme) {
    let c = rect.center();
    let points = vec![c + vec2(-5.0, 0.0), c + vec2(-1.5, 3.5), c + vec2(5.0, -4.0)];
    ui.painter().add(egui::Shape::line(points, egui::Stroke::new(2.0, theme.success)));
}

/// Capitalises the first letter, unless the text begins with a file name or a path.
pub(crate) fn capitalised(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.trim_end_matches(['.', ':', ',']).contains(['.', '/', '_']) {
        return text.to_owned();
    }
    shared_protocol::text::capitalize(text)
}

/// The banner: held boards, workspace notices and module problems.
pub(crate) fn banner_ui(ui: &mut Ui, view: &FrameView<'_>) {
    ui.spacing_mut().item_spacing.y = 1.0;
    for held in &view.status.held {
        strip_ui(ui, view.theme, &held.name, |ui| {
            let text = format!("{} · {}", held.name, held.message);
            let (mine, theirs) = match held.why {
                HeldReason::Conflict => ("Keep mine", "Take theirs"),
                HeldReason::Damaged => ("Keep mine", "Reload file"),
            };
            health_ui(ui, view, &text, |ui| {
                for (text, keep) in [(theirs, ConflictResolution::Theirs), (mine, ConflictResolution::Mine)] {
                    let button = ui.button(text).accessible_name(format!("{text} · {}", held.name));
                    if button.clicked() {
                        view.act(WindowAction::request(ResolveBoard { board: held.board, keep }));
                    }
                }
            });
        });
    }
    for notice in &view.status.notices {
        strip_ui(ui, view.theme, &notice.message, |ui| {
            health_ui(ui, view, &notice.message, |ui| {
                let Some(file) = &notice.file else { return };
                let copy = ui.button("Copy path").accessible_name(format!("Copy path of {file}"));
                if copy
                    .on_hover_text("Copies the path. Fix the file in an editor; it reloads automatically")
                    .clicked()
                {
                    ui.ctx().copy_text(format!("{}/{file}", view.root));
                }
            });
        });
    }
    let modules = view.snapshot.registry().problems();
    if let Some(first) = modules.first() {
        let text = match modules.len() {
            1 => format!("{} in {}: {}", first.entry, first.origin, first.message),
            many => format!("{many} module problems; the first is {} in {}", first.entry, first.origin),
        };
        strip_ui(ui, view.theme, "modules", |ui| {
            health_ui(ui, view, &text, |ui| {
                if ui.button("Show in Problems").clicked() {
                    view.act(WindowAction::ShowPanel(PanelId::Problems));
                }
            });
        });
    }
}

/// A warning with its fix at the end of the row.
fn health_ui(ui: &mut Ui, view: &FrameView<'_>, text: &str, fix: impl FnOnce(&mut Ui)) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        fix(ui);
        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
            severity_mark_ui(ui, view.theme, Vec2::splat(14.0), ProblemSeverity::Warning);
            ui.add(egui::Label::new(text).truncate()).on_hover_text(text);
        });
    });
}

fn strip_ui(ui: &mut Ui, theme: &WorkbenchTheme, salt: &str, content: impl FnOnce(&mut Ui)) {
    ui.push_id(("banner", salt), |ui| {
        Frame::new().fill(theme.hover).inner_margin(Margin::symmetric(12, 5)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.set_min_height(26.0);
                content(ui);
            });
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_keep_their_letters() {
        assert_eq!(capitalised("broken.tf: HCL parse error"), "broken.tf: HCL parse error");
        assert_eq!(capitalised("/home/ada is already a workspace"), "/home/ada is already a workspace");
        assert_eq!(capitalised("nothing to undo."), "Nothing to undo.");
        assert_eq!(capitalised("nothing."), "Nothing.");
    }
}
