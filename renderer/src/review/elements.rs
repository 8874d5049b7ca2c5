//! The elements with their ticks: one line each, layout alone folded into one, the one that is looked at opened below its
//! line. Lines out of sight cost nothing.

use super::{Opened, Typed, header::sign_ui, opened::Look};
use crate::{
    panels::status_bar::counted,
    view::{Action, View},
    widgets::{body_font, focus_ring, muted_ui, paint_disclosure, paint_line, paint_severity, small_font},
};
use canvas::{Sign, paint_sign};
use egui::{Align2, CornerRadius, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use shared_protocol::{
    Subject,
    messages::Severity,
    proposal::{Kind, Risk},
    review::Element,
};

const ROW: f32 = 28.0;
/// Lines of room below the one that is looked at, for what is opened there.
const SEEN_BELOW: f32 = 7.0;
/// A line this wide has room for its risks in words.
const ROOMY: f32 = 300.0;

/// What a line asks for.
enum Asked {
    LookAt(Subject),
    Tick(Subject),
}

impl Opened {
    pub(super) fn elements_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        typed: &mut Typed,
        actions: &mut Vec<Action>,
    ) {
        ui.add_space(6.0);
        ui.separator();
        self.top_ui(ui, view);
        if let Some(note) = &self.note {
            let text = RichText::new(note).small().color(view.theme.text);
            ui.add(egui::Label::new(text).wrap());
        }
        let listed: Vec<Subject> = self.listed().map(|element| element.subject.clone()).collect();
        self.rows_ui(ui, view, &listed, typed, actions);
        let placed: Vec<Subject> = self.placed().map(|element| element.subject.clone()).collect();
        if !placed.is_empty() && self.placed_ui(ui, view, placed.len(), typed) {
            self.rows_ui(ui, view, &placed, typed, actions);
        }
    }

    fn top_ui(&mut self, ui: &mut Ui, view: &View<'_>) {
        let (chosen, all) = (self.chosen().len(), self.proposal().elements.len());
        ui.horizontal(|ui| {
            ui.label(RichText::new(format!("{chosen} of {all} ticked")).strong());
            if !self.can_tick() {
                return;
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let small = |text: &str| egui::Button::new(RichText::new(text).small());
                if ui.add(small("None")).accessible_name("Tick none").clicked() {
                    self.tick_all(false);
                }
                let all = ui.add(small("All")).accessible_name("Tick all that may be ticked");
                if all.on_hover_text("All but what takes something away").clicked() {
                    self.tick_all(true);
                }
            });
        });
        if self.proposal().elements.iter().any(|element| element.destructive) {
            muted_ui(ui, view.theme, "What takes something away is ticked one by one.");
        }
    }

    /// Ticks mean something only while something can be decided.
    pub(super) fn can_tick(&self) -> bool {
        self.proposal().brief.waits() && self.newer().is_none()
    }

    fn rows_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        subjects: &[Subject],
        typed: &mut Typed,
        actions: &mut Vec<Action>,
    ) {
        ui.spacing_mut().item_spacing.y = 0.0;
        let focused = self.focus.as_ref().and_then(|focus| subjects.iter().position(|other| other == focus));
        let split = focused.map_or(subjects.len(), |place| place + 1);
        let mut asked = self.part_ui(ui, view, &subjects[..split]);
        if let Some(place) = focused {
            ui.scope(|ui| {
                ui.spacing_mut().item_spacing.y = 4.0;
                self.details_ui(ui, view, &subjects[place], typed, actions);
            });
            asked = asked.or(self.part_ui(ui, view, &subjects[split..]));
        }
        match asked {
            Some(Asked::LookAt(subject)) => {
                let again = self.focus.as_ref() == Some(&subject);
                self.look_at((!again).then(|| subject.clone()));
                if !again && self.look != Look::List {
                    actions.push(Action::Jump(subject));
                }
                typed.name.clear();
                typed.comment.clear();
            }
            Some(Asked::Tick(subject)) => self.tick(&subject),
            None => {}
        }
    }

    /// Lines of the same height; only those in sight are drawn.
    fn part_ui(&mut self, ui: &mut Ui, view: &View<'_>, subjects: &[Subject]) -> Option<Asked> {
        let (top, clip) = (ui.cursor().top(), ui.clip_rect());
        let at = |y: f32| ((y - top) / ROW).floor().max(0.0) as usize;
        let first = at(clip.top()).min(subjects.len());
        let last =
            if clip.bottom() < top { first } else { (at(clip.bottom()) + 1).clamp(first, subjects.len()) };
        // The one that is looked at is the last of its part; it is drawn to be scrolled to.
        let wanted = self.go_to_focus && subjects.last() == self.focus.as_ref() && !subjects.is_empty();
        if wanted {
            let place = subjects.len() - 1;
            let row =
                Rect::from_min_size(pos2(clip.left(), top + place as f32 * ROW), vec2(1.0, ROW * SEEN_BELOW));
            ui.scroll_to_rect(row, None);
            self.go_to_focus = false;
        }
        ui.add_space(first as f32 * ROW);
        let mut asked = None;
        for subject in subjects.get(first..last).unwrap_or_default() {
            let Some(element) = self.element(subject) else { continue };
            asked = self.row_ui(ui, view, element).or(asked);
        }
        ui.add_space((subjects.len() - last) as f32 * ROW);
        asked
    }

    fn row_ui(&self, ui: &mut Ui, view: &View<'_>, element: &Element) -> Option<Asked> {
        let theme = view.theme;
        let (rect, row) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
        let focused = self.focus.as_ref() == Some(&element.subject);
        row.widget_info(|| WidgetInfo::selected(Role::Button, true, focused, element.text.as_str()));
        if focused {
            ui.painter().rect_filled(rect, CornerRadius::same(4), theme.selection);
        } else if row.hovered() {
            ui.painter().rect_filled(rect, CornerRadius::same(4), theme.hover);
        }
        focus_ring(ui, theme, rect, &row);
        let mut ticked = self.is_chosen(&element.subject);
        let box_room = Rect::from_min_size(rect.min + vec2(2.0, 0.0), vec2(22.0, ROW));
        let mut child = ui.new_child(
            egui::UiBuilder::new()
                .max_rect(box_room)
                .id_salt(&element.subject)
                .layout(egui::Layout::left_to_right(egui::Align::Center)),
        );
        let tick = child.add_enabled(self.can_tick(), egui::Checkbox::without_text(&mut ticked));
        let tick = tick.accessible_name(format!("Tick {}", element.text));
        let sign = pos2(box_room.right() + 10.0, rect.center().y);
        paint_sign(ui.painter(), theme, sign, 6.5, Sign::of(element.kind));
        let risks: Vec<&str> =
            element.risks.iter().filter(|risk| **risk < Risk::Wide).map(|risk| risk.word()).collect();
        let text = Rect::from_min_max(pos2(sign.x + 13.0, rect.top()), rect.max - vec2(4.0, 0.0));
        let colour = if element.destructive { theme.danger } else { theme.warning };
        let right = text.with_min_x(text.left() + text.width() * 0.4);
        let width = match (risks.is_empty(), text.width() < ROOMY) {
            (true, _) => 0.0,
            // No room for words: a sign, and the words when it is opened.
            (false, true) => {
                let severity = if element.destructive { Severity::Error } else { Severity::Warning };
                paint_severity(ui.painter(), pos2(text.right() - 8.0, text.center().y), theme, severity);
                20.0
            }
            (false, false) => {
                paint_line(ui, right, Align2::RIGHT_CENTER, &risks.join(", "), small_font(ui), colour) + 8.0
            }
        };
        let words = text.with_max_x(text.right() - width);
        paint_line(ui, words, Align2::LEFT_CENTER, &element.text, body_font(ui), theme.text);
        if tick.changed() {
            return Some(Asked::Tick(element.subject.clone()));
        }
        row.on_hover_text(&element.text).clicked().then(|| Asked::LookAt(element.subject.clone()))
    }

    /// Layout alone: one line with one tick. Gives back whether it is unfolded.
    fn placed_ui(&mut self, ui: &mut Ui, view: &View<'_>, count: usize, typed: &mut Typed) -> bool {
        let theme = view.theme;
        let chosen = self.placed().filter(|element| self.is_chosen(&element.subject)).count();
        let focused = self.focused().is_some_and(|element| element.kind == Kind::Placed);
        let mut open = typed.shows.contains("places") || focused;
        ui.horizontal(|ui| {
            ui.set_min_height(ROW);
            ui.add_space(2.0);
            let mut ticked = chosen == count;
            let text = format!("moves or resizes {}", counted(count, "element"));
            let boxed = egui::Checkbox::without_text(&mut ticked).indeterminate(chosen > 0 && chosen < count);
            let tick = ui.add_enabled(self.can_tick(), boxed).accessible_name(format!("Tick {text}"));
            if tick.changed() {
                self.tick_placed(ticked);
            }
            sign_ui(ui, theme, Sign::Moved, 6.5);
            let size = vec2(ui.available_width(), ROW);
            let (rect, fold) = ui.allocate_exact_size(size, Sense::click());
            fold.widget_info(|| WidgetInfo::selected(Role::DisclosureTriangle, true, open, text.as_str()));
            focus_ring(ui, theme, rect, &fold);
            paint_line(
                ui,
                rect.with_max_x(rect.right() - 20.0),
                Align2::LEFT_CENTER,
                &text,
                body_font(ui),
                theme.text_muted,
            );
            paint_disclosure(ui.painter(), rect.with_min_x(rect.right() - 18.0), open, theme.text_subtle);
            if fold.clicked() {
                open = !open;
                if !open && focused {
                    self.look_at(None);
                }
            }
        });
        if open {
            typed.shows.insert("places");
        } else {
            typed.shows.remove("places");
        }
        open
    }
}
