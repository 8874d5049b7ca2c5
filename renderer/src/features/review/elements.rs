//! The elements of a proposal with their ticks, one row each. Layout changes share one row; the focused element opens
//! below its row. Rows out of view are not drawn.

use super::{ProposalReview, ReviewInput, header::sign_ui, opened::ProposalPresentation, words};
use crate::{
    features::review::{ReviewContext, ReviewMessage},
    view::FrameView,
    widgets::{body_font, focus_ring, muted_ui, paint_disclosure, paint_line, row_background, small_font},
};
use authority::Snapshot;
use canvas::{ProposedChangeSign, paint_sign};
use egui::{Align2, Galley, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use shared_protocol::text::count_noun;
use shared_protocol::{
    NodeId, ProposalSubject, Revision,
    proposal::{ElementChangeKind, Risk},
    review::ProposedElement,
};
use std::{collections::BTreeSet, sync::Arc};

/// The minimum height of a row. Text of several lines makes it higher.
const ROW: f32 = 28.0;
/// The space to keep in view below the focused row.
const SEEN_BELOW: f32 = 120.0;
/// The width of tick and sign, left of the text.
const MARKS: f32 = 47.0;
const ONE_BY_ONE: &str = "Removals must be confirmed one by one.";
/// The maximum number of removals in the header of the panel.
const MAX_REMOVALS: usize = 3;

/// The height of each row by its index in the proposal, for one width and one revision.
#[derive(Debug, Default)]
pub(super) struct ElementRowHeights {
    subject: Option<(f32, f32, Revision)>,
    heights: Vec<f32>,
}

struct ElementRowText {
    text: Arc<Galley>,
    risks: Option<(String, Arc<Galley>)>,
}

impl ElementRowText {
    fn height(&self) -> f32 {
        let risks = self.risks.as_ref().map_or(0.0, |(_, galley)| galley.size().y + 2.0);
        (self.text.size().y + risks + 10.0).max(ROW).ceil()
    }
}

enum ElementClick {
    LookAt(ProposalSubject),
    Tick(ProposalSubject),
}

impl ProposalReview {
    pub(super) fn elements_ui(&mut self, ui: &mut Ui, cx: &ReviewContext<'_>, typed: &mut ReviewInput) {
        ui.add_space(6.0);
        ui.separator();
        self.top_ui(ui, cx.view);
        self.measure(ui, cx.view);
        let listed: Vec<ProposalSubject> =
            self.listed_elements().map(|element| element.subject.clone()).collect();
        self.rows_ui(ui, cx, &listed, typed);
        let placed: Vec<ProposalSubject> =
            self.layout_changes().map(|element| element.subject.clone()).collect();
        if !placed.is_empty() && self.placed_ui(ui, cx.view, placed.len(), typed) {
            self.rows_ui(ui, cx, &placed, typed);
        }
    }

    fn measure(&mut self, ui: &Ui, view: &FrameView<'_>) {
        let of = (ui.available_width(), ui.ctx().pixels_per_point(), view.snapshot.revision());
        if self.rows.subject == Some(of) {
            return;
        }
        let height = |element| self.row_text(ui, view, element, of.0).height();
        let heights = self.proposal().elements.iter().map(height).collect();
        self.rows = ElementRowHeights { subject: Some(of), heights };
    }

    fn row_height(&self, subject: &ProposalSubject) -> f32 {
        self.place(subject).and_then(|place| self.rows.heights.get(place)).copied().unwrap_or(ROW)
    }

    fn row_text(
        &self,
        ui: &Ui,
        view: &FrameView<'_>,
        element: &ProposedElement,
        width: f32,
    ) -> ElementRowText {
        let width = (width - MARKS - 4.0).max(40.0);
        let layout = |text: &str, font, colour| ui.painter().layout(text.to_owned(), font, colour, width);
        let text = layout(&element.text, body_font(ui), view.theme.text);
        let risks = element.risks.iter().filter(|risk| **risk < Risk::Wide);
        let meaning = || {
            self.depends_on_text(view.snapshot, element).or_else(|| self.dependents(view.snapshot, element))
        };
        let risks = risks.map(|risk| {
            let meaning = if *risk == Risk::Destructive { meaning() } else { None };
            meaning.map_or_else(|| risk.label().to_owned(), |meaning| format!("{}: {meaning}", risk.label()))
        });
        let risks = risks.collect::<Vec<_>>().join("; ");
        let colour = if element.destructive { view.theme.danger } else { view.theme.warning };
        let galley = (!risks.is_empty()).then(|| layout(&risks, small_font(ui), colour));
        ElementRowText { text, risks: galley.map(|galley| (risks, galley)) }
    }

    /// Names the removal that causes a side effect: `goes with database`.
    fn depends_on_text(&self, snapshot: &Snapshot, element: &ProposedElement) -> Option<String> {
        let cause = element.effect_of.iter().find_map(|cause| match cause {
            ProposalSubject::Node(id) => snapshot.node(*id),
            _ => None,
        })?;
        Some(format!("goes with {}", words::line(cause.name.as_str())))
    }

    /// Names the remaining nodes that depend on a removed node: `report and web depend on it`.
    fn dependents(&self, snapshot: &Snapshot, element: &ProposedElement) -> Option<String> {
        let ProposalSubject::Node(id) = element.subject else { return None };
        if element.kind != ElementChangeKind::Removed || snapshot.node(id).is_none() {
            return None;
        }
        let goes = |id: NodeId| {
            self.element(&ProposalSubject::Node(id))
                .is_some_and(|element| element.kind == ElementChangeKind::Removed)
        };
        let referrers: BTreeSet<NodeId> =
            snapshot.referrers(id).filter(|referrer| *referrer != id && !goes(*referrer)).collect();
        let names: Vec<String> = referrers
            .into_iter()
            .filter_map(|referrer| snapshot.node(referrer))
            .map(|node| words::line(node.name.as_str()))
            .collect();
        Some(match names.len() {
            0 => "nothing else depends on it".to_owned(),
            1 => format!("{} depends on it", names[0]),
            _ => format!("{} depend on it", words::join_names(&names)),
        })
    }

    /// The requested removals, each with the nodes that depend on it.
    pub(super) fn removals(&self, snapshot: &Snapshot) -> Vec<String> {
        let asked = self.listed_elements().filter(|element| element.effect_of.is_empty());
        let mut removals: Vec<String> = asked
            .filter_map(|element| {
                let dependents = self.dependents(snapshot, element)?;
                Some(format!("{}; {dependents}", element.text))
            })
            .collect();
        let more = removals.len().saturating_sub(MAX_REMOVALS);
        removals.truncate(MAX_REMOVALS);
        if more > 0 {
            removals.push(format!("and {}", count_noun(more, "more removal")));
        }
        removals
    }

    fn top_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let (chosen, all) = (self.selected_subjects().len(), self.proposal().elements.len());
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
                let all = ui.add(small("All")).accessible_name("Tick all except removals");
                if all.on_hover_text(format!("Ticks all but removals. {ONE_BY_ONE}")).clicked() {
                    self.tick_all(true);
                }
            });
        });
        if self.proposal().elements.iter().any(|element| element.destructive) {
            muted_ui(ui, view.theme, ONE_BY_ONE);
        }
    }

    /// Ticks have no effect when nothing can be decided.
    pub(super) fn can_tick(&self) -> bool {
        self.proposal().brief.needs_decision() && self.newer_version().is_none()
    }

    fn rows_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ReviewContext<'_>,
        subjects: &[ProposalSubject],
        typed: &mut ReviewInput,
    ) {
        ui.spacing_mut().item_spacing.y = 0.0;
        let before = self.focus.clone();
        let focused = before.as_ref().and_then(|focus| subjects.iter().position(|other| other == focus));
        let split = focused.map_or(subjects.len(), |place| place + 1);
        let mut asked = self.part_ui(ui, cx.view, &subjects[..split]);
        if let Some(place) = focused {
            let subject = &subjects[place];
            let top = ui.cursor().top() - self.row_height(subject);
            stable_ui(ui, ("details", subject), |ui| {
                ui.spacing_mut().item_spacing.y = 4.0;
                self.details_ui(ui, cx, subject, typed);
            });
            if std::mem::take(&mut self.go_to_focus) {
                let bottom = ui.cursor().top().min(top + self.row_height(subject) + SEEN_BELOW);
                let left = ui.cursor().left();
                ui.scroll_to_rect(Rect::from_min_max(pos2(left, top), pos2(left + 1.0, bottom)), None);
            }
            asked = asked.or(self.part_ui(ui, cx.view, &subjects[split..]));
        }
        match asked {
            Some(ElementClick::LookAt(subject)) => {
                let again = self.focus.as_ref() == Some(&subject);
                self.focus_subject((!again).then(|| subject.clone()));
                if !again && self.look != ProposalPresentation::List {
                    cx.send(ReviewMessage::Jump(subject));
                }
            }
            Some(ElementClick::Tick(subject)) => {
                let was_open = self.focus.as_ref() == Some(&subject);
                self.tick(&subject);
                // The row is in view already and stays under the pointer.
                self.go_to_focus &= !was_open;
            }
            None => {}
        }
        if self.focus != before {
            typed.name.clear();
            typed.comment.clear();
        }
    }

    /// Draws only rows in view or near it.
    fn part_ui(
        &self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        subjects: &[ProposalSubject],
    ) -> Option<ElementClick> {
        let clip = ui.clip_rect();
        let clip = clip.expand2(vec2(0.0, clip.height()));
        let (mut asked, mut space) = (None, 0.0);
        for subject in subjects {
            let Some(element) = self.element(subject) else { continue };
            let (top, height) = (ui.cursor().top() + space, self.row_height(subject));
            if top > clip.bottom() || top + height < clip.top() {
                space += height;
                continue;
            }
            ui.add_space(space);
            space = 0.0;
            asked = stable_ui(ui, ("row", subject), |ui| self.row_ui(ui, view, element, height)).or(asked);
        }
        ui.add_space(space);
        asked
    }

    fn row_ui(
        &self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        element: &ProposedElement,
        height: f32,
    ) -> Option<ElementClick> {
        let theme = view.theme;
        let ElementRowText { text, risks } = self.row_text(ui, view, element, ui.available_width());
        let (rect, row) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
        let focused = self.focus.as_ref() == Some(&element.subject);
        row.widget_info(|| WidgetInfo::selected(Role::Button, true, focused, element.text.as_str()));
        row_background(ui, theme, rect, &row, focused);
        let is_chosen = self.is_selected(&element.subject);
        let mut ticked = is_chosen;
        let box_room = Rect::from_min_size(rect.min + vec2(2.0, 0.0), vec2(22.0, ROW));
        let mut child = ui.new_child(
            egui::UiBuilder::new()
                .max_rect(box_room)
                .layout(egui::Layout::left_to_right(egui::Align::Center)),
        );
        let tick = child.add_enabled(self.can_tick(), egui::Checkbox::without_text(&mut ticked));
        let tick = tick.accessible_name(format!("Tick {}", element.text));
        let sign = pos2(box_room.right() + 10.0, box_room.center().y);
        paint_sign(ui.painter(), theme, sign, 6.5, ProposedChangeSign::from_kind(element.kind));
        let at = pos2(rect.left() + MARKS, rect.top() + ((ROW - body_font(ui).size) / 2.0 - 3.0).max(2.0));
        let below = at + vec2(0.0, text.size().y + 2.0);
        ui.painter().galley(at, text, theme.text);
        if let Some((words, galley)) = risks {
            let room = Rect::from_min_size(below, galley.size());
            let label = ui.interact(room, ui.scope_id().with("risks"), Sense::hover());
            label.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
            ui.painter().galley(below, galley, theme.text);
        }
        // A long press on the tick of a removal is not a click.
        let is_held = element.destructive && !is_chosen && !focused && tick.is_pointer_button_down_on();
        if tick.changed() || is_held {
            return Some(ElementClick::Tick(element.subject.clone()));
        }
        row.clicked().then(|| ElementClick::LookAt(element.subject.clone()))
    }

    /// One row with one tick for all layout changes. Returns whether it is unfolded.
    fn placed_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        count: usize,
        typed: &mut ReviewInput,
    ) -> bool {
        let theme = view.theme;
        let chosen = self.layout_changes().filter(|element| self.is_selected(&element.subject)).count();
        let focused = self.focused().is_some_and(|element| element.kind == ElementChangeKind::Placed);
        let mut open = typed.shows.contains("places") || focused;
        ui.horizontal(|ui| {
            ui.set_min_height(ROW);
            ui.add_space(2.0);
            let mut ticked = chosen == count;
            let text = format!("moves or resizes {}", count_noun(count, "element"));
            let boxed = egui::Checkbox::without_text(&mut ticked).indeterminate(chosen > 0 && chosen < count);
            let tick = ui.add_enabled(self.can_tick(), boxed).accessible_name(format!("Tick {text}"));
            if tick.changed() {
                self.tick_placed(ticked);
            }
            sign_ui(ui, theme, ProposedChangeSign::Moved, 6.5);
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
                    self.focus_subject(None);
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

/// Draws with an id that does not depend on the rows before it, so that the focused widget keeps the keyboard while
/// the panel scrolls.
pub(super) fn stable_ui<R>(
    ui: &mut Ui,
    key: impl std::hash::Hash + std::fmt::Debug,
    content: impl FnOnce(&mut Ui) -> R,
) -> R {
    let id = egui::Id::unique(("proposal panel", key));
    ui.scope_builder(egui::UiBuilder::new().scope_id(id), content).inner
}
